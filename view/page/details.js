// SPDX-License-Identifier: Apache-2.0
// The panel with the details of a box. All strings become text nodes, so that strings of models are never parsed as markup.
const details = document.getElementById("details");

function add(parent, name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind !== undefined) element.className = kind;
  parent.append(element);
  return element;
}

function heading(text) {
  add(details, "h3", text);
}

function table(rows) {
  const body = add(add(details, "table"), "tbody");
  for (const row of rows) {
    const line = add(body, "tr");
    for (const cell of row) add(line, "td", cell).title = cell;
  }
}

/** Shows the details of the box under the mouse, the selected box, or the model. */
function showDetails() {
  const box = byPath.get(hovered) ?? byPath.get(selected);
  details.replaceChildren();
  if (box) showBox(box); else showModel();
  details.classList.toggle("is-model", !box);
  details.scrollTop = 0;
}

function showModel() {
  add(details, "h2", picture.name);
  const elements = picture.variables.length;
  add(details, "p", `${picture.cost.replace(/\d+$/, (n) => count(Number(n)))} operations of reals in one call`, "soft");
  add(details, "p", `${elements} ${elements === 1 ? "variable" : "variables"}`, "soft");
  if (picture.profile) {
    const { total, elsewhere } = picture.profile;
    add(details, "p", `${duration(total)} for a call` + (elsewhere > 0 ? `, ${duration(elsewhere)} of it outside of the boxes` : ""), "soft");
  }
  add(details, "p", "Select a box to see its formula. Press ? for the keys.", "soft");
  showDifferences();
  if (entry.definition !== null) {
    heading("graph");
    showDefinition(picture.definitions[entry.definition]);
  }
}

/** The differences from the other model, if the page compares models. */
function showDifferences() {
  if (!picture.differences) return;
  heading("differences");
  for (const { change, item, name, details: parts } of picture.differences) {
    add(details, "p", `${change} ${item} ${name}`);
    table(parts.map(({ part, values }) => [part, values.map((value) => value ?? "none").join(" → ")]));
  }
}

function showBox(box) {
  const { node } = box;
  const instance = node.instance === null ? null : picture.instances[node.instance];
  add(details, "h2", node.title);
  if (node.label !== null) add(details, "p", node.label, "soft");
  if (node.note !== null) add(details, "p", node.note, "soft").title = "comment of the call";
  const where = add(details, "p", node.location, "soft");
  where.title = "location of the call";
  if (node.call !== "") source(node.call, -1);
  const time = picture.profile?.times[node.location];
  if (time) {
    heading("time");
    add(details, "p", `${duration(time.nanoseconds)}, ${percent(time.nanoseconds, picture.profile.total)}` + (time.boxes > 1 ? ` for ${time.boxes} boxes of this location` : ""));
    const bar = add(add(details, "div", undefined, "bar"), "i");
    bar.style.width = percent(time.nanoseconds, picture.profile.total).replace(" ", "");
    add(details, "p", time.operators.join("; "), "soft");
  }
  const rows = (tensors) => tensors.map((tensor) => {
    const constant = tensor.origin?.constant;
    return [tensor.name, tensor.type + (constant === undefined ? "" : ` = ${constant}`)];
  });
  if (node.inputs.length > 0) {
    heading("reads");
    table(rows(node.inputs));
  }
  if (node.outputs.length > 0) {
    heading(node.kind === "input" ? "tensor" : "computes");
    table(rows(node.outputs));
  }
  if (instance && instance.attributes.length > 0) {
    heading("attributes");
    table(instance.attributes);
  }
  if (instance && instance.flops > 0) {
    heading("operations of reals");
    const whole = picture.instances[picture.entry].flops;
    add(details, "p", `${count(instance.flops)}, ${percent(instance.flops, whole)}`);
  }
  if (instance && instance.definition !== null) {
    heading(instance.scope === null ? "formula" : "composition");
    showDefinition(picture.definitions[instance.definition]);
  }
  showVariables(box);
}

function showVariables(box) {
  const direct = box.node.inputs.map((tensor) => tensor.origin?.capture).filter((at) => at !== undefined);
  const positions = direct.map((at) => box.captures[at] ?? null);
  const inner = box.node.instance === null ? [] : capturesIn(box.node, box.captures);
  const numbers = [...new Set([...positions, ...inner])].filter((number) => number !== null && number !== undefined);
  if (numbers.length === 0) return;
  heading(numbers.length === 1 ? "variable" : `${numbers.length} variables`);
  for (const number of numbers.slice(0, 24)) showVariable(picture.variables[number]);
  if (numbers.length > 24) add(details, "p", `… ${numbers.length - 24} more`, "soft");
}

function showVariable(variable) {
  table([[variable.name, variable.type]]);
  const values = variable.histogram;
  if (values === null) return;
  const special = [[values.zero, "zero"], [values.nan, "NaN"], [values.infinite, "infinite"]];
  const specialCounts = special.filter(([number]) => number > 0).map(([number, name]) => `${count(number)} ${name}`);
  const short = (x) => (Number.isInteger(x) && Math.abs(x) < 1e6 ? String(x) : x.toPrecision(3));
  let text = `${count(values.count)} elements`;
  if (values.bins) {
    const { min, max, mean, deviation, counts } = values.bins;
    const label = `from ${short(min)} to ${short(max)}, mean ${short(mean)}, deviation ${short(deviation)}`;
    const chart = make("svg", { class: "histogram", viewBox: `0 0 ${counts.length} 50`, preserveAspectRatio: "none", role: "img", "aria-label": "Histogram " + label });
    const maxCount = Math.max(...counts, 1);
    counts.forEach((number, at) => {
      const height = number === 0 ? 0 : Math.max((50 * number) / maxCount, 0.8);
      make("rect", { x: at + 0.06, y: 50 - height, width: 0.88, height }, chart);
    });
    details.append(chart);
    text = label + "; " + text;
  }
  add(details, "p", [text, ...specialCounts].join(", "), "soft");
}

function showDefinition(definition) {
  add(details, "p", definition.location, "soft");
  source(definition.text, definition.body);
}

/** Adds source text in SkriptND. Highlights the block that begins at line `body`, and scrolls to it. */
function source(text, body) {
  const pre = add(details, "pre");
  pre.tabIndex = 0;
  const lines = text.split("\n");
  let end = body;
  if (body > 0) {
    const indent = lines[body].match(/^\s*/)[0];
    end = lines.findIndex((line, at) => at >= body && line.startsWith(indent + "}"));
    if (end < 0) end = body;
  }
  lines.forEach((line, at) => {
    const marked = body > 0 && at >= body && at <= end;
    coloured(marked ? add(pre, "span", undefined, "body") : pre, line);
    if (!marked && at + 1 < lines.length) pre.append("\n");
  });
  const first = pre.querySelector(".body");
  if (first) pre.scrollTop = first.offsetTop - pre.offsetTop - 40;
}

function coloured(parent, line) {
  const tokens = /(#.*$)|(@\w+|\b(?:operator|graph|import|optional|public|real|int|bool|str|if|then|elif|else|do|while|for|with|yield|is|in)\b)|("[^"]*"|'[^']*'|\b\d[\w.]*)/g;
  let end = 0;
  for (const match of line.matchAll(tokens)) {
    parent.append(line.slice(end, match.index));
    add(parent, "span", match[0], match[1] ? "comment" : match[2] ? "word" : "value");
    end = match.index + match[0].length;
  }
  parent.append(line.slice(end));
}
