// SPDX-License-Identifier: Apache-2.0
// The views of the model: what each tab requests, and how it shows the result.
const panel = document.getElementById("panel");
const options = document.getElementById("options");
const work = document.getElementById("work");

/** The settings of all views; a link has them, too. */
const settings = { tab: "values", graph: "", real: "f32", seed: 1, engine: "compiled", target: "cpu", attributes: "", shapes: "", stage: "", changes: false };

const NUMBERS = [["f32"], ["f64"], ["f16"], ["bf16"]];
const TARGETS = [["cpu", "this processor"], ["aarch64", "AArch64"], ["riscv64", "RISC-V"], ["wasm32", "WebAssembly"], ["ptx", "PTX"], ["amdgcn", "AMD GPU"]];
const ENGINES = [["compiled"], ["reference", "evaluator"]];

/** The fields that a request has, and the function that shows its result. */
const views = {
  values: { fields: IS_STATIC ? ["real", "seed"] : ["real", "seed", "engine"], show: showValues },
  graph: { fields: [], show: showGraph },
  model: { fields: ["real"], show: (text) => showLocated(located(text)) },
  stages: { fields: ["real"], show: showStages, own: stageOptions },
  code: { fields: ["real", "target"], show: (text) => showLocated(locatedCode(text)) },
  stablehlo: { fields: ["real"], show: (text) => showLocated(located(text)) },
};

if (IS_STATIC) for (const name of ["stages", "code", "stablehlo"]) delete views[name];

// Requests.

/** Results by request, and the request that is shown or under way. */
const results = new Map();
const MAX_RESULTS = 24;
let shown;
let controller;
let delay;

function request() {
  const { tab } = settings;
  const body = { kind: tab, text: editor.state.doc.toString() };
  if (settings.graph !== "" && graphs().includes(settings.graph)) body.graph = settings.graph;
  for (const field of ["attributes", "shapes", ...views[tab].fields]) {
    if (field === "attributes" || field === "shapes") body[field] = settings[field].split(/\s+/).filter((word) => word !== "");
    else if (field === "seed") body.seed = Math.min(Math.max(0, Math.trunc(settings.seed) || 0), Number.MAX_SAFE_INTEGER);
    else body[field] = settings[field];
  }
  return body;
}

/** Shows the view of the current text and settings, after a pause in typing. */
function refresh(pause = 0) {
  clearTimeout(delay);
  delay = setTimeout(load, pause);
}

async function load() {
  const body = request();
  const key = JSON.stringify(body);
  if (key === shown) return;
  shown = key;
  controller?.abort();
  // The server has the last graph only.
  if (results.has(key) && body.kind !== "graph") return present(results.get(key));
  controller = new AbortController();
  setWork("working …", true);
  try {
    const result = await job(body, controller.signal);
    results.set(key, result);
    if (results.size > MAX_RESULTS) results.delete(results.keys().next().value);
    if (key === shown) present(result);
  } catch (error) {
    if (error instanceof Obsolete) return;
    if (key === shown) present({ status: "wrong", messages: error.message });
    shown = undefined;
  }
}

function setWork(text, busy = false) {
  work.textContent = text;
  panel.classList.toggle("stale", busy);
  panel.setAttribute("aria-busy", String(busy));
}

function present(answer) {
  setWork("");
  const view = views[settings.tab];
  panel.className = settings.tab;
  if (answer.status === "done") {
    panel.replaceChildren();
    view.show(answer.result);
    if (answer.messages) add(panel, "pre", answer.messages, "messages");
  } else {
    panel.replaceChildren();
    add(panel, "pre", answer.messages, "messages");
    setWork(answer.status === "stopped" ? "stopped" : "not available for this text");
  }
}

// The views.

function showValues(result) {
  // The server returns a text, because its numbers are not parsed twice.
  const { inputs, outputs, seconds } = typeof result === "string" ? JSON.parse(result) : result;
  add(panel, "h2", "Outputs");
  outputs.forEach((array) => showArray(panel, array));
  add(panel, "h2", "Inputs");
  if (inputs.length === 0) add(panel, "p", "none", "soft");
  inputs.forEach((array) => showArray(panel, array));
  setWork(`computed in ${duration(seconds)}, random inputs and weights`);
}

const duration = (seconds) => (seconds < 1e-3 ? `${(seconds * 1e6).toFixed(0)} µs` : seconds < 1 ? `${(seconds * 1e3).toFixed(1)} ms` : `${seconds.toFixed(1)} s`);

function showGraph(result) {
  const frame = add(panel, "iframe");
  frame.title = "Graph of the model";
  frame.setAttribute("sandbox", "allow-scripts");
  showPage(frame, result);
}

/** The texts of the last result: of the stages, and after each pass. */
let steps = { stages: [], passes: [] };

function showStages(result) {
  const named = ({ name, text }, number) => {
    const plain = name.replace(/^\d+-|\.\w+$/g, "");
    return { name: plain, text, number };
  };
  steps = { stages: result.stages.map(named), passes: result.passes.map((one, at) => ({ ...named(one, at), name: `${at}: ${named(one, at).name}` })) };
  showOptions();
  showStage();
}

