; Helix has other names of captures than Neovim. The order of patterns does not matter, except for the first one.
(identifier) @variable

(comment) @comment.line
(string) @string
(escape_sequence) @constant.character.escape
(interpolation ["{" "}"] @punctuation.special)
(number) @constant.numeric
(boolean) @constant.builtin.boolean
(constant) @constant.builtin

"import" @keyword.control.import
["public" "optional" "static" "dynamic"] @keyword.storage.modifier
["operator" "graph"] @keyword.storage.type
["if" "then" "elif" "else"] @keyword.control.conditional
["for" "while" "do" "unroll" "with"] @keyword.control.repeat
"yield" @keyword.control.return
["in" "is"] @keyword.operator

(block_name) @attribute
(primitive_type) @type.builtin
(type_name) @type
(type_parameter name: (identifier) @type.parameter)

(import module: (path (identifier) @namespace))
(operator_name) @function
(graph_name) @type
(invocation operator: (path (identifier) @namespace . "."))
(invocation operator: (path (identifier) @function .))
(quantization operator: (path (identifier) @namespace . "."))
(quantization operator: (path (identifier) @function .))
(builtin name: (identifier) @function.builtin)

(attribute name: (identifier) @variable.other.member)
(attribute_block (declaration name: (identifier) @variable.parameter))
(input_block (declaration name: (identifier) @variable.parameter))
(label (identifier) @label)

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
["=" ".." "..." "~" "->" "<-" "<>" "`" "?" "??" "|"] @operator
(assignment_operator) @operator
(binary operator: ["=>" "&&" "||" "^" "<" "<=" ">" ">=" "==" "!=" "<<" ">>" "<?" ">?" "+" "-" "*" "/" "%" "\\" "**"] @operator)
(fold operator: _ @operator)
(unary operator: _ @operator)
