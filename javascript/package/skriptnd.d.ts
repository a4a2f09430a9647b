// SPDX-License-Identifier: Apache-2.0

/** A location in a text. Lines and columns are counted from 1, bytes from 0; ends are exclusive. */
export interface Location {
  path: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  bytes: [number, number];
}

export interface Diagnostic {
  severity: "error" | "warning";
  /** Such as `SK0302`; docs/diagnostics.md explains all codes. */
  code: string;
  message: string;
  label: string;
  location: Location | null;
  labels: { text: string; location: Location | null }[];
  notes: { text: string; location: Location | null }[];
  help: string | null;
}

/** A value of an attribute: an int, a real (with a fraction), a bool, a string, or a list. */
export type AttributeValue = number | boolean | string | null | AttributeValue[];

export interface Options {
  /** The name of the text in messages. */
  name?: string;
  /** The graph; the default is the first one. */
  graph?: string;
  /** The element type of reals; the default is f32. */
  real?: "f16" | "bf16" | "f32" | "f64";
  /** Values of the graph's attributes. */
  attributes?: Record<string, AttributeValue>;
  /** Shapes of inputs with dynamic dimensions; a list of shapes for a pack. */
  shapes?: Record<string, number[] | number[][]>;
}

export type Element = number | bigint | boolean;

/** The elements of a tensor in row-major order. */
export interface ArrayInput {
  shape: number[];
  values: ArrayLike<Element> | Iterable<Element>;
}

export interface ArrayOutput {
  /** The element type, such as `f32`. */
  type: string;
  shape: number[];
  /** Ints beyond 2^53 are of type bigint. */
  values: Element[];
}

export interface EvaluateOptions extends Options {
  inputs?: Record<string, ArrayInput>;
  weights?: Record<string, ArrayInput>;
  /** The seed of random inputs and weights; the default is 0. */
  seed?: number;
}

/** An error of a document, or the end of the module, which the next call starts again. */
export class SkriptError extends Error {
  diagnostics: Diagnostic[];
}

export class Skript {
  constructor(module: WebAssembly.Module);
  check(text: string, options?: Options): Diagnostic[];
  format(text: string): string;
  compose(text: string, options?: Options): string;
  view(text: string, options?: Options): string;
  evaluate(text: string, options?: EvaluateOptions): {
    inputs: Record<string, ArrayOutput>;
    outputs: Record<string, ArrayOutput>;
  };
  language(text: string, method: string, params?: object): unknown;
  /** Answers a request of the module; for the page of the playground. */
  answer(request: object): { status: "done" | "wrong"; result?: unknown; messages: string; diagnostics: Diagnostic[] };
}

export function load(source?: URL | string | Response | BufferSource | WebAssembly.Module): Promise<Skript>;
