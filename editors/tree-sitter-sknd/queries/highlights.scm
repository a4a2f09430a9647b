; The captures have the kinds of the semantic tokens of skript-language-server.
(identifier) @variable

(comment) @comment
(string) @string
(escape_sequence) @string.escape
(interpolation ["{" "}"] @punctuation.special)
(number) @number
(boolean) @boolean
(constant) @constant.builtin

["import" "public" "operator" "graph"] @keyword
["optional" "static" "dynamic"] @keyword.modifier
["if" "then" "elif" "else"] @keyword.conditional
["for" "while" "do" "unroll" "with"] @keyword.repeat
"yield" @keyword.return
["in" "is"] @keyword.operator

(block_name) @attribute
(primitive_type) @type.builtin
(type_name) @type
(type_parameter name: (identifier) @type)

(import module: (path (identifier) @module))
(operator_name) @function
(graph_name) @type
(invocation operator: (path (identifier) @module . "."))
(invocation operator: (path (identifier) @function.call .))
(quantization operator: (path (identifier) @module . "."))
(quantization operator: (path (identifier) @function.call .))
(builtin name: (identifier) @function.builtin)

(attribute name: (identifier) @property)
(attribute_block (declaration name: (identifier) @variable.parameter))
(input_block (declaration name: (identifier) @variable.parameter))
(label (identifier) @label)

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
(guard "|" @punctuation.bracket)

["=" ".." "..." "~" "->" "<-" "<>" "`"] @operator
(assignment_operator) @operator
(binary operator: _ @operator)
(binary operator: ["in" "is"] @keyword.operator)
(fold operator: _ @operator)
(unary operator: _ @operator)
(select ["?" ":"] @operator)
(coalesce "??" @operator)
