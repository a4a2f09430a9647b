// SPDX-License-Identifier: Apache-2.0
// Loads the WebAssembly module, and calls it with requests in JSON.

/** An error of a document: `diagnostics` lists the errors and warnings, and `message` is their text. */
export class SkriptError extends Error {
  constructor(message, diagnostics = []) {
    super(message);
    this.name = "SkriptError";
    this.diagnostics = diagnostics;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** SkriptND in a WebAssembly module. Calls are synchronous; run long ones in a worker that can be terminated. */
export class Skript {
  #module;
  #exports;
  #version = 0;
  #text;

  /** `module` is a compiled WebAssembly.Module. */
  constructor(module) {
    this.#module = module;
  }

  /** The errors and warnings of a text. */
  check(text, options = {}) {
    return this.answer({ ...fields(options), kind: "check", text }).diagnostics;
  }

  /** The formatted text. */
  format(text) {
    return this.#result({ kind: "format", text });
  }

  /** The composed graph as text, with its shapes. */
  compose(text, options = {}) {
    return this.#result({ ...fields(options), kind: "model", text });
  }

  /** A page that shows the composed graph. */
  view(text, options = {}) {
    return this.#result({ ...fields(options), kind: "graph", text });
  }

  /** Evaluates a graph. Inputs and weights without an array are random, by the seed. */
  evaluate(text, options = {}) {
    const { inputs = {}, weights = {}, seed = 0 } = options;
    const result = this.#result({
      ...fields(options), kind: "values", text, seed, inputs: arrays(inputs), weights: arrays(weights), values: 2 ** 32 - 1,
    });
    const named = (list) => Object.fromEntries(list.map(({ name, type, shape, values }) => [name, { type, shape, values: values.map(number) }]));
    return { inputs: named(result.inputs), outputs: named(result.outputs) };
  }

  /** Requests a method of the Language Server Protocol about a text, or its `diagnostics`. */
  language(text, method, params = {}) {
    if (text !== this.#text) this.#version += 1;
    this.#text = text;
    const document = { textDocument: { uri: "untitled:playground/playground.sknd" } };
    return this.#result({ kind: "language", version: this.#version, text, method, params: { ...params, ...document } });
  }

  #result(request) {
    const { status, result, messages, diagnostics } = this.answer(request);
    if (status !== "done") throw new SkriptError(messages, diagnostics);
    return result;
  }

  /** Answers a request of the module. After a failure of the module, the next request starts it again. */
  answer(request) {
    this.#exports ??= new WebAssembly.Instance(this.#module, {}).exports;
    const { memory, skript_request, skript_answer, skript_answer_text, skript_answer_length } = this.#exports;
    const text = () => decoder.decode(new Uint8Array(memory.buffer, skript_answer_text(), skript_answer_length()));
    // A value that JSON does not have is an error of the caller.
    const bytes = encoder.encode(JSON.stringify(request));
    try {
      const address = skript_request(bytes.length);
      new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
      skript_answer();
    } catch (error) {
      this.#exports = undefined;
      throw failure(error, text);
    }
    return JSON.parse(text());
  }
}

/** The error for a module that ended. */
function failure(error, text) {
  // Engines report an exhausted stack as a RangeError, an InternalError, or an access outside of the memory.
  if (!(error instanceof WebAssembly.RuntimeError) || /out of bounds|stack/i.test(error.message)) {
    return new SkriptError("the text is nested too deeply for the stack of WebAssembly; the command `skript` has a larger one");
  }
  const panic = text();
  if (panic !== "") return new SkriptError(`internal compiler error: ${panic}; please report it with the text`);
  return new SkriptError("the memory of WebAssembly is exhausted; the command `skript` has more");
}

/** The fields of a request for options of a composition. */
function fields({ name, graph, real, attributes = {}, shapes = {} }) {
  const shape = (value) => (Array.isArray(value[0]) ? value.map((one) => one.join(",")).join(";") : value.join(","));
  return {
    ...(name === undefined ? {} : { name }), ...(graph === undefined ? {} : { graph }), ...(real === undefined ? {} : { real }),
    attributes: Object.entries(attributes).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
    shapes: Object.entries(shapes).map(([key, value]) => `${key}=${shape(value)}`),
  };
}

const arrays = (named) => Object.fromEntries(Object.entries(named).map(([name, { shape, values }]) => [name, { shape, values: Array.from(values, encoded) }]));
/** Numbers that JSON does not have are texts, and the negative zero, which JSON.stringify writes as 0. */
const encoded = (value) => {
  if (Object.is(value, -0)) return "-0";
  return typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)) ? String(value) : value;
};
const number = (value) => (typeof value !== "string" ? value : /^-?\d+$/.test(value) ? BigInt(value) : Number(value));

/** Loads the module: the file beside this one, or a compiled module, bytes, or a response. */
export async function load(source = new URL("skriptnd.wasm", import.meta.url)) {
  if (source instanceof WebAssembly.Module) return new Skript(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return new Skript(await WebAssembly.compile(source));
  if (source instanceof URL && source.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return load(await readFile(source));
  }
  if (typeof source === "string") return load(new URL(source, globalThis.location?.href ?? import.meta.url));
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok) throw new Error(`${response.url}: status ${response.status}`);
  return load(await response.arrayBuffer());
}
