// SPDX-License-Identifier: Apache-2.0
// Arrays as numbers, curves and images.

/** Maximum numbers of rows, columns, and slices along the other dimensions that are shown. */
const MAX_ROWS = 24, MAX_COLUMNS = 16, MAX_SLICES = 12;
/** Colours from the least to the largest value. */
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** Adds an array with its name, type, range, and elements. */
function showArray(parent, array) {
  const { name, type, shape, elements } = array;
  const values = array.values.map(Number);
  const box = add(parent, "section", undefined, "array");
  const head = add(box, "h3");
  add(head, "span", name, "name");
  add(head, "span", `${type}[${shape.join(", ")}]`, "soft");
  const finite = values.filter(Number.isFinite);
  if (finite.length > 0 && type !== "bool") {
    const [least, most] = finite.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
    add(head, "span", `${brief(least)} … ${brief(most)}, mean ${brief(mean)}`, "soft");
  }
  const drawn = pictureKind(shape, elements);
  const body = document.createElement("div");
  if (drawn) {
    const button = add(head, "button", "Numbers");
    button.type = "button";
    let numbers = false;
    button.onclick = () => {
      numbers = !numbers;
      button.textContent = numbers ? "Picture" : "Numbers";
      draw(body, numbers ? undefined : drawn, array, values);
    };
  }
  box.append(body);
  draw(body, drawn, array, values);
  if (values.length < elements) add(box, "p", `the first ${values.length.toLocaleString("en")} of ${elements.toLocaleString("en")} elements`, "soft");
}

function pictureKind(shape, elements) {
  const [rows, columns] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
  if (shape.length >= 2 && rows >= 6 && columns >= 6) return "images";
  return columns >= 16 && elements / columns <= 8 ? "curves" : undefined;
}

function draw(body, kind, array, values) {
  body.replaceChildren();
  if (kind === "images") drawImages(body, array, values);
  else if (kind === "curves") drawCurves(body, array, values);
  else drawNumbers(body, array);
}

const brief = (value) => (Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(Number(value.toPrecision(4))));
/** The subscripts of the first dimensions for a slice, such as "[0, 3]". */
function subscripts(shape, slice) {
  const found = [];
  for (let axis = shape.length - 3; axis >= 0; axis -= 1) {
    found.unshift(slice % shape[axis]);
    slice = Math.floor(slice / shape[axis]);
  }
  return `[${found.join(", ")}]`;
}

/** Matrices along the last two dimensions, as tables. */
function drawNumbers(body, { shape, values, type }) {
  const columns = shape.at(-1) ?? 1, rows = shape.length < 2 ? 1 : shape.at(-2);
  const slices = rows * columns === 0 ? 0 : Math.ceil(values.length / (rows * columns));
  for (let slice = 0; slice < Math.min(slices, MAX_SLICES); slice += 1) {
    if (shape.length > 2) add(body, "p", subscripts(shape, slice), "soft");
    const rowsOf = add(add(add(body, "div", undefined, "scroll"), "table"), "tbody");
    for (let row = 0; row < Math.min(rows, MAX_ROWS); row += 1) {
      const line = add(rowsOf, "tr");
      for (let column = 0; column < Math.min(columns, MAX_COLUMNS); column += 1) {
        const value = values[(slice * rows + row) * columns + column];
        if (value === undefined) break;
        add(line, "td", typeof value === "number" && type !== "bool" ? brief(value) : String(value)).title = String(value);
      }
      if (columns > MAX_COLUMNS) add(line, "td", "…");
    }
    if (rows > MAX_ROWS) add(add(rowsOf, "tr"), "td", "⋮");
  }
  if (slices > MAX_SLICES) add(body, "p", `… ${slices - MAX_SLICES} more`, "soft");
  if (slices === 0) add(body, "p", "no elements", "soft");
}

/** The place of a value between the finite least and largest ones, from 0 to 1. */
function scale(values) {
  const finite = values.filter(Number.isFinite);
  const [least, most] = finite.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  return (value) => (most > least ? Math.min(1, Math.max(0, (value - least) / (most - least))) : 0.5);
}

function drawImages(body, { name, shape }, values) {
  const [rows, columns] = [shape.at(-2), shape.at(-1)];
  const size = rows * columns;
  // Without a full slice, the rows of the first one that are there.
  const slices = Math.max(1, Math.floor(values.length / size));
  const place = scale(values);
  const grid = add(body, "div", undefined, "grid");
  for (let slice = 0; slice < Math.min(slices, MAX_SLICES); slice += 1) {
    const figure = add(grid, "figure");
    const canvas = add(figure, "canvas");
    canvas.width = columns;
    canvas.height = Math.min(rows, Math.ceil((values.length - slice * size) / columns));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${name}${shape.length > 2 ? subscripts(shape, slice) : ""} as an image`);
    canvas.style.width = `${Math.max(slices === 1 ? 256 : 116, Math.min(columns, 320))}px`;
    paint(canvas, values.slice(slice * size, (slice + 1) * size), place);
    const caption = add(figure, "figcaption", shape.length > 2 ? subscripts(shape, slice) : " ", "soft");
    canvas.onpointermove = (event) => {
      const column = Math.floor((event.offsetX / canvas.clientWidth) * columns);
      const row = Math.floor((event.offsetY / canvas.clientHeight) * canvas.height);
      const value = values[slice * size + row * columns + column];
      if (value !== undefined) caption.textContent = `[${row}, ${column}] = ${brief(value)}`;
    };
  }
  if (slices > MAX_SLICES) add(body, "p", `… ${slices - MAX_SLICES} more`, "soft");
}

function paint(canvas, values, place) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  values.forEach((value, at) => {
    const colour = Number.isFinite(value) ? ramp(place(value)) : Number.isNaN(value) ? [220, 40, 40] : [255, 255, 255];
    image.data.set([...colour, 255], 4 * at);
  });
  context.putImageData(image, 0, 0);
}

function ramp(place) {
  const at = place * (RAMP.length - 1);
  const below = Math.min(RAMP.length - 2, Math.floor(at));
  return RAMP[below].map((part, channel) => part + (RAMP[below + 1][channel] - part) * (at - below));
}

/** The rows of the array as curves in one drawing. */
function drawCurves(body, { name, shape }, values) {
  const columns = shape.at(-1);
  const [width, height] = [480, 120];
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", `-4 -4 ${width + 8} ${height + 8}`);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", `${name} as ${values.length > columns ? "curves" : "a curve"}`);
  const place = scale(values);
  for (let from = 0; from < values.length; from += columns) {
    const points = values.slice(from, from + columns).map((value, at) => [(at / Math.max(1, columns - 1)) * width, (1 - place(value)) * height, value]);
    const line = document.createElementNS(space, "polyline");
    line.setAttribute("points", points.filter(([, , value]) => Number.isFinite(value)).map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "));
    line.style.stroke = `hsl(${(210 + (from / columns) * 67) % 360} 65% 52%)`;
    drawing.append(line);
  }
  body.append(drawing);
}
