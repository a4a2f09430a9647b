// SPDX-License-Identifier: Apache-2.0
// The editor, with the diagnostics, colours, hovers and completions of the language server.
const { EditorView, EditorState, StateField, StateEffect, Decoration } = CodeMirror;

/** The number of changes of the text. */
let version = 1;
/** Called with each new text, and when the cursor moves to another line. */
const textListeners = [];
const lineListeners = [];

const offsetAt = (doc, { line, character }) => {
  const found = doc.line(Math.min(line + 1, doc.lines));
  return Math.min(found.from + character, found.to);
};
const positionAt = (doc, offset) => {
  const line = doc.lineAt(offset);
  return { line: line.number - 1, character: offset - line.from };
};
const rangeAt = (doc, { start, end }) => ({ from: offsetAt(doc, start), to: offsetAt(doc, end) });
const textDocument = { uri: "" };

/** Requests a method for the current text. The answer is undefined if the text changes before it arrives, or it fails. */
async function about(state, method, params = {}) {
  const at = version;
  try {
    const answer = await language(at, state.doc.toString(), method, { textDocument, ...params });
    return at === version ? answer : undefined;
  } catch (error) {
    if (!(error instanceof Obsolete)) showProblems(error.message);
    return undefined;
  }
}

// Colours.

const coloured = StateEffect.define();
const colours = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) if (effect.is(coloured)) return effect.value;
    return marks.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Decorations of semantic tokens, which are relative to each other. */
function decorations(doc, data, legend) {
  const builder = new CodeMirror.RangeSetBuilder();
  let line = 0, column = 0;
  for (let at = 0; at + 4 < data.length; at += 5) {
    const [lines, columns, length, type, modifiers] = data.slice(at, at + 5);
    column = lines === 0 ? column + columns : columns;
    line += lines;
    const from = offsetAt(doc, { line, character: column });
    const to = Math.min(from + length, doc.length);
    const set = legend.tokenModifiers.filter((_, bit) => modifiers & (1 << bit)).map((name) => `is-${name}`);
    const kind = [`token-${legend.tokenTypes[type]}`, ...set].join(" ");
    if (from < to) builder.add(from, to, Decoration.mark({ class: kind }));
  }
  return builder.finish();
}

// The lines of the text from which a selected line of a view comes.
const marked = StateEffect.define();
const marks = StateField.define({
  create: () => Decoration.none,
  update(lines, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(marked)) {
        const { doc } = transaction.state;
        const known = effect.value.filter((line) => line >= 1 && line <= doc.lines).sort((a, b) => a - b);
        return Decoration.set(known.map((line) => Decoration.line({ class: "origin" }).range(doc.line(line).from)));
      }
    }
    return lines.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function markLines(lines, scrolls) {
  const effects = [marked.of(lines)];
  if (scrolls && lines.length > 0) {
    effects.push(EditorView.scrollIntoView(editor.state.doc.line(Math.min(...lines)).from, { y: "center" }));
  }
  editor.dispatch({ effects });
}

// Markdown of hovers: code between fences, paragraphs, and `code` in them.

function markdown(text) {
  const box = document.createElement("div");
  box.className = "markdown";
  text.split(/^```.*$/m).forEach((part, index) => {
    if (index % 2 === 1) return void add(box, "pre", part.trim());
    for (const paragraph of part.split(/\n{2,}/)) {
      if (paragraph.trim() === "" || /^-{3,}$/.test(paragraph.trim())) continue;
      const p = add(box, "p");
      paragraph.trim().split(/`([^`\n]+)`/).forEach((piece, at) => add(p, at % 2 === 1 ? "code" : "span", piece));
    }
  });
  return box;
}

const hovers = CodeMirror.hoverTooltip(async (view, offset) => {
  const { doc } = view.state;
  const answer = await about(view.state, "textDocument/hover", { position: positionAt(doc, offset) });
  const text = answer?.contents?.value;
  if (!text) return null;
  const { from, to } = answer.range ? rangeAt(doc, answer.range) : { from: offset, to: offset };
  return { pos: from, end: to, above: true, create: () => ({ dom: markdown(text) }) };
}, { hoverTime: 250 });

// Completion.

const kinds = { 3: "function", 5: "property", 6: "variable", 7: "class", 9: "namespace", 10: "property", 14: "keyword", 21: "constant", 25: "type" };

