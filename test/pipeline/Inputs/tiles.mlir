// Formulas in tiles that do not divide their loops.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %window, %product, %map = transform.split_handle %all
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %w, %wl:2 = transform.structured.tile_using_for %window tile_sizes [3, 2]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %p, %pl:3 = transform.structured.tile_using_for %product tile_sizes [2, 3, 2]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    %m, %ml = transform.structured.tile_using_for %map tile_sizes [0, 2]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
