// SPDX-License-Identifier: Apache-2.0
"use strict";
// The picture, and queries about its boxes. A path identifies a box: "/3" is box 3 of the graph, "/3:0/5" is box 5 of the
// first graph in it.
const picture = JSON.parse(document.getElementById("picture").textContent);
const entry = picture.instances[picture.entry];
const expanded = new Set();

/** The graphs in a box. */
function insideOf(node) {
  if (node.instance === null) return node.inside;
  const { scope } = picture.instances[node.instance];
  return scope === null ? [] : [{ title: "", scope }];
}

/** The variables of the instance in a box, given the variables of the enclosing instance. */
function capturesIn(node, captures) {
  if (node.instance === null) return captures;
  return node.captures.map((position) => (position === null ? null : captures[position] ?? null));
}

/** The variables of the graph. */
const ownCaptures = picture.variables.map((_, number) => number);

/** The time of a box in nanoseconds, or null. */
function timeOf(node) {
  return picture.profile?.times[node.location]?.nanoseconds ?? null;
}

function operationsOf(node) {
  return node.instance === null ? null : picture.instances[node.instance].flops;
}

/** A number in readable form, such as 1.3 M. */
function count(number) {
  const units = [[1e15, " P"], [1e12, " T"], [1e9, " G"], [1e6, " M"], [1e4, " k"]];
  for (const [size, unit] of units) {
    if (number >= size) return (number / (unit === " k" ? 1e3 : size)).toPrecision(3) + unit;
  }
  return String(number);
}

function duration(nanoseconds) {
  if (nanoseconds >= 1e9) return (nanoseconds / 1e9).toPrecision(3) + " s";
  if (nanoseconds >= 1e6) return (nanoseconds / 1e6).toPrecision(3) + " ms";
  return (nanoseconds / 1e3).toPrecision(3) + " µs";
}

function percent(part, whole) {
  return whole > 0 ? ((100 * part) / whole).toFixed(1) + " %" : "";
}

/** The text, truncated to a number of characters. */
function cut(text, maxLength) {
  const characters = [...text];
  return characters.length > maxLength ? characters.slice(0, maxLength - 1).join("") + "…" : text;
}

/** The label of a box for screen readers. */
function spoken(box) {
  const { node } = box;
  const kind = { input: "input ", output: "output ", operator: "", control: "" }[node.kind];
  const label = [node.label, node.note].filter((text) => text !== null).map((text) => ", " + text).join("");
  const types = node.outputs.map((tensor) => tensor.type).join(", ");
  return (node.change ? node.change + " " : "") + kind + node.title + label + (types === "" ? "" : ", computes " + types);
}
