// SPDX-License-Identifier: Apache-2.0
// Calls the npm package in Node: node package.mjs FOLDER, the folder of the unpacked package.
import assert from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2]);
const { exports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
const { load, Skript, SkriptError } = await import(pathToFileURL(path.join(folder, exports["."].default)));
const skript = await load();

const PRODUCT = `operator product {
    @input {
        a: real[m,k];
        b: real[k,n];
    }
    @output {
        c: real[m,n];
    }
    @lower {
        c[i,j] += a[i,l] * b[l,j], i < m, j < n, l < k;
    }
}

graph Net {
    @input {
        a: real[2,3];
        b: real[3,2];
    }
    @output {
        c: real[2,2];
    }
    @compose {
        c = product(a, b);
    }
}
`;
const a = { shape: [2, 3], values: [1, 2, 3, 4, 5, 6] };
const b = { shape: [3, 2], values: [1, 0, -1, 2, 0.5, 1] };
// Worked out by hand: 1 - 2 + 1.5, 4 + 3, 4 - 5 + 3, 10 + 6.
const EXPECTED = [0.5, 7, 2, 16];
const failure = (call) => {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof SkriptError, error.stack);
    return error;
  }
  return assert.fail("the call succeeds");
};

// Errors have their location and text.
assert.deepStrictEqual(skript.check(PRODUCT), []);
const [wrong, ...others] = skript.check(PRODUCT.replace("product(a, b)", "product(a, x)"));
assert.deepStrictEqual(others, []);
assert.strictEqual(wrong.severity, "error");
assert.match(wrong.code, /^SK\d{4}$/);
assert.match(wrong.message, /`x`/);
const { line, column, end_line, end_column } = wrong.location;
assert.deepStrictEqual([line, column, end_line, end_column], [23, 24, 23, 25]);

// Formatting.
assert.strictEqual(skript.format(PRODUCT), PRODUCT);
assert.strictEqual(skript.format(PRODUCT.replace("        c = product(a, b);", "c=product( a,b ) ;")), PRODUCT);
assert.match(failure(() => skript.format("graph {")).message, /error\[SK\d{4}\]/);

// Composition and evaluation.
assert.match(skript.compose(PRODUCT), /product/);
assert.match(skript.view(PRODUCT), /^<!DOCTYPE html>/);
const { outputs } = skript.evaluate(PRODUCT, { inputs: { a, b } });
assert.deepStrictEqual(outputs, { c: { type: "f32", shape: [2, 2], values: EXPECTED } });
const wide = skript.evaluate(PRODUCT, { inputs: { a, b: { ...b, values: new Float64Array([1 / 3, NaN, 0, Infinity, 0, 0]) } }, real: "f64" });
assert.deepStrictEqual(wide.outputs.c, { type: "f64", shape: [2, 2], values: [1 / 3, NaN, 4 / 3, NaN] });
const random = () => skript.evaluate(PRODUCT, { inputs: { a }, seed: 5 });
assert.deepStrictEqual(random(), random());
assert.match(failure(() => skript.evaluate(PRODUCT, { inputs: { a: b } })).message, /input `a`/);
const ints = `operator added {
    @attrib {
        k: int;
    }
    @input {
        x: int[n];
    }
    @output {
        y: int[n];
    }
    @lower {
        y[i,] = x[i,] + k, i < n;
    }
}

graph Ints {
    @attrib {
        k: int;
    }
    @input {
        x: int[n|4];
    }
    @output {
        y: int[n];
    }
    @compose {
        y = added{k = k}(x);
    }
}
`;
const large = skript.evaluate(ints, { attributes: { k: 2 }, shapes: { x: [2] }, inputs: { x: { shape: [2], values: [2n ** 62n, -3] } } });
assert.deepStrictEqual(large.outputs.y, { type: "i64", shape: [2], values: [2n ** 62n + 2n, -1] });

// A tensor of 8 MB.
const spread = `operator spread {
    @input {
        x: real[n];
    }
    @output {
        y: real[n,1000000];
    }
    @lower {
        y[i,j] = x[i,], i < n, j < 1000000;
    }
}

operator total {
    @input {
        x: real[n,m];
    }
    @output {
        y: real[n];
    }
    @lower {
        y[i,] += x[i,j], i < n, j < m;
    }
}

graph Large {
    @input {
        x: real[2];
    }
    @output {
        y: real[2];
    }
    @compose {
        t = spread(x);
        y = total(t);
    }
}
`;
assert.deepStrictEqual(skript.evaluate(spread, { inputs: { x: { shape: [2], values: [1, -2] } } }).outputs.y.values, [1e6, -2e6]);

// The language server.
const hover = skript.language(PRODUCT, "textDocument/hover", { position: { line: 22, character: 14 } });
assert.match(hover.contents.value, /operator .*product/);
assert.deepStrictEqual(skript.language(PRODUCT, "diagnostics"), []);
assert.strictEqual(skript.language("graph {", "diagnostics")[0].severity, 1);

// A text that exhausts the stack of the engine ends the module, and the next call starts it again.
const deep = (depth) => PRODUCT.replace("a[i,l] * b[l,j]", `${"(".repeat(depth)}a[i,l] * b[l,j]${")".repeat(depth)}`);
for (const depth of [30, 200, 2000, 100000]) {
  try {
    skript.check(deep(depth));
  } catch (error) {
    assert.ok(error instanceof SkriptError, error.stack);
    assert.match(error.message, /nested too deeply/);
  }
  assert.deepStrictEqual(skript.check(PRODUCT), []);
}
assert.deepStrictEqual(skript.check(deep(30)), []);

// The module needs nothing from JavaScript.
const module = new WebAssembly.Module(readFileSync(path.join(folder, "skriptnd.wasm")));
assert.deepStrictEqual(WebAssembly.Module.imports(module), []);
assert.deepStrictEqual(new Skript(module).check(PRODUCT), []);

// The examples.
const examples = new URL("../../examples/operators/", import.meta.url);
const names = readdirSync(examples).filter((name) => name.endsWith(".sknd"));
assert.ok(names.length > 10);
for (const name of names) {
  const text = readFileSync(new URL(name, examples), "utf8");
  assert.deepStrictEqual(skript.check(text, { name }).filter(({ severity }) => severity === "error"), [], name);
}
console.log(`the npm package: ${names.length} examples, a module of ${readFileSync(path.join(folder, "skriptnd.wasm")).length} bytes`);
