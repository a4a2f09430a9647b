// SPDX-License-Identifier: Apache-2.0
// Computes positions of boxes and edges. The picture contains the positions of collapsed boxes; expanded boxes move their neighbours.
const VERTICAL = 44, MARGIN = 18, HEAD = 30, PART = 16, SPACE = 20;

/** The layout of a graph with its expanded boxes, relative to its corner. */
function arrange(number, path, captures, depth) {
  const scope = picture.scopes[number];
  const boxes = scope.nodes.map((node, index) => {
    const box = { node, path: `${path}/${index}`, depth, captures, width: node.width, height: node.height, parts: [] };
    if (expanded.has(box.path)) open(box);
    return box;
  });
  const layers = [];
  for (const box of boxes) (layers[box.node.layer] ??= []).push(box);
  const shift = stretch(boxes);
  const heights = [], tops = [];
  let y = MARGIN;
  for (let at = 0; at < layers.length; at++) {
    const layer = layers[at] ?? [];
    layer.sort((a, b) => a.node.x - b.node.x);
    let free = -Infinity;
    for (const box of layer) {
      box.middle = Math.max(shift(box.node.x), free + box.width / 2);
      free = box.middle + box.width / 2 + SPACE;
    }
    heights[at] = layer.reduce((height, box) => Math.max(height, box.height), 12);
    tops[at] = y;
    y += heights[at] + VERTICAL;
  }
  const edges = scope.edges.map((edge, index) => ({
    edge, path: `${path}/e${index}`, from: boxes[edge.from], to: boxes[edge.to], via: edge.via.map(shift),
  }));
  let left = Infinity, right = -Infinity;
  for (const box of boxes) {
    left = Math.min(left, box.middle - box.width / 2);
    right = Math.max(right, box.middle + box.width / 2);
  }
  // The types of results are to the right of their edges.
  for (const { edge, from } of edges) right = Math.max(right, from.middle + Math.min([...edge.type].length, 34) * 6.1 + 6);
  for (const edge of edges) for (const x of edge.via) [left, right] = [Math.min(left, x - 8), Math.max(right, x + 8)];
  if (boxes.length === 0) [left, right] = [0, 0];
  for (const box of boxes) {
    box.x = box.middle - box.width / 2 - left + MARGIN;
    box.y = tops[box.node.layer] + (heights[box.node.layer] - box.height) / 2;
  }
  for (const edge of edges) {
    const first = edge.from.node.layer + 1;
    edge.via = edge.via.map((x, step) => ({ x: x - left + MARGIN, top: tops[first + step], bottom: tops[first + step] + heights[first + step] }));
  }
  return { boxes, edges, width: right - left + 2 * MARGIN, height: Math.max(y - VERTICAL, MARGIN) + MARGIN };
}

/** Places the graphs in an expanded box below each other. */
function open(box) {
  const captures = capturesIn(box.node, box.captures);
  let y = HEAD;
  box.parts = insideOf(box.node).map((inside, number) => {
    const graph = arrange(inside.scope, `${box.path}:${number}`, captures, box.depth + 1);
    if (inside.title !== "") y += PART;
    const part = { title: inside.title, graph, x: 0, y };
    y += graph.height;
    return part;
  });
  box.width = Math.max(box.width, ...box.parts.map((part) => part.graph.width));
  box.height = y + 4;
  for (const part of box.parts) part.x = (box.width - part.graph.width) / 2;
}

/** A function that moves positions away from expanded boxes without decreasing distances. */
function stretch(boxes) {
  const wide = boxes.filter((box) => box.width > box.node.width);
  if (wide.length === 0) return (x) => x;
  const layers = new Map();
  for (const box of wide) {
    const list = layers.get(box.node.layer);
    if (list) list.push(box); else layers.set(box.node.layer, [box]);
  }
  const ramp = (x, box) => Math.min(Math.max(x / (box.node.width / 2), 0), 1) * (box.width - box.node.width) / 2;
  const widest = (moved) => Math.max(...[...layers.values()].map((list) => list.reduce((sum, box) => sum + moved(box), 0)));
  const exact = (x) => widest((box) => ramp(x - box.node.x, box)) - widest((box) => ramp(box.node.x - x, box));
  const corners = [...new Set(wide.flatMap(({ node }) => [node.x - node.width / 2, node.x, node.x + node.width / 2]))];
  corners.sort((a, b) => a - b);
  const moves = corners.map(exact);
  return (x) => {
    let low = 0, high = corners.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (corners[middle] <= x) low = middle + 1; else high = middle;
    }
    if (low === 0) return x + moves[0];
    if (low === corners.length) return x + moves[low - 1];
    const part = (x - corners[low - 1]) / (corners[low] - corners[low - 1]);
    return x + moves[low - 1] + part * (moves[low] - moves[low - 1]);
  };
}

/** Boxes and edges in drawing order, at absolute positions. */
function flatten(graph, x, y, list) {
  for (const box of graph.boxes) {
    box.left = box.x + x;
    box.top = box.y + y;
  }
  for (const edge of graph.edges) list.push(placed(edge, x, y));
  for (const box of graph.boxes) {
    list.push({ box, left: box.left, top: box.top, right: box.left + box.width, bottom: box.top + box.height });
    for (const part of box.parts) flatten(part.graph, box.left + part.x, box.top + part.y, list);
  }
  return list;
}

/** The curve of an edge and its bounding box. */
function placed(edge, x, y) {
  const { from, to } = edge;
  let [px, py] = [from.left + from.width / 2, from.top + from.height];
  let d = `M${round(px)} ${round(py)}`;
  let [left, right] = [px, px];
  const curve = (nx, ny) => {
    const middle = (py + ny) / 2;
    d += px === nx ? `L${round(nx)} ${round(ny)}` : `C${round(px)} ${round(middle)} ${round(nx)} ${round(middle)} ${round(nx)} ${round(ny)}`;
    [px, py] = [nx, ny];
    [left, right] = [Math.min(left, nx), Math.max(right, nx)];
  };
  for (const point of edge.via) {
    curve(point.x + x, point.top + y);
    py = point.bottom + y;
    d += `L${round(px)} ${round(py)}`;
  }
  curve(to.left + to.width / 2, to.top);
  return { edge, d, left, right: right + 120, top: from.top + from.height, bottom: to.top };
}

function round(number) {
  return Math.round(number * 10) / 10;
}
