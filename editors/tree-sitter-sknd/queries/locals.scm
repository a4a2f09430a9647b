; A definition is a scope, in which every name has one meaning.
(definition) @local.scope

(operator_name) @local.definition.function
(graph_name) @local.definition.type
(type_parameter name: (identifier) @local.definition.type)
(attribute_block (declaration name: (identifier) @local.definition.parameter))
(input_block (declaration name: (identifier) @local.definition.parameter))
(declaration_block (declaration name: (identifier) @local.definition.var))
(helper name: (identifier) @local.definition.var)
(helper_list name: (identifier) @local.definition.var)
(zip name: (identifier) @local.definition.var)
(target name: (identifier) @local.definition.var)
(carried name: (identifier) @local.definition.var)
(scan name: (identifier) @local.definition.var)
(count index: (identifier) @local.definition.var)
(local name: (identifier) @local.definition.var)
(loop_bound index: (identifier) @local.definition.var)

(path . (identifier) @local.reference)
(type_name) @local.reference
