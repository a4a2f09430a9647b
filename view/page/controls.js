// SPDX-License-Identifier: Apache-2.0
// Handles the mouse, keys and buttons.
const byId = (id) => document.getElementById(id);

function say(text) {
  byId("spoken").textContent = text;
}

/** Selects a box and scrolls to it. */
function select(path) {
  const box = byPath.get(path);
  if (!box) return;
  selected = path;
  hovered = null;
  // In a narrow window, the details make the graph smaller.
  showDetails();
  reveal(box);
  refreshMarks();
  graph.setAttribute("aria-activedescendant", "box" + path);
  say(spoken(box));
}

function deselect() {
  selected = null;
  graph.removeAttribute("aria-activedescendant");
  refreshMarks();
  showDetails();
}

/** Updates the highlights of drawn elements. */
function refreshMarks() {
  for (const item of items) {
    const element = elements.get((item.box ?? item.edge).path);
    if (!element) continue;
    if (item.box) mark(element, item.box); else element.classList.toggle("near", isNear(item.edge));
  }
}

/** Expands or collapses a box without moving its upper edge. */
function toggle(path) {
  const box = byPath.get(path);
  if (!box || insideOf(box.node).length === 0) return;
  const before = { x: (box.left + box.width / 2) * view.scale + view.x, y: box.top * view.scale + view.y };
  if (expanded.has(path)) {
    for (const other of [...expanded]) if (other === path || other.startsWith(path + ":")) expanded.delete(other);
  } else {
    expanded.add(path);
  }
  update();
  const after = byPath.get(path);
  view.x += before.x - ((after.left + after.width / 2) * view.scale + view.x);
  view.y += before.y - (after.top * view.scale + view.y);
  drawn = null;
  draw();
  say(expanded.has(path) ? "expanded" : "collapsed");
}

/** Expands all boxes by one level, up to a number of boxes for which the page remains responsive. */
function expandLevel() {
  let boxes = byPath.size;
  for (const box of [...byPath.values()]) {
    const parts = insideOf(box.node);
    if (parts.length === 0 || expanded.has(box.path)) continue;
    boxes += parts.reduce((sum, part) => sum + picture.scopes[part.scope].nodes.length, 0);
    if (boxes > 20000) break;
    expanded.add(box.path);
  }
  changeAll();
}

function collapseAll() {
  expanded.clear();
  changeAll();
}

function changeAll() {
  while (selected !== null && selected.includes(":") && !expanded.has(selected.slice(0, selected.lastIndexOf(":")))) {
    selected = selected.slice(0, selected.lastIndexOf(":"));
  }
  update();
  if (selected === null) fit(true); else select(selected);
}

/** The box that an arrow key moves to. */
function neighbour(key) {
  const box = byPath.get(selected);
  const boxes = [...byPath.values()];
  if (key === "End") return boxes.filter((other) => other.depth === 0).at(-1);
  if (!box || key === "Home") return boxes[0];
  const { above, below } = neighbours.get(box.path);
  if (key === "ArrowDown") return below[0];
  if (key === "ArrowUp") return above[0];
  if (key === "PageDown") return byPath.get(`${box.path}:0/0`);
  if (key === "PageUp") return byPath.get(box.path.slice(0, Math.max(box.path.lastIndexOf(":"), 0)));
  const graphPath = box.path.slice(0, box.path.lastIndexOf("/"));
  const layer = boxes.filter((other) => other.node.layer === box.node.layer && other.path.slice(0, other.path.lastIndexOf("/")) === graphPath);
  layer.sort((a, b) => a.left - b.left);
  return layer[layer.indexOf(box) + (key === "ArrowRight" ? 1 : -1)];
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (typing) return;
  const actions = {
    "/": () => field.focus(), e: expandLevel, c: collapseAll, f: () => fit(false), "?": () => byId("help").showModal(),
    "+": () => zoomMiddle(1.25), "=": () => zoomMiddle(1.25), "-": () => zoomMiddle(0.8),
  };
  const moves = ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageDown", "PageUp", "Home", "End"];
  if (event.key in actions) {
    actions[event.key]();
  } else if (document.activeElement === graph && moves.includes(event.key)) {
    const next = neighbour(event.key);
    if (next) select(next.path);
  } else if (document.activeElement === graph && (event.key === "Enter" || event.key === " ")) {
    if (selected !== null) { toggle(selected); refreshMarks(); }
  } else if (event.key === "Escape" && selected !== null) {
    deselect();
  } else {
    return;
  }
  event.preventDefault();
}

