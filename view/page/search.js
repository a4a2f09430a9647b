// SPDX-License-Identifier: Apache-2.0
// The search for boxes, including those in collapsed boxes.
const field = document.getElementById("search"), results = document.getElementById("results");
/** The maximum numbers of searched boxes and of shown results. */
const SEARCHED = 20000, SHOWN = 50;
let index = null, shown = [], active = 0;

/** All boxes with the titles of their enclosing boxes; a graph in two boxes is listed twice. */
function indexed() {
  const list = [];
  const open = [{ scope: entry.scope, path: "", names: [] }];
  // Outer boxes come first, so that the limit omits deeply nested boxes.
  for (let at = 0; at < open.length && list.length < SEARCHED; at++) {
    const { scope, path, names } = open[at];
    picture.scopes[scope].nodes.forEach((node, number) => {
      const own = `${path}/${number}`;
      const tensors = [...node.inputs, ...node.outputs].map((tensor) => `${tensor.name} ${tensor.type}`);
      const text = [node.title, node.label ?? "", node.note ?? "", node.location, ...tensors].join(" ").toLowerCase();
      list.push({ path: own, node, names, text });
      insideOf(node).forEach((inside, part) => open.push({ scope: inside.scope, path: `${own}:${part}`, names: [...names, node.title] }));
    });
  }
  return list;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  index ??= indexed();
  const all = words.length === 0 ? [] : index.filter(({ text }) => words.every((word) => text.includes(word)));
  shown = all.slice(0, SHOWN);
  active = 0;
  results.replaceChildren();
  shown.forEach((entry, number) => {
    const line = add(results, "li", entry.node.title + (entry.node.label === null ? "" : ` (${entry.node.label})`));
    line.setAttribute("role", "option");
    line.id = "result-" + number;
    const name = entry.node.outputs[0]?.name ?? entry.node.inputs[0]?.name ?? "";
    add(line, "small", [...entry.names, entry.node.location, name].filter((text) => text !== "").join(" · "));
    line.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      choose(number);
    });
  });
  if (all.length > SHOWN) add(results, "li", `… ${all.length - SHOWN} more`).setAttribute("role", "presentation");
  if (words.length > 0 && all.length === 0) add(results, "li", "nothing found").setAttribute("role", "presentation");
  results.hidden = words.length === 0;
  field.setAttribute("aria-expanded", !results.hidden);
  activate(0);
  if (words.length > 0) say(`${all.length} found`);
}

function activate(number) {
  active = Math.min(Math.max(number, 0), Math.max(shown.length - 1, 0));
  [...results.children].forEach((line, at) => line.setAttribute("aria-selected", at === active && shown.length > 0));
  if (shown.length === 0) field.removeAttribute("aria-activedescendant"); else field.setAttribute("aria-activedescendant", "result-" + active);
  results.children[active]?.scrollIntoView({ block: "nearest" });
}

function closeResults() {
  results.hidden = true;
  field.setAttribute("aria-expanded", false);
  field.removeAttribute("aria-activedescendant");
}

/** Expands the boxes around a result, and selects the result. */
function choose(number) {
  const entry = shown[number];
  if (entry === undefined) return;
  closeResults();
  for (let at = entry.path.indexOf(":"); at >= 0; at = entry.path.indexOf(":", at + 1)) expanded.add(entry.path.slice(0, at));
  update();
  select(entry.path);
  graph.focus();
}

field.addEventListener("input", search);
field.addEventListener("focus", () => { if (field.value !== "") search(); });
field.addEventListener("blur", closeResults);
field.addEventListener("keydown", (event) => {
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in moves) activate(active + moves[event.key]);
  else if (event.key === "Enter") choose(active);
  else if (event.key === "Escape") { closeResults(); graph.focus(); }
  else return;
  event.preventDefault();
});