async function complete(context) {
  const word = context.matchBefore(/\w*/);
  const before = context.state.sliceDoc(Math.max(0, word.from - 1), word.from);
  if (!context.explicit && word.from === word.to && !/[.@{`]/.test(before)) return null;
  const { state } = context;
  const answer = await about(state, "textDocument/completion", { position: positionAt(state.doc, context.pos) });
  const items = answer?.items ?? answer;
  if (!items || items.length === 0) return null;
  const options = items.map((item) => ({
    label: item.label,
    type: kinds[item.kind],
    detail: item.detail && item.detail.length > 60 ? `${item.detail.slice(0, 59)}…` : item.detail,
    apply: item.insertText ?? item.label,
    info: item.data ? () => documentation(item) : undefined,
  }));
  // An incomplete list is requested again with the next key.
  return { from: word.from, options, validFor: answer.isIncomplete ? undefined : /^\w*$/ };
}

async function documentation(item) {
  const resolved = await about(editor.state, "completionItem/resolve", item);
  const text = resolved?.documentation?.value;
  return text ? markdown(text) : null;
}

// Checks after each change.

let timer;
function schedule() {
  clearTimeout(timer);
  timer = setTimeout(check, 120);
}

async function check() {
  const { state } = editor;
  const [diagnostics, tokens, fixes] = await Promise.all([
    about(state, "diagnostics"), about(state, "textDocument/semanticTokens/full"), requestFixes(state),
  ]);
  const server = tokens && (await capabilities().catch(() => undefined));
  const { doc } = editor.state;
  if (tokens && server && doc.eq(state.doc)) {
    const { legend } = server.semanticTokensProvider;
    editor.dispatch({ effects: coloured.of(decorations(doc, tokens.data, legend)) });
  }
  if (diagnostics && doc.eq(state.doc)) showDiagnostics(diagnostics, fixes);
}

function showDiagnostics(diagnostics, fixes) {
  const { doc } = editor.state;
  const shown = diagnostics.map((diagnostic) => {
    const { range, severity, code, message, relatedInformation = [] } = diagnostic;
    const { from, to } = rangeAt(doc, range);
    const notes = relatedInformation.map(({ location: { range }, message }) => `line ${range.start.line + 1}: ${message}`);
    const text = [message, ...notes].join("\n");
    return { from, to: Math.max(from, to), severity: severity === 1 ? "error" : "warning", source: code, message: text, actions: actionsOf(diagnostic, fixes, doc) };
  });
  editor.dispatch(CodeMirror.setDiagnostics(editor.state, shown));
  const count = (severity, name) => {
    const number = shown.filter((one) => one.severity === severity).length;
    return number === 0 ? [] : [`${number} ${name}${number === 1 ? "" : "s"}`];
  };
  const counts = [...count("error", "error"), ...count("warning", "warning")];
  showProblems(counts.join(", ") || "no problems", counts.length > 0 ? shown[0].severity : "good");
  if (counts.length === 0) CodeMirror.closeLintPanel(editor);
}

function showProblems(text, kind = "error") {
  const button = document.getElementById("problems");
  button.textContent = text;
  button.className = kind;
}

async function format() {
  const { state } = editor;
  const edits = await about(state, "textDocument/formatting", { options: { tabSize: 4, insertSpaces: true } });
  if (!edits) return;
  const changes = edits.map((edit) => ({ ...rangeAt(state.doc, edit.range), insert: edit.newText }));
  const cursor = positionAt(state.doc, state.selection.main.head);
  if (changes.length > 0) {
    editor.dispatch({ changes });
    editor.dispatch({ selection: { anchor: offsetAt(editor.state.doc, cursor) } });
  }
  say(changes.length > 0 ? "The text is formatted." : "The text is formatted already.");
}

function setText(text) {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
}

const keys = [
  { key: "Mod-s", preventDefault: true, run: () => { format(); return true; } },
  { key: "Mod-.", preventDefault: true, run: fixHere },
  { key: "Mod-Shift-Space", preventDefault: true, run: (view) => requestSignature(view, 0) },
  { key: "Escape", run: hideSignature },
  ...CodeMirror.closeBracketsKeymap, ...CodeMirror.completionKeymap, ...CodeMirror.lintKeymap, ...CodeMirror.searchKeymap,
  ...CodeMirror.historyKeymap, ...CodeMirror.defaultKeymap, CodeMirror.indentWithTab,
];

const editor = new EditorView({
  parent: document.getElementById("editor"),
  state: EditorState.create({
    extensions: [
      CodeMirror.lineNumbers(), CodeMirror.highlightActiveLineGutter(), CodeMirror.highlightSpecialChars(), CodeMirror.history(),
      CodeMirror.drawSelection(), CodeMirror.indentUnit.of("    "), EditorState.tabSize.of(4), CodeMirror.bracketMatching(),
      CodeMirror.closeBrackets(), CodeMirror.highlightActiveLine(), CodeMirror.highlightSelectionMatches(), CodeMirror.search({ top: true }),
      CodeMirror.autocompletion({ override: [complete], activateOnTyping: true }), CodeMirror.lintGutter(), hovers, colours, marks, signatures,
      signatureTriggers,
      CodeMirror.keymap.of(keys), EditorView.contentAttributes.of({ "aria-label": "Text of the model", spellcheck: "false" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          version += 1;
          schedule();
          textListeners.forEach((listener) => listener());
        }
        if (update.docChanged || update.selectionSet) {
          const { doc, selection } = update.state;
          const line = doc.lineAt(selection.main.head);
          document.getElementById("position").textContent = `${line.number}:${selection.main.head - line.from + 1}`;
          lineListeners.forEach((listener) => listener(line.number));
        }
      }),
    ],
  }),
});
