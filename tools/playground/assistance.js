// SPDX-License-Identifier: Apache-2.0
// Quick fixes of diagnostics, and the signature of the operator that is being invoked.

// Quick fixes.

/** Requests the fixes of all diagnostics of a text. */
function requestFixes(state) {
  const range = { start: positionAt(state.doc, 0), end: positionAt(state.doc, state.doc.length) };
  return about(state, "textDocument/codeAction", { range, context: { diagnostics: [] } });
}

/** The fixes of a diagnostic as actions of the editor. They are for this text alone. */
function actionsOf(diagnostic, fixes, doc) {
  const isSame = (one) => one.code === diagnostic.code && one.message === diagnostic.message && JSON.stringify(one.range) === JSON.stringify(diagnostic.range);
  const own = (fixes ?? []).filter((fix) => fix.diagnostics.some(isSame));
  return own.map((fix) => ({ name: fix.title, apply: (view) => applyFix(view, fix, doc) }));
}

function applyFix(view, fix, doc) {
  if (!view.state.doc.eq(doc)) return say("The text has changed since this fix was found.");
  const edits = Object.values(fix.edit.changes).flat();
  view.dispatch({ changes: edits.map((edit) => ({ ...rangeAt(doc, edit.range), insert: edit.newText })), userEvent: "input.fix" });
  view.focus();
}

/** Applies the first fix at the cursor, or else the first one of its line. */
function fixHere(view) {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  const found = [];
  CodeMirror.forEachDiagnostic(view.state, (diagnostic, from, to) => {
    if (diagnostic.actions?.length && from <= line.to && to >= line.from) found.push({ action: diagnostic.actions[0], isHere: from <= head && head <= to });
  });
  const { action } = found.find(({ isHere }) => isHere) ?? found[0] ?? {};
  if (action) action.apply(view);
  else say("There is no fix for this line.");
  return true;
}

// Signatures.

const signatureShown = CodeMirror.StateEffect.define();
const signatures = CodeMirror.StateField.define({
  create: () => null,
  update(tooltip, transaction) {
    for (const effect of transaction.effects) if (effect.is(signatureShown)) return effect.value;
    return tooltip && transaction.docChanged ? { ...tooltip, pos: transaction.changes.mapPos(tooltip.pos) } : tooltip;
  },
  provide: (field) => CodeMirror.showTooltip.from(field),
});

let signatureTimer;
/** Requests the signature around the cursor, after a pause in typing. */
function requestSignature(view, pause = 120) {
  clearTimeout(signatureTimer);
  signatureTimer = setTimeout(async () => {
    const { doc, selection } = view.state;
    const help = await about(view.state, "textDocument/signatureHelp", { position: positionAt(doc, selection.main.head) });
    if (!view.state.doc.eq(doc) || view.state.selection.main.head !== selection.main.head) return;
    const found = help?.signatures?.[help.activeSignature ?? 0];
    const tooltip = found ? { pos: selection.main.head, above: true, create: () => ({ dom: signatureBox(found, help.activeParameter) }) } : null;
    if (tooltip || view.state.field(signatures)) view.dispatch({ effects: signatureShown.of(tooltip) });
  }, pause);
  return true;
}

function hideSignature(view) {
  clearTimeout(signatureTimer);
  if (!view.state.field(signatures)) return false;
  view.dispatch({ effects: signatureShown.of(null) });
  return true;
}

/** The signature with its current parameter marked, and the first paragraph of its comment. */
function signatureBox({ label, parameters = [], documentation }, active) {
  const box = document.createElement("div");
  box.className = "markdown signature";
  const code = add(box, "pre");
  const current = parameters[active]?.label;
  const [start, end] = typeof current === "string" ? [label.indexOf(current), label.indexOf(current) + current.length] : (current ?? [0, 0]);
  add(code, "span", label.slice(0, Math.max(0, start)));
  add(code, "b", label.slice(Math.max(0, start), end));
  add(code, "span", label.slice(end));
  const comment = documentation?.value?.split(/\n{2,}/)[0];
  if (comment) add(box, "p", comment);
  return box;
}

/** Shows signatures while arguments are typed. */
const signatureTriggers = CodeMirror.EditorView.updateListener.of((update) => {
  const isOpen = Boolean(update.state.field(signatures));
  let typed = "";
  if (update.transactions.some((one) => one.isUserEvent("input"))) update.changes.iterChanges((a, b, c, d, text) => { typed += text.toString(); });
  if (/[({,=]/.test(typed) || (isOpen && (update.docChanged || update.selectionSet))) requestSignature(update.view);
  if (isOpen && update.focusChanged && !update.view.hasFocus) setTimeout(() => hideSignature(update.view));
});