/** The selected text and the one before it. A pass keeps its number when the text of the model changes. */
function selectedStage() {
  for (const list of [steps.stages, steps.passes]) {
    const at = list.findIndex(({ name }) => name === settings.stage);
    if (at >= 0) return [list[at], list[at - 1]];
  }
  return [steps.stages.find(({ name }) => name === "skript") ?? steps.stages[0], undefined];
}

function showStage() {
  const [step, previous] = selectedStage();
  if (!step) return;
  panel.replaceChildren();
  const changes = settings.changes && previous !== undefined;
  panel.classList.toggle("changes", changes);
  const stage = located(step.text);
  if (changes) {
    const before = located(previous.text);
    const found = difference(before.lines, stage.lines);
    const count = (kind) => found.filter(([one]) => one === kind).length;
    setWork(`${count("+")} lines added and ${count("-")} removed since ${previous.name}`);
    const changed = found.map(([kind, i, j]) => (kind === "-" ? [kind, before.lines[i], before.origins[i]] : [kind, stage.lines[j ?? i], stage.origins[j ?? i]]));
    showLines(panel, folded(changed));
  } else {
    setWork(`${stage.lines.length} lines`);
    showLines(panel, stage.lines.map((line, index) => ["=", line, stage.origins[index]]));
  }
}

/** Unchanged lines that are far from changed ones become one line. */
function folded(lines) {
  const near = new Set();
  lines.forEach(([kind], at) => { if (kind !== "=") for (let i = at - 3; i <= at + 3; i += 1) near.add(i); });
  const kept = [];
  let skipped = 0;
  lines.forEach((line, at) => {
    if (near.has(at)) {
      if (skipped > 0) kept.push(["…", `⋯ ${skipped} equal lines`, []]);
      skipped = 0;
      kept.push(line);
    } else skipped += 1;
  });
  if (skipped > 0) kept.push(["…", `⋯ ${skipped} equal lines`, []]);
  return kept;
}

