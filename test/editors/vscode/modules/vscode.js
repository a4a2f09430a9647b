// SPDX-License-Identifier: Apache-2.0
// The part of VS Code's API that vscode-languageclient and the extension use, without an editor. `test` has the other side: it
// opens and changes documents, and reads what the extension registered and reported.
const { URI } = require("vscode-uri");

const record = (...fields) =>
  class {
    constructor(...values) {
      fields.forEach((field, at) => (this[field] = values[at]));
    }
  };
const enumeration = (...names) => Object.fromEntries(names.flatMap((name, at) => [[name, at], [at, name]]));

class EventEmitter {
  listeners = new Set();
  event = (listener, self) => {
    const bound = listener.bind(self);
    this.listeners.add(bound);
    return new Disposable(() => this.listeners.delete(bound));
  };
  fire(value) {
    return Promise.all([...this.listeners].map((listener) => listener(value)));
  }
  dispose() {
    this.listeners.clear();
  }
}

class Disposable {
  constructor(dispose) {
    this.dispose = dispose ?? (() => {});
  }
  static from(...items) {
    return new Disposable(() => items.forEach((item) => item.dispose()));
  }
}

class Position extends record("line", "character") {
  isBefore(other) {
    return this.line < other.line || (this.line === other.line && this.character < other.character);
  }
}

class Range {
  constructor(...ends) {
    [this.start, this.end] =
      ends.length === 2 ? ends : [new Position(ends[0], ends[1]), new Position(ends[2], ends[3])];
  }
}

class CancellationTokenSource {
  emitter = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  cancel() {
    this.token.isCancellationRequested = true;
    this.emitter.fire();
  }
  dispose() {}
}

class TextDocument extends record("uri", "languageId", "version", "text") {
  get fileName() {
    return this.uri.fsPath;
  }
  get isClosed() {
    return false;
  }
  getText() {
    return this.text;
  }
  offsetAt({ line, character }) {
    return this.text.split("\n").slice(0, line).reduce((sum, text) => sum + text.length + 1, 0) + character;
  }
  positionAt(offset) {
    const lines = this.text.slice(0, offset).split("\n");
    return new Position(lines.length - 1, lines.at(-1).length);
  }
}

const events = {};
const event = (name) => (events[name] ??= new EventEmitter());
const test = {
  settings: {},
  providers: {},
  commands: {},
  diagnostics: new Map(),
  messages: [],
  output: [],
  onDiagnostics: new EventEmitter(),
  async open(uri, text) {
    const document = new TextDocument(URI.parse(uri), "sknd", 1, text);
    workspace.textDocuments.push(document);
    await event("onDidOpenTextDocument").fire(document);
    return document;
  },
  // Replaces a part of the text, as an editor does for each key.
  async change(document, start, end, text) {
    const range = new Range(document.positionAt(start), document.positionAt(end));
    document.text = document.text.slice(0, start) + text + document.text.slice(end);
    document.version += 1;
    const contentChanges = [{ range, rangeOffset: start, rangeLength: end - start, text }];
    await event("onDidChangeTextDocument").fire({ document, contentChanges });
  },
};

const collection = () => ({
  set(uri, list) {
    test.diagnostics.set(uri.toString(), list ?? []);
    test.onDiagnostics.fire();
  },
  get: (uri) => test.diagnostics.get(uri.toString()),
  delete: (uri) => test.diagnostics.delete(uri.toString()),
  clear: () => test.diagnostics.clear(),
  dispose() {},
});

const languages = new Proxy(
  {
    createDiagnosticCollection: collection,
    match: (selector, document) =>
      [selector].flat().some((filter) => filter.language === document.languageId && (!filter.scheme || filter.scheme === document.uri.scheme)) ? 10 : 0,
  },
  {
    // `registerHoverProvider` and so on keep the provider.
    get: (own, name) =>
      own[name] ??
      ((_, provider) => {
        test.providers[name.replace(/^register|Provider$/g, "")] = provider;
        return new Disposable(() => delete test.providers[name]);
      }),
  },
);

const withEvents = (own) =>
  new Proxy(own, { get: (target, name) => (/^on[A-Z]/.test(name) ? event(name).event : target[name]) });

const workspace = withEvents({
  textDocuments: [],
  workspaceFolders: undefined,
  getConfiguration: (section) => ({ get: (key, other) => test.settings[section ? `${section}.${key}` : key] ?? other }),
  createFileSystemWatcher: () => new Disposable(),
  applyEdit: async () => true,
});

const say = (kind) => async (text) => void test.messages.push(`${kind}: ${text}`);
const channel = () => {
  const write = (text) => void test.output.push(text);
  return { append: write, appendLine: write, replace: write, clear() {}, show() {}, hide() {}, dispose() {} };
};
const window = withEvents({
  activeTextEditor: undefined,
  tabGroups: { all: [], onDidChangeTabs: event("onDidChangeTabs").event },
  createOutputChannel: channel,
  showErrorMessage: say("error"),
  showWarningMessage: say("warning"),
  showInformationMessage: say("information"),
});

const own = {
  test, languages, workspace, window, EventEmitter, Disposable, Position, Range, CancellationTokenSource,
  version: "1.82.0",
  Uri: URI,
  env: { language: "en", appName: "test" },
  commands: {
    registerCommand(name, command) {
      test.commands[name] = command;
      return new Disposable();
    },
  },
  CancellationError: class extends Error {},
  Diagnostic: record("range", "message", "severity"),
  DiagnosticSeverity: enumeration("Error", "Warning", "Information", "Hint"),
  CompletionItem: record("label", "kind"),
  CompletionTriggerKind: enumeration("Invoke", "TriggerCharacter", "TriggerForIncompleteCompletions"),
  CodeActionKind: new Proxy({ Empty: { value: "", append: (value) => ({ value }) } }, { get: (kinds, name) => kinds[name] ?? { value: String(name) } }),
  Hover: record("contents", "range"),
  Location: record("uri", "range"),
  MarkdownString: record("value"),
  SemanticTokens: record("data"),
  SnippetString: record("value"),
  TextEdit: record("range", "newText"),
};

// Classes and enumerations that the client derives from or reads, but the test does not.
module.exports = new Proxy(own, { get: (target, name) => (target[name] ??= /^[A-Z]/.test(String(name)) ? record() : undefined) });
