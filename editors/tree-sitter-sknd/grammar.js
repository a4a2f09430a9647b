// SPDX-License-Identifier: Apache-2.0
// The grammar of SkriptND for editors. `frontend/src/syntax/skript.pest` defines the language: this grammar accepts
// every valid file of both editions, and more, because an editor parses files while they are written.
/// <reference types="tree-sitter-cli/dsl" />

// The levels of operators, from the loosest to the tightest (docs/language.md, 2.16).
const LEVEL = { select: 1, implies: 2, logic: 3, compare: 4, extremum: 5, sum: 6, product: 7, unary: 8, power: 9, index: 10 };

const BINARY = [
  [LEVEL.implies, ["=>"]],
  [LEVEL.logic, ["&&", "||", "^"]],
  [LEVEL.compare, ["<", "<=", ">", ">=", "==", "!=", "is", "in"]],
  [LEVEL.extremum, ["<<", ">>", "<?", ">?"]],
  [LEVEL.sum, ["+", "-"]],
  [LEVEL.product, ["*", "/", "%", "\\"]],
  [LEVEL.power, ["**"]],
];
// The operators that are repeated over the items of a pack: `xs + ..`.
const FOLDS = [
  [LEVEL.logic, ["&&", "||"]],
  [LEVEL.compare, ["<", "<=", ">", ">=", "==", "!=", ":="]],
  [LEVEL.extremum, ["<<", ">>", "<?", ">?"]],
  [LEVEL.sum, ["+"]],
  [LEVEL.product, ["*"]],
];
const ASSIGNMENTS = ["=", ":=", "+=", "*=", "&=", "|=", "<=", ">=", "<?=", ">?="];

const oneOf = (names) => (names.length === 1 ? names[0] : choice(...names));
const list = (rule) => seq(rule, repeat(seq(",", rule)));
const statements = (rule) => seq("{", repeat(seq(rule, ";")), "}");
const block = ($, name, rule) => seq(field("name", alias(name, $.block_name)), statements(rule));
const quoted = ($, quote, content) =>
  seq(
    quote,
    repeat(choice(alias(token.immediate(prec(1, content)), $.string_content), $.escape_sequence, $.interpolation)),
    token.immediate(quote),
  );

