; For Helix.
[
  (body)
  (dtype_block)
  (attribute_block)
  (input_block)
  (declaration_block)
  (using_block)
  (assert_block)
  (lower_block)
  (compose_block)
  (quantize_block)
  (labelled_block)
  (attributes)
  (list)
  (arguments)
  (tuple)
] @indent
["}" ")" "]"] @outdent
