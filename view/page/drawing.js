// SPDX-License-Identifier: Apache-2.0
// Draws the visible part of the graph. Elements of boxes and edges are created when they become visible, and removed later.
const graph = document.getElementById("graph"), world = document.getElementById("world");
const SVG = "http://www.w3.org/2000/svg";
/** Below this scale, boxes and edges are drawn without text. */
const READABLE = 0.4;
const view = { x: 0, y: 0, scale: 1 };
let items = [], byPath = new Map(), neighbours = new Map(), extent = { width: 0, height: 0 };
/** The drawn elements, the part of the graph that they cover, and whether they have texts. */
let elements = new Map(), drawn = null, hasTexts = true;
let selected = null, hovered = null;

function make(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

/** Recomputes all positions after boxes were expanded or collapsed. */
function update() {
  const whole = arrange(entry.scope, "", ownCaptures, 0);
  items = flatten(whole, 0, 0, []);
  extent = whole;
  byPath = new Map();
  neighbours = new Map();
  for (const item of items) {
    if (item.box) {
      byPath.set(item.box.path, item.box);
      neighbours.set(item.box.path, { above: [], below: [] });
    }
  }
  for (const { edge } of items) {
    if (!edge) continue;
    neighbours.get(edge.from.path).below.push(edge.to);
    neighbours.get(edge.to.path).above.push(edge.from);
  }
  elements = new Map();
  drawn = null;
  draw();
}

/** Moves the graph to the current view, and draws elements that become visible. */
function draw() {
  world.setAttribute("transform", `translate(${round(view.x)} ${round(view.y)}) scale(${view.scale})`);
  const width = graph.clientWidth / view.scale, height = graph.clientHeight / view.scale;
  const left = -view.x / view.scale, top = -view.y / view.scale;
  const readable = view.scale >= READABLE;
  graph.classList.toggle("far", !readable);
  if (readable !== hasTexts) elements = new Map();
  const inside = drawn !== null && hasTexts === readable && left >= drawn.left && top >= drawn.top &&
    left + width <= drawn.right && top + height <= drawn.bottom && width * 6 > drawn.right - drawn.left;
  if (inside) return;
  hasTexts = readable;
  drawn = { left: left - width * 0.6, right: left + width * 1.6, top: top - height * 0.6, bottom: top + height * 1.6 };
  const kept = new Map(), list = [];
  for (const item of items) {
    if (item.right < drawn.left || item.left > drawn.right || item.bottom < drawn.top || item.top > drawn.bottom) continue;
    const key = (item.box ?? item.edge).path;
    const element = elements.get(key) ?? (item.box ? drawBox(item.box, readable) : drawEdge(item, readable));
    kept.set(key, element);
    list.push(element);
  }
  elements = kept;
  world.replaceChildren(...list);
}

function drawBox(box, readable) {
  const { node } = box;
  const g = make("g", { id: "box" + box.path, class: "box " + node.kind, role: "treeitem", "aria-level": box.depth + 1 });
  g.dataset.path = box.path;
  g.setAttribute("transform", `translate(${round(box.left)} ${round(box.top)})`);
  g.setAttribute("aria-label", spoken(box));
  const parts = insideOf(node);
  if (parts.length > 0) g.setAttribute("aria-expanded", expanded.has(box.path));
  if (expanded.has(box.path)) g.classList.add("expanded");
  if (node.change) g.classList.add("is-" + node.change);
  const round_ = node.kind === "input" || node.kind === "output" ? 11 : 5;
  const frame = make("rect", { class: "frame", width: box.width, height: box.height, rx: round_ }, g);
  paint(frame, g, box);
  mark(g, box);
  if (!readable) return g;
  const sign = parts.length === 0 ? "" : expanded.has(box.path) ? "− " : "+ ";
  const middle = box.width / 2;
  make("text", { class: "title", x: middle, y: 16.5 + (node.kind === "operator" || node.kind === "control" ? 3 : 0), "text-anchor": "middle" }, g, sign + cut(node.title, 34));
  if (!expanded.has(box.path)) {
    linesOf(node).forEach((line, number) => make("text", { class: "line", x: middle, y: 33 + 14 * number, "text-anchor": "middle" }, g, cut(line, 34)));
  }
  const time = timeOf(node);
  if (time !== null && !expanded.has(box.path)) {
    make("text", { class: "time", x: box.width - 4, y: box.height - 2.5, "text-anchor": "end" }, g, duration(time));
  }
  for (const part of box.parts) {
    if (part.title !== "") make("text", { class: "part", x: 12, y: part.y - 2 }, g, part.title);
  }
  return g;
}

/** The lines under the title: the label, the comment, then the variables that the operator reads. */
function linesOf(node) {
  if (node.kind === "control") return node.note === null ? [] : [node.note];
  if (node.kind !== "operator") return [];
  const weights = node.inputs.filter((tensor) => tensor.origin?.capture !== undefined);
  const lines = weights.map((tensor) => `${tensor.name.split(" = ")[0]} ${tensor.type}`);
  lines.unshift(...[node.label, node.note].filter((text) => text !== null));
  return lines.length > 4 ? [...lines.slice(0, 3), `… ${lines.length - 3} more`] : lines;
}

function drawEdge(item, readable) {
  const { edge } = item.edge;
  const g = make("g", { class: "edge", "aria-hidden": "true" });
  make("path", { d: item.d, "marker-end": "url(#arrow)" }, g);
  const first = neighbours.get(item.edge.from.path).below[0] === item.edge.to;
  if (readable && first) {
    const { from } = item.edge;
    make("text", { x: round(from.left + from.width / 2 + 6), y: round(from.top + from.height + 14) }, g, cut(edge.type, 34));
  }
  if (isNear(item.edge)) g.classList.add("near");
  return g;
}

function isNear(edge) {
  return selected !== null && (edge.from.path === selected || edge.to.path === selected);
}

function mark(element, box) {
  element.classList.toggle("selected", box.path === selected);
  element.setAttribute("aria-selected", box.path === selected);
}

let colouring = "operator", greatest = { time: 1, operations: 1 };

/** The cost relative to the most expensive box, from 0 to 1; null if the costs are unknown. */
function heat(node) {
  if (colouring === "time") return timeOf(node) === null ? null : timeOf(node) / greatest.time;
  if (colouring === "operations") return operationsOf(node) === null ? null : operationsOf(node) / greatest.operations;
  return null;
}

function paint(frame, g, box) {
  const { node } = box;
  if (node.kind === "input" || node.kind === "output") return;
  if (colouring === "operator") {
    let hue = 0;
    for (const character of node.title) hue = (hue * 31 + character.codePointAt(0)) % 360;
    if (view.scale < READABLE) frame.style.fill = `hsl(${hue} 45% var(--stripe-light))`;
    make("rect", { width: 5, height: box.height, rx: 2.5, style: `fill: hsl(${hue} 55% var(--stripe-light))` }, g);
    return;
  }
  const part = heat(node);
  if (part === null || expanded.has(box.path)) return;
  g.classList.add("heated");
  frame.style.fill = `color-mix(in oklab, var(--heat) ${Math.round(100 * Math.sqrt(part)) * 0.85}%, var(--box))`;
}

/** Redraws all elements at the same positions. */
function repaint() {
  elements = new Map();
  drawn = null;
  draw();
}

/** Moves and scales the view so that a box is visible; a box that was not visible is centered. */
function reveal(box) {
  const left = box.left * view.scale + view.x, top = box.top * view.scale + view.y;
  const width = Math.min(box.width * view.scale, graph.clientWidth), height = Math.min(box.height * view.scale, graph.clientHeight);
  if (view.scale < READABLE) zoom(1 / view.scale, 0, 0);
  const hidden = left < 0 || top < 0 || left + width > graph.clientWidth || top + height > graph.clientHeight;
  if (hidden || view.scale !== lastScale) {
    view.x = graph.clientWidth / 2 - (box.left + box.width / 2) * view.scale;
    view.y = Math.max(graph.clientHeight / 2 - (box.top + box.height / 2) * view.scale, 12 - box.top * view.scale - 0);
    if (box.height * view.scale > graph.clientHeight) view.y = 12 - box.top * view.scale;
  }
  lastScale = view.scale;
  draw();
}
let lastScale = 1;

/** Scales by a factor around a point of the window. */
function zoom(factor, x, y) {
  const scale = Math.min(Math.max(view.scale * factor, SMALLEST / 2), 4);
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
}

/** Minimum scale at which boxes are recognizable. */
const SMALLEST = 0.15;

/** Shows the whole graph. If it is too large, shows its beginning or the selected box at the minimum scale. */
function fit(readable) {
  const wide = graph.clientWidth / extent.width, high = graph.clientHeight / extent.height;
  view.scale = Math.max(Math.min(wide, high, 1), SMALLEST);
  if (readable && view.scale < READABLE) view.scale = Math.min(1, Math.max(wide, 0.75));
  view.x = (graph.clientWidth - extent.width * view.scale) / 2;
  view.y = Math.max((graph.clientHeight - extent.height * view.scale) / 2, 0);
  const middle = byPath.get(selected) ?? items.find((item) => item.box)?.box;
  if (middle && extent.width * view.scale > graph.clientWidth) {
    view.x = graph.clientWidth / 2 - (middle.left + middle.width / 2) * view.scale;
  }
  if (middle && extent.height * view.scale > graph.clientHeight) {
    const top = graph.clientHeight / 2 - (middle.top + middle.height / 2) * view.scale;
    view.y = Math.min(Math.max(top, graph.clientHeight - extent.height * view.scale), 0);
  }
  lastScale = view.scale;
  drawn = null;
  draw();
}
