// SPDX-License-Identifier: Apache-2.0
// SkriptND and MLIR for highlight.js. The words of SkriptND are those of editors/vscode/syntaxes/sknd.tmLanguage.json; test/site compares them.
(function () {
    "use strict";
    const NAME = "[A-Za-z_][A-Za-z0-9_]*";

    hljs.registerLanguage("sknd", () => {
        const words = {
            keyword: "if then elif else with for while do unroll yield import public operator graph in is optional dynamic static",
            type: "int real bool str type arith num",
            literal: "true false inf pi",
        };
        const escape = { className: "subst", begin: /\\./ };
        const interpolation = { className: "subst", begin: /\{/, end: /\}/, keywords: words };
        return {
            keywords: words,
            contains: [
                { className: "comment", begin: /#/, end: /$/ },
                { className: "string", begin: /"/, end: /"/, contains: [escape, interpolation] },
                { className: "string", begin: /'/, end: /'/, contains: [escape, interpolation] },
                { className: "built_in", begin: new RegExp("`" + NAME + "`") },
                { className: "meta", begin: /@(dtype|attrib|input|using|constant|variable|output|assert|lower|compose|update|quantize)\b/ },
                { beginKeywords: "operator graph", end: /(?=\{)/, contains: [{ className: "title", begin: NAME }] },
                { className: "number", begin: /\b[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)?/ },
            ],
        };
    });

    hljs.registerLanguage("mlir", () => ({
        keywords: {
            $pattern: /[a-z]\w*/,
            keyword: "module attributes loc ins outs dims private public into step to iter_args iterator_types indexing_maps affine_map affine_set dense array true false unit",
            type: "index none tensor memref vector complex tuple",
        },
        contains: [
            { className: "comment", begin: /\/\//, end: /$/ },
            { className: "string", begin: /"/, end: /"/, contains: [{ begin: /\\./ }] },
            { className: "variable", begin: /%[\w$.-]+(:\d+)?(#\d+)?/ },
            { className: "title", begin: /@[\w$.-]+/ },
            { className: "symbol", begin: /\^[\w$.-]+/ },
            { className: "meta", begin: /[#!][\w$.]+/ },
            { className: "built_in", begin: /\b[a-z_]\w*(\.[a-z_][\w.]*)+/ },
            { className: "type", begin: /\b([su]?i\d+|b?f\d+|tf32|f8E\w+)\b/ },
            { className: "number", begin: /\b-?(0x[0-9a-fA-F]+|\d+(\.\d+)?([eE][+-]?\d+)?)\b/ },
        ],
    }));
})();
