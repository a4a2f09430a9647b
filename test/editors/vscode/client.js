// SPDX-License-Identifier: Apache-2.0
// client.js EXTENSION SERVER FORMATTER: runs the packaged extension in the API of modules/vscode.js, against the server.
const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const path = require("node:path");
const vscode = require("vscode");

const { test } = vscode;
const [folder, server, formatter] = process.argv.slice(2);
const extension = require(path.join(folder, require(path.join(folder, "package.json")).main));
const token = new vscode.CancellationTokenSource().token;
const context = { subscriptions: [] };

const VALID = "import nn;\ngraph G {\n    @input { x: real[1, 8]; }\n    @output { y: real[1, 8]; }\n    @compose {   y = nn.relu(x);   }\n}\n";

// Waits until the diagnostics of a document satisfy a condition.
function diagnostics(document, condition) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`diagnostics of ${document.uri}: ${JSON.stringify(test.diagnostics.get(String(document.uri)))}`)), 20000);
    const look = () => {
      const list = test.diagnostics.get(String(document.uri));
      if (list && condition(list)) {
        clearTimeout(timer);
        resolve(list);
      }
    };
    test.onDiagnostics.event(look);
    look();
  });
}

function applied(text, edits, document) {
  const last = (edit) => -document.offsetAt(edit.range.start);
  for (const edit of [...edits].sort((a, b) => last(a) - last(b))) {
    text = text.slice(0, document.offsetAt(edit.range.start)) + edit.newText + text.slice(document.offsetAt(edit.range.end));
  }
  return text;
}

async function edits(document) {
  const at = document.positionAt(VALID.indexOf("nn.relu") + 3);
  assert.equal((await diagnostics(document, (list) => list.length === 0)).length, 0);

  const name = VALID.indexOf("relu");
  await test.change(document, name, name + 4, "rel");
  const [wrong] = await diagnostics(document, (list) => list.length > 0);
  assert.equal(wrong.severity, vscode.DiagnosticSeverity.Error);
  assert.match(String(wrong.code?.value ?? wrong.code), /^SK\d{4}$/);
  assert.equal(wrong.range.start.line, 4);

  const completions = await test.providers.CompletionItem.provideCompletionItems(document, document.positionAt(name + 3), token, { triggerKind: 0 });
  const labels = (completions.items ?? completions).map((item) => item.label.label ?? item.label);
  assert.ok(labels.includes("relu"), labels.join());

  await test.change(document, name, name + 3, "relu");
  await diagnostics(document, (list) => list.length === 0);
  const hover = await test.providers.Hover.provideHover(document, at, token);
  assert.match([hover.contents].flat().map((part) => part.value).join("\n"), /relu/);
  const found = await test.providers.Definition.provideDefinition(document, at, token);
  assert.match([found].flat()[0].uri.path, /nn\.sknd$/);

  const changes = await test.providers.DocumentFormattingEdit.provideDocumentFormattingEdits(document, { tabSize: 4, insertSpaces: true }, token);
  const expected = execFileSync(formatter, ["fmt", "-"], { input: VALID, encoding: "utf8" });
  assert.notEqual(expected, VALID);
  assert.equal(applied(document.getText(), changes, document), expected);
  const { DocumentSemanticTokens: tokens } = test.providers;
  assert.ok((await tokens.provideDocumentSemanticTokens(document, token)).data.length > 50);
}

async function main() {
  test.settings["skriptnd.server"] = path.join(folder, "absent");
  await extension.activate(context);
  assert.ok(test.messages.some((text) => text.includes("absent") && text.includes("skriptnd.server")), test.messages.join());

  test.settings["skriptnd.server"] = server;
  await test.commands["skriptnd.restart"]();
  await edits(await test.open("file:///tmp/model/main.sknd", VALID));
  await edits(await test.open("untitled:Untitled-1", VALID));
  await extension.deactivate();
  console.log(`the extension has ${Object.keys(test.providers).length} providers, and its diagnostics, completions and edits are right`);
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error, test.output.join("\n"));
    process.exit(1);
  },
);
