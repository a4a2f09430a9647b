; A definition is a scope, in which every name has one meaning.
(definition) @local.scope

(operator_name) @local.definition.function
(graph_name) @local.definition.type
(type_parameter name: (identifier) @local.definition.type)
(attribute_block (declaration name: (identifier) @local.definition.variable.parameter))
(input_block (declaration name: (identifier) @local.definition.variable.parameter))
(declaration_block (declaration name: (identifier) @local.definition.variable))
(helper name: (identifier) @local.definition.variable)
(helper_list name: (identifier) @local.definition.variable)
(zip name: (identifier) @local.definition.variable)
(target name: (identifier) @local.definition.variable)
(carried name: (identifier) @local.definition.variable)
(scan name: (identifier) @local.definition.variable)
(count index: (identifier) @local.definition.variable)
(local name: (identifier) @local.definition.variable)
(loop_bound index: (identifier) @local.definition.variable)

(path . (identifier) @local.reference)
(type_name) @local.reference