/** A text whose locations are taken out of the lines: for each line, the lines of the playground's text it comes from. */
function located(text) {
  const aliases = new Map();
  const lines = [];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const alias = /^(#loc\d*) = (loc\(.*\))$/.exec(line);
    if (alias) aliases.set(alias[1], alias[2]);
    else lines.push(line);
  }
  const resolved = new Map();
  const origin = (location, depth = 0) => {
    if (resolved.has(location)) return resolved.get(location);
    const found = new Set();
    for (const [, line] of location.matchAll(/"playground\.sknd":(\d+):/g)) found.add(Number(line));
    if (depth < 8) for (const [alias] of location.matchAll(/#loc\d*/g)) origin(aliases.get(alias) ?? "", depth + 1).forEach((line) => found.add(line));
    resolved.set(location, [...found]);
    return resolved.get(location);
  };
  const parts = lines.map(withoutLocations);
  const origins = parts.map(([, last]) => origin(last));
  // The location of an operation with a region follows the region.
  const open = [];
  parts.forEach(([line], at) => {
    if (line.startsWith("}", line.search(/\S/))) {
      const start = open.pop();
      if (start !== undefined && origins[start].length === 0) origins[start] = origins[at];
    }
    if (line.endsWith("{")) open.push(at);
  });
  return { lines: parts.map(([line]) => line), origins };
}

/** A line without its locations, and the last one of them. */
function withoutLocations(line) {
  let [kept, last, at] = ["", "", 0];
  for (;;) {
    const start = line.indexOf(" loc(", at);
    if (start < 0) return [kept + line.slice(at), last];
    kept += line.slice(at, start);
    let depth = 0;
    let end = start + 4;
    do {
      if (line[end] === "(") depth += 1;
      if (line[end] === ")") depth -= 1;
      end += 1;
    } while (depth > 0 && end < line.length);
    last = line.slice(start + 1, end);
    at = end;
  }
}

/** Directives of line tables, and labels that only they use. */
const LINE_TABLES = /^\s*\.(file\s+\d|loc\s|cfi_)|^(\$L__|\.L)(tmp|func_begin)\d+:/;

/** Assembly or PTX without line tables and comments: for each line, the lines of the playground's text it comes from. */
function locatedCode(text) {
  const lines = [];
  const origins = [];
  let origin = [];
  let isHidden = false;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const section = /^\s*\.(?:section\s+"?([^\s",]+)|text\b|data\b|bss\b)/.exec(line);
    if (section) isHidden = section[1]?.startsWith(".debug_") ?? false;
    // What follows a function has no formula.
    if (section || /^\s*\.amdgpu_metadata|func_end\d+:/.test(line)) origin = [];
    // The comment states the line of the formula, then those of the invocations. Line 0 is unknown.
    if (/^\s*\.loc\s/.test(line)) origin = [...new Set([...line.matchAll(/playground\.sknd:([1-9]\d*)/g)].map(([, number]) => Number(number)))];
    const code = line.includes('"') ? line : line.replace(/\s*(#|\/\/|;)\s.*$/, "");
    if (isHidden || LINE_TABLES.test(line) || (code === "" && line !== "")) continue;
    lines.push(code);
    origins.push(/^\s+[^\s.]/.test(code) ? origin : []);
  }
  return { lines, origins };
}

function showLocated({ lines, origins }) {
  setWork(`${lines.length} lines`);
  showLines(panel, lines.map((line, at) => ["=", line, origins[at]]));
}

/** Shows lines with their kinds and origins. A line with an origin marks it in the editor. */
function showLines(parent, lines) {
  const box = add(parent, "pre", undefined, "lines");
  for (const [kind, text, origins] of lines) {
    const line = add(box, "span", `${text}\n`, { "+": "added", "-": "removed", "…": "skipped", "=": "same" }[kind]);
    if (origins.length > 0) {
      line.dataset.lines = origins.join(" ");
      line.classList.add("located");
    }
  }
}

const origins = (event) => event.target.closest?.("[data-lines]")?.dataset.lines.split(" ").map(Number) ?? [];
panel.addEventListener("pointerover", (event) => markLines(origins(event), false));
panel.addEventListener("pointerleave", () => markLines([], false));
panel.addEventListener("click", (event) => {
  const lines = origins(event);
  if (lines.length > 0) markLines(lines, true);
});
lineListeners.push((number) => {
  for (const line of panel.querySelectorAll(".located")) line.classList.toggle("current", line.dataset.lines.split(" ").includes(String(number)));
});

// The options above a view.

const graphs = () => [...editor.state.doc.toString().matchAll(/^\s*graph\s+(\w+)/gm)].map(([, name]) => name);

function showOptions() {
  const { id: focused, selectionStart: cursor } = document.activeElement ?? {};
  options.replaceChildren();
  const names = graphs();
  if (names.length > 1) choice("graph", "Graph", names.map((name) => [name]), names.includes(settings.graph) ? settings.graph : names[0]);
  const { fields, own } = views[settings.tab];
  own?.();
  if (fields.includes("engine")) choice("engine", "Engine", ENGINES);
  if (fields.includes("target")) choice("target", "Target", TARGETS);
  if (fields.includes("real")) choice("real", "Reals", NUMBERS);
  if (fields.includes("seed")) {
    const input = field("seed", "Seed", "number");
    input.min = 0;
    input.value = settings.seed;
  }
  const text = editor.state.doc.toString();
  const words = (id, label, pattern, placeholder, title) => {
    if (settings[id] === "" && !pattern.test(text)) return;
    const input = field(id, label, "text");
    Object.assign(input, { value: settings[id], placeholder, title });
  };
  words("attributes", "Attributes", /^graph\s[^{]*\{\s*@attrib\b/m, "n=8 k=[1,2]", "Values of the graph's attributes, as JSON without spaces");
  words("shapes", "Shapes", /\[[^\]]*\|\s*\d/, "x=4,3", "Shapes of inputs with dynamic dimensions");
  const control = focused ? document.getElementById(focused) : null;
  if (control && options.contains(control)) {
    control.focus();
    if (typeof cursor === "number") control.setSelectionRange(cursor, cursor);
  }
}

function labelled(text, control, id) {
  const label = add(options, "label", `${text} `);
  control.id = `option-${id}`;
  label.append(control);
}

function choice(id, text, items, value = settings[id]) {
  const select = document.createElement("select");
  for (const [name, title = name] of items) add(select, "option", title).value = name;
  select.value = value;
  select.onchange = () => { settings[id] = select.value; refresh(); };
  labelled(text, select, id);
  return select;
}

function field(id, text, type) {
  const input = document.createElement("input");
  input.type = type;
  input.oninput = () => { settings[id] = type === "number" ? Number(input.value) : input.value; refresh(300); };
  labelled(text, input, id);
  return input;
}

function stageOptions() {
  const [step] = selectedStage();
  if (!step) return;
  const select = document.createElement("select");
  for (const [list, title] of [[steps.stages, "Stages"], [steps.passes, "Passes that change the model"]]) {
    const group = add(select, "optgroup");
    group.label = title;
    for (const { name } of list) add(group, "option", name).value = name;
  }
  select.value = step.name;
  select.onchange = () => { settings.stage = select.value; showStage(); };
  labelled("After", select, "stage");
  for (const [offset, sign, title] of [[-1, "‹", "Previous step"], [1, "›", "Next step"]]) {
    const button = add(options, "button", sign);
    button.type = "button";
    button.title = title;
    button.setAttribute("aria-label", title);
    button.onclick = () => {
      const next = select.options[select.selectedIndex + offset];
      if (next) { select.value = next.value; select.onchange(); }
    };
  }
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = settings.changes;
  box.onchange = () => { settings.changes = box.checked; showStage(); };
  labelled("Changes", box, "changes");
}
