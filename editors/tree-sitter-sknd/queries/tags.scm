(definition (operator_name) @name) @definition.function
(definition (graph_name) @name) @definition.class
(invocation operator: (path (identifier) @name .)) @reference.call