function zoomMiddle(factor) {
  zoom(factor, graph.clientWidth / 2, graph.clientHeight / 2);
  lastScale = view.scale;
  draw();
}

const boxAt = (event) => event.target.closest?.(".box")?.dataset.path ?? null;
let drag = null, frame = 0;
function later() {
  frame ||= requestAnimationFrame(() => { frame = 0; draw(); });
}
/** The fingers on the graph, by their pointers. Two of them zoom. */
const fingers = new Map();
const pinched = () => {
  const [one, other] = [...fingers.values()];
  const corner = graph.getBoundingClientRect();
  return { size: Math.hypot(one.x - other.x, one.y - other.y), x: (one.x + other.x) / 2 - corner.left, y: (one.y + other.y) / 2 - corner.top };
};
graph.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  if (event.pointerType === "touch") fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (fingers.size > 1) {
    drag = null;
    return;
  }
  drag = { x: event.clientX, y: event.clientY, left: view.x, top: view.y, moved: false, path: boxAt(event) };
});
for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, (event) => fingers.delete(event.pointerId));
graph.addEventListener("pointermove", (event) => {
  if (fingers.size === 2 && fingers.has(event.pointerId)) {
    const before = pinched();
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = pinched();
    [view.x, view.y] = [view.x + after.x - before.x, view.y + after.y - before.y];
    if (before.size > 0) zoom(after.size / before.size, after.x, after.y);
    lastScale = view.scale;
    return later();
  }
  if (drag) {
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(x, y) < 4) return;
    if (!drag.moved) graph.setPointerCapture(event.pointerId);
    drag.moved = true;
    graph.classList.add("moved");
    [view.x, view.y] = [drag.left + x, drag.top + y];
    later();
    return;
  }
  const path = boxAt(event);
  if (path === hovered) return;
  hovered = path;
  showDetails();
});
graph.addEventListener("pointerup", () => {
  const { moved, path } = drag ?? {};
  drag = null;
  graph.classList.remove("moved");
  if (moved || path === undefined) return;
  if (path === null) return void (selected === null || deselect());
  if (path === selected) { toggle(path); refreshMarks(); } else select(path);
});
graph.addEventListener("pointerleave", () => {
  if (hovered === null) return;
  hovered = null;
  showDetails();
});
graph.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.ctrlKey || event.metaKey) {
    const corner = graph.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), event.clientX - corner.left, event.clientY - corner.top);
    lastScale = view.scale;
  } else {
    const unit = event.deltaMode === 1 ? 18 : 1;
    view.x -= (event.shiftKey ? event.deltaY : event.deltaX) * unit;
    view.y -= event.shiftKey ? 0 : event.deltaY * unit;
  }
  later();
}, { passive: false });
document.addEventListener("keydown", pressed);
// The first view follows the size of the window until the user changes it.
let isMoved = false;
for (const name of ["pointerdown", "wheel", "keydown"]) document.addEventListener(name, () => { isMoved = true; }, { capture: true, passive: true });
new ResizeObserver(() => { if (isMoved) later(); else fit(true); }).observe(graph);
byId("expand").addEventListener("click", expandLevel);
byId("collapse").addEventListener("click", collapseAll);
byId("larger").addEventListener("click", () => zoomMiddle(1.25));
byId("smaller").addEventListener("click", () => zoomMiddle(0.8));
byId("fit").addEventListener("click", () => fit(false));
byId("keys").addEventListener("click", () => byId("help").showModal());
byId("colour").addEventListener("change", (event) => colourBy(event.target.value));

function colourBy(what) {
  colouring = what;
  const unit = what === "time" ? duration(greatest.time) : count(greatest.operations);
  byId("scale").hidden = what === "operator";
  byId("scale").querySelector("b").textContent = unit;
  repaint();
}

byId("name").textContent = picture.name;
const nodes = picture.scopes.flatMap((scope) => scope.nodes);
greatest = {
  time: nodes.reduce((max, node) => Math.max(max, timeOf(node) ?? 0), 1),
  operations: picture.scopes[entry.scope]?.nodes.reduce((max, node) => Math.max(max, operationsOf(node) ?? 0), 1) ?? 1,
};
if (entry.scope !== null) update();
fit(true);
if (picture.profile) {
  const option = new Option("time", "time");
  byId("colour").prepend(option);
  byId("colour").value = "time";
  colourBy("time");
}
showDetails();
