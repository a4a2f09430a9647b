// The last formula in tiles, and in each of them those whose values it reads.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %all = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %window, %product, %map = transform.split_handle %all
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %fused, %loops:2 = transform.structured.fuse %map tile_sizes [1, 3]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