module.exports = grammar({
  name: "sknd",
  word: ($) => $.identifier,
  extras: ($) => [/[ \t\r\n]/, $.comment],
  supertypes: ($) => [$.expression],
  inline: ($) => [$._value],
  // `f<T>{…}(x)` is an invocation, `a < b` a comparison.
  conflicts: ($) => [[$.invocation, $.expression]],

  rules: {
    source_file: ($) => repeat(choice($.import, $.definition)),
    comment: () => token(seq("#", /[^\n]*/)),
    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    path: ($) => prec.right(seq($.identifier, repeat(seq(".", $.identifier)))),

    import: ($) => seq("import", list(field("module", $.path)), ";"),
    definition: ($) =>
      seq(
        optional("public"),
        choice(
          seq("operator", field("name", alias($.identifier, $.operator_name))),
          seq("graph", field("name", alias($.identifier, $.graph_name))),
        ),
        field("body", $.body),
      ),
    body: ($) =>
      seq(
        "{",
        repeat(
          choice(
            $.dtype_block,
            $.input_block,
            $.attribute_block,
            $.declaration_block,
            $.using_block,
            $.assert_block,
            $.lower_block,
            $.compose_block,
            $.quantize_block,
          ),
        ),
        "}",
      ),

    // ---- blocks
    dtype_block: ($) => block($, "@dtype", $.type_parameter),
    attribute_block: ($) => block($, "@attrib", $.declaration),
    input_block: ($) => block($, "@input", choice($.declaration, $.helper)),
    declaration_block: ($) => block($, choice("@constant", "@variable", "@output"), $.declaration),
    using_block: ($) => block($, "@using", $.helper),
    assert_block: ($) => block($, "@assert", $.assertion),
    lower_block: ($) => block($, "@lower", $.formula),
    compose_block: ($) => block($, choice("@compose", "@update"), $.component),
    quantize_block: ($) => block($, "@quantize", $.quantization),

    type_parameter: ($) =>
      seq(field("name", $.identifier), ":", field("bound", $._type), optional(seq("=", field("default", $._type)))),
    declaration: ($) =>
      seq(field("name", $.identifier), ":", field("type", $.type), optional(seq("=", $.expression, repeat(seq(",", $.loop_bound))))),
    loop_bound: ($) => seq(field("index", $.identifier), "<", $.expression),
    helper: ($) => seq(choice($.helper_list, $._helper_name), "=", $.expression),
    helper_list: ($) => seq("[", list(choice("~", $.zip, $._helper_name)), "]"),
    _helper_name: ($) => seq(field("name", $.identifier), optional($.pack)),
    zip: ($) => seq("(", list(field("name", $.identifier)), ")", optional($.pack)),
    assertion: ($) => seq($.expression, optional(seq(":", $.string)), repeat(seq(",", $.assertion_value))),
    assertion_value: ($) => prec.right(seq(optional(prec(1, seq($.string, ":"))), $.expression)),
    quantization: ($) =>
      seq(field("tensor", $.path), ":", field("operator", $.path), optional($.type_arguments), optional($.attributes)),

    // ---- types
    _type: ($) => choice($.primitive_type, alias($.identifier, $.type_name)),
    primitive_type: () => choice("int", "real", "bool", "str"),
    type: ($) => seq(repeat(choice("optional", $._marker)), $._type, optional($.rank), optional($.shape), optional($.pack)),
    rank: ($) => seq("^", "(", $.expression, ")"),
    shape: ($) => seq("[", optional(list($.extent)), "]"),
    extent: ($) => seq(optional(".."), optional($._marker), choice("~", $.expression), optional($._bound), optional($.pack)),
    pack: ($) => prec.right(seq("..", optional(seq("(", optional($._marker), $.expression, optional($._bound), ")")))),
    _bound: ($) => seq("|", $.expression),
    _marker: () => choice("static", "dynamic"),

    // ---- compositions
    component: ($) => seq(list($._target), "=", $._value),
    _target: ($) => choice($.target_list, $._target_item),
    target_list: ($) => seq("[", list($._target_item), "]"),
    _target_item: ($) => choice("~", $.zip, $.target),
    target: ($) => seq(field("name", $.identifier), optional(choice(seq(":", field("type", $.type)), $.pack))),
    _value: ($) => choice($.branching, $.looping, $._part),
    _part: ($) => choice($.labelled_block, seq(field("label", $.label), $.invocation), $.expression),
    label: ($) => seq($.identifier, ":"),
    labelled_block: ($) => seq(optional($.label), "{", repeat(choice($.yield, seq($.component, ";"))), "}"),
    yield: ($) => seq("yield", list($.expression), ";"),
    branching: ($) =>
      seq("if", $._part, "then", $._part, repeat(seq("elif", $._part, "then", $._part)), "else", $._part),
    looping: ($) =>
      seq(
        optional(seq("with", list($.carried))),
        optional(seq("for", list($.scan))),
        optional($.condition),
        choice("do", "unroll"),
        optional($.count),
        $._part,
        optional($.condition),
      ),
    condition: ($) => seq("while", $._part),
    carried: ($) => seq(field("name", $.identifier), optional(seq(":", field("type", $.type))), "=", $.expression),
    scan: ($) => seq(field("name", $.identifier), ":", $.expression),
    count: ($) =>
      seq("..", "(", choice(seq(field("index", $.identifier), "->", optional($.expression)), $.expression), ")"),

    // ---- formulas
    formula: ($) =>
      seq(
        optional(seq("unroll", $.count)),
        choice(seq("with", list($.local), ":"), repeat(seq($.local, ","))),
        field("target", $.identifier),
        $.subscripts,
        optional($.subscripts),
        alias(choice(...ASSIGNMENTS), $.assignment_operator),
        $.expression,
        repeat(seq(",", $.loop_bound)),
        optional(seq("|", $.expression)),
      ),
    local: ($) => seq(field("name", $.identifier), "=", $.expression),

    // ---- expressions
    expression: ($) =>
      choice(
        $.number,
        $.boolean,
        $.constant,
        $.string,
        $.tuple,
        $.list,
        $.builtin,
        $.invocation,
        $.path,
        $.guard,
        $.access,
        $.substitution,
        $.unary,
        $.binary,
        $.fold,
        $.select,
        $.coalesce,
      ),
    select: ($) =>
      prec.right(LEVEL.select, seq($.expression, "?", $.expression, optional(seq(":", $.expression)))),
    coalesce: ($) => prec.right(LEVEL.select, seq($.expression, "??", $.expression)),
    binary: ($) =>
      choice(
        ...BINARY.map(([level, operators]) =>
          prec.left(level, seq($.expression, field("operator", oneOf(operators)), $.expression)),
        ),
      ),
    fold: ($) =>
      choice(
        ...FOLDS.map(([level, operators]) =>
          prec.left(level, seq($.expression, field("operator", oneOf(operators)), choice("..", "..."))),
        ),
      ),
    unary: ($) => prec(LEVEL.unary, seq(field("operator", choice("+", "-", "!", "?")), $.expression)),
    access: ($) => prec.left(LEVEL.index, seq($.expression, $.subscripts)),
    substitution: ($) => prec.right(LEVEL.select, seq($.access, "<-", $.expression)),

    tuple: ($) => seq("(", list($.expression), ")"),
    list: ($) => seq("[", optional(list($._item)), "]"),
    _item: ($) => seq($.expression, optional(choice($.range, $.pack))),
    range: ($) => prec.right(seq(":", $.expression, optional(seq(":", $.expression)))),
    builtin: ($) => seq("`", field("name", $.identifier), "`", $.arguments),
    invocation: ($) =>
      choice(
        seq(field("operator", $.primitive_type), $.arguments),
        seq(field("operator", $.path), optional($.attributes), $.arguments),
        prec.dynamic(1, seq(field("operator", $.path), $.type_arguments, optional($.attributes), $.arguments)),
      ),
    type_arguments: ($) => seq("<", list($._type), ">"),
    attributes: ($) => seq("{", optional(seq(list($.attribute), optional(","))), "}"),
    attribute: ($) => seq(field("name", $.identifier), "=", $.expression),
    arguments: ($) => seq("(", optional(list(choice("~", $.expression))), ")"),

    subscripts: ($) => seq("[", optional(seq(list($._subscript), optional(","))), "]"),
    _subscript: ($) => choice($.slice, seq($.expression, optional(choice($.slice, $.pack)))),
    slice: ($) => prec.right(seq(":", optional($.expression), optional(seq(":", optional($.expression))))),
    guard: ($) => seq("|", $.expression, optional(seq("<>", $.expression, ":", $.expression)), "|"),

    // ---- literals
    // The dot of `1.` follows directly: `1..` is the beginning of a pack.
    number: ($) => choice($._integer, $._real, seq($._integer, token.immediate("."))),
    _integer: () => /[0-9]+/,
    _real: () => /[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?|\.?[eE][+-]?[0-9]+)/,
    boolean: () => choice("true", "false"),
    constant: () => choice("inf", "pi"),
    string: ($) => prec.right(repeat1(choice(quoted($, '"', /[^"\\{\n]+/), quoted($, "'", /[^'\\{\n]+/)))),
    escape_sequence: () => token.immediate(/\\[^\n]/),
    interpolation: ($) => seq(token.immediate("{"), $.expression, "}"),
  },
});
