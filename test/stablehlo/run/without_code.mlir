// Every operation of today's StableHLO that is not supported here, as the printer of the OpenXLA project writes it: all are named at
// once, and the types as well.
// RUN: not skript run %s --message-format=short 2>&1 | FileCheck %s
// RUN: not skript-translate --from-stablehlo %s 2>&1 | FileCheck %s

// CHECK: error{{.*}}: not supported:
// CHECK-SAME: `stablehlo.after_all` (line
// CHECK-SAME: `stablehlo.all_gather` (line
// CHECK-SAME: `stablehlo.all_reduce` (line
// CHECK-SAME: `stablehlo.all_to_all` (line
// CHECK-SAME: `stablehlo.batch_norm_grad` (line
// CHECK-SAME: `stablehlo.batch_norm_inference` (line
// CHECK-SAME: `stablehlo.batch_norm_training` (line
// CHECK-SAME: `stablehlo.broadcast` (line
// CHECK-SAME: `stablehlo.collective_broadcast` (line
// CHECK-SAME: `stablehlo.collective_permute` (line
// CHECK-SAME: `stablehlo.create_token` (line
// CHECK-SAME: `stablehlo.cross-replica-sum` (line
// CHECK-SAME: `stablehlo.custom_call @foo` (line
// CHECK-SAME: `stablehlo.dot` (line
// CHECK-SAME: `stablehlo.einsum` (line
// CHECK-SAME: `stablehlo.tuple` (line
// CHECK-SAME: `stablehlo.get_tuple_element` (line
// CHECK-SAME: `stablehlo.infeed` (line
// CHECK-SAME: `stablehlo.map` (line
// CHECK-SAME: `stablehlo.outfeed` (line
// CHECK-SAME: `stablehlo.partition_id` (line
// CHECK-SAME: `stablehlo.replica_id` (line
// CHECK-SAME: `stablehlo.recv` (line
// CHECK-SAME: `stablehlo.send` (line
// CHECK-SAME: `stablehlo.reduce_scatter` (line
// CHECK-SAME: `stablehlo.rng` (line
// CHECK-SAME: `stablehlo.set_dimension_size` (line
// CHECK-SAME: `stablehlo.torch_index_select` (line
// CHECK-SAME: `stablehlo.unary_einsum` (line
// CHECK-SAME: `stablehlo.uniform_quantize` (line
// CHECK-SAME: `stablehlo.uniform_dequantize` (line
// CHECK-SAME: `stablehlo.async_start` (line
// CHECK-SAME: `stablehlo.async_done` (line
// CHECK-SAME: `!stablehlo.token` (line
// CHECK-SAME: `!quant.uniform` (line
// CHECK-SAME: `!stablehlo.future` (line
// CHECK-SAME: `f8E4M3FN` (line
// CHECK-SAME: `ui2` (line

func.func @after_all(%arg0: !stablehlo.token) {
  %0 = stablehlo.after_all %arg0, %arg0 : !stablehlo.token
  return
}
func.func @all_gather(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}
func.func @all_reduce(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @all_to_all(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @batch_norm_grad(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>) {
  %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
func.func @batch_norm_inference(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return
}
func.func @batch_norm_training(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>) {
  %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
func.func @broadcast(%arg0: tensor<4xf32>) {
  %0 = stablehlo.broadcast %arg0, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}
func.func @collective_broadcast(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @collective_permute(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @create_token() {
  %0 = stablehlo.create_token : !stablehlo.token
  return
}
func.func @cross_replica_sum(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @custom_call(%arg0: tensor<4xf32>) {
  %0 = stablehlo.custom_call @foo(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @dot(%arg0: tensor<4xf32>) {
  %0 = stablehlo.dot %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}
func.func @einsum(%arg0: tensor<4xf32>) {
  %0 = stablehlo.einsum %arg0, %arg0, config = "i,i->i" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @tuple_get_tuple_element(%arg0: tensor<4xf32>) {
  %0 = stablehlo.tuple %arg0, %arg0 : tuple<tensor<4xf32>, tensor<4xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  return
}
func.func @infeed(%arg0: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%arg0) <{infeed_config = "c", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}
func.func @map(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.map"(%arg0, %arg0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @outfeed(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
func.func @partition_id() {
  %0 = stablehlo.partition_id : tensor<ui32>
  return
}
func.func @replica_id() {
  %0 = stablehlo.replica_id : tensor<ui32>
  return
}
func.func @recv(%arg0: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}
func.func @send(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) {
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
func.func @reduce_scatter(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}
func.func @rng(%arg0: tensor<f32>, %arg1: tensor<1xi64>) {
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return
}
func.func @set_dimension_size(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return
}
func.func @torch_index_select(%arg0: tensor<4x2xf32>, %arg1: tensor<2xi32>) {
  %0 = "stablehlo.torch_index_select"(%arg0, %arg1) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}
func.func @unary_einsum(%arg0: tensor<4xf32>) {
  %0 = stablehlo.unary_einsum %arg0, config = "i->" : (tensor<4xf32>) -> tensor<f32>
  return
}
func.func @uniform(%arg0: tensor<4xf32>) {
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e-01:30>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 1.000000e-01:30>>) -> tensor<4xf32>
  return
}
func.func @async(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%arg1: tensor<4xf32>):
    %2 = stablehlo.add %arg1, %arg1 : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return
}
func.func @types(%arg0: tensor<4xf32>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xui2>
  return
}
