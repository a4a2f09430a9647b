// SPDX-License-Identifier: Apache-2.0
// The part of CodeMirror that the page uses, as one object. scripts/playground-editor.sh bundles it.
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { bracketMatching, indentUnit } from "@codemirror/language";
export { closeLintPanel, forEachDiagnostic, lintGutter, lintKeymap, openLintPanel, setDiagnostics } from "@codemirror/lint";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
export {
  Decoration, EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, hoverTooltip, keymap,
  lineNumbers, showTooltip,
} from "@codemirror/view";
