// SPDX-License-Identifier: Apache-2.0
// textmate.js GRAMMAR PEST FILE…: tokenizes files as VS Code does. Every word, number, string and comment must have a scope of its
// kind, and reserved words of the language (the rule `reserved` of PEST) one of keywords, types, modifiers or constants.
const assert = require("node:assert");
const fs = require("node:fs");
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const [path, pest, ...files] = process.argv.slice(2);
const ROOT = "source.sknd";
const RESERVED = /^(keyword|storage|constant\.language)\./;

function reserved() {
  const [, rule] = /^reserved = _\{(.*?)^\}/ms.exec(fs.readFileSync(pest, "utf8"));
  const words = rule.match(/(?<=")\w+(?=")/g);
  assert.ok(words.length > 20);
  return new Set(words);
}

async function load() {
  await oniguruma.loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const onigLib = Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  });
  const loadGrammar = async (scope) => (scope === ROOT ? parseRawGrammar(fs.readFileSync(path, "utf8"), path) : null);
  return new Registry({ onigLib, loadGrammar }).loadGrammar(ROOT);
}

// The fault of a token: `scopes` are those below the root.
function fault(text, scopes, words) {
  const within = (prefix) => scopes.some((scope) => scope.startsWith(prefix));
  if (within("comment.") || (within("string.") && !within("meta.interpolation"))) return undefined;
  const is = (pattern) => scopes.some((scope) => pattern.test(scope));
  if (text.startsWith("#") || /["']/.test(text)) return scopes.length ? undefined : "no scope";
  if (words.has(text)) return is(RESERVED) ? undefined : "a reserved word without its scope";
  if (/^[0-9]/.test(text)) return within("constant.numeric.") ? undefined : "a number without its scope";
  if (!scopes.length) return "no scope";
  return is(RESERVED) && /^[a-z_]\w*$/i.test(text) && !/^(static|dynamic|type|arith|num)$/.test(text) ? "a name with the scope of a reserved word" : undefined;
}

async function main() {
  const grammar = await load();
  const words = reserved();
  const faults = [];
  let count = 0;
  for (const file of files) {
    let stack = INITIAL;
    for (const [number, line] of fs.readFileSync(file, "utf8").split("\n").entries()) {
      const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
      stack = ruleStack;
      for (const { startIndex, endIndex, scopes } of tokens) {
        const text = line.slice(startIndex, endIndex).trim();
        if (!text) continue;
        count += 1;
        const found = fault(text, scopes.slice(1), words);
        if (found) faults.push(`${file}:${number + 1}: ${found}: ${text}`);
      }
      assert.ok(stack.depth === 1 || !/;\s*$/.test(line), `${file}:${number + 1}: a string does not end`);
    }
  }
  console.log(faults.slice(0, 20).join("\n"));
  console.log(`${count} tokens of ${files.length} files, ${faults.length} faults`);
  process.exit(faults.length || count < 10000 ? 1 : 0);
}

main();
