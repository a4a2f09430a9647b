// RUN: skript-opt %s --canonicalize > %t.named
// RUN: skript-opt %s --linalg-generalize-named-ops --skript-raise-to-named-linalg --canonicalize | diff %t.named -

// Every named operation of the table comes back from its generic form: the table says what upstream's operations are.

func.func @matmul(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

func.func @matmul1(%a: tensor<6x4xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<6x4xf32>, tensor<6x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

func.func @matmul2(%a: tensor<4x6xf32>, %b: tensor<5x6xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<4x6xf32>, tensor<5x6xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

func.func @matmul3(%a: tensor<6x4xf32>, %b: tensor<5x6xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<6x4xf32>, tensor<5x6xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

func.func @batch_matmul(%a: tensor<2x4x6xf32>, %b: tensor<2x6x5xf32>, %c: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x4x6xf32>, tensor<2x6x5xf32>) outs(%c : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

func.func @batch_matmul1(%a: tensor<2x6x4xf32>, %b: tensor<2x6x5xf32>, %c: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (b, k, i)>, affine_map<(b, i, j, k) -> (b, k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>] ins(%a, %b : tensor<2x6x4xf32>, tensor<2x6x5xf32>) outs(%c : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

func.func @batch_matmul2(%a: tensor<2x4x6xf32>, %b: tensor<2x5x6xf32>, %c: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>] ins(%a, %b : tensor<2x4x6xf32>, tensor<2x5x6xf32>) outs(%c : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

func.func @batch_matmul3(%a: tensor<2x6x4xf32>, %b: tensor<2x5x6xf32>, %c: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (b, k, i)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>] ins(%a, %b : tensor<2x6x4xf32>, tensor<2x5x6xf32>) outs(%c : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

func.func @matvec(%a: tensor<4x6xf32>, %b: tensor<6xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.matvec ins(%a, %b : tensor<4x6xf32>, tensor<6xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @vecmat(%a: tensor<6xf32>, %b: tensor<6x5xf32>, %c: tensor<5xf32>) -> tensor<5xf32> {
  %0 = linalg.vecmat ins(%a, %b : tensor<6xf32>, tensor<6x5xf32>) outs(%c : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

func.func @batch_matvec(%a: tensor<2x4x6xf32>, %b: tensor<2x6xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.batch_matvec ins(%a, %b : tensor<2x4x6xf32>, tensor<2x6xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @batch_vecmat(%a: tensor<2x6xf32>, %b: tensor<2x6x5xf32>, %c: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %0 = linalg.batch_vecmat ins(%a, %b : tensor<2x6xf32>, tensor<2x6x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

func.func @dot(%a: tensor<6xf32>, %b: tensor<6xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0 = linalg.dot ins(%a, %b : tensor<6xf32>, tensor<6xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @conv_1d(%a: tensor<9xf32>, %b: tensor<3xf32>, %c: tensor<7xf32>) -> tensor<7xf32> {
  %0 = linalg.conv_1d ins(%a, %b : tensor<9xf32>, tensor<3xf32>) outs(%c : tensor<7xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

func.func @conv_2d(%a: tensor<8x8xf32>, %b: tensor<3x2xf32>, %c: tensor<6x7xf32>) -> tensor<6x7xf32> {
  %0 = linalg.conv_2d ins(%a, %b : tensor<8x8xf32>, tensor<3x2xf32>) outs(%c : tensor<6x7xf32>) -> tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}

func.func @conv_3d(%a: tensor<6x8x8xf32>, %b: tensor<2x3x2xf32>, %c: tensor<5x6x7xf32>) -> tensor<5x6x7xf32> {
  %0 = linalg.conv_3d ins(%a, %b : tensor<6x8x8xf32>, tensor<2x3x2xf32>) outs(%c : tensor<5x6x7xf32>) -> tensor<5x6x7xf32>
  return %0 : tensor<5x6x7xf32>
}

func.func @conv_1d_nwc_wcf(%a: tensor<2x19x3xf32>, %b: tensor<3x3x4xf32>, %c: tensor<2x7x4xf32>) -> tensor<2x7x4xf32> {
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<2x19x3xf32>, tensor<3x3x4xf32>) outs(%c : tensor<2x7x4xf32>) -> tensor<2x7x4xf32>
  return %0 : tensor<2x7x4xf32>
}

func.func @conv_1d_ncw_fcw(%a: tensor<2x3x19xf32>, %b: tensor<4x3x3xf32>, %c: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<2x3x19xf32>, tensor<4x3x3xf32>) outs(%c : tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  return %0 : tensor<2x4x7xf32>
}

func.func @conv_2d_nhwc_hwcf(%a: tensor<2x17x16x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x17x16x3xf32>, tensor<3x2x3x4xf32>) outs(%c : tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32>
  return %0 : tensor<2x6x7x4xf32>
}

func.func @conv_2d_nhwc_fhwc(%a: tensor<2x17x16x3xf32>, %b: tensor<4x3x2x3xf32>, %c: tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32> {
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x17x16x3xf32>, tensor<4x3x2x3xf32>) outs(%c : tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32>
  return %0 : tensor<2x6x7x4xf32>
}

func.func @conv_2d_nchw_fchw(%a: tensor<2x3x17x16xf32>, %b: tensor<4x3x3x2xf32>, %c: tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32> {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x3x17x16xf32>, tensor<4x3x3x2xf32>) outs(%c : tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  return %0 : tensor<2x4x6x7xf32>
}

func.func @conv_2d_ngchw_fgchw(%a: tensor<2x5x3x17x16xf32>, %b: tensor<4x5x3x3x2xf32>, %c: tensor<2x5x4x6x7xf32>) -> tensor<2x5x4x6x7xf32> {
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x5x3x17x16xf32>, tensor<4x5x3x3x2xf32>) outs(%c : tensor<2x5x4x6x7xf32>) -> tensor<2x5x4x6x7xf32>
  return %0 : tensor<2x5x4x6x7xf32>
}

func.func @conv_2d_ngchw_gfchw(%a: tensor<2x5x3x17x16xf32>, %b: tensor<5x4x3x3x2xf32>, %c: tensor<2x5x4x6x7xf32>) -> tensor<2x5x4x6x7xf32> {
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x5x3x17x16xf32>, tensor<5x4x3x3x2xf32>) outs(%c : tensor<2x5x4x6x7xf32>) -> tensor<2x5x4x6x7xf32>
  return %0 : tensor<2x5x4x6x7xf32>
}

func.func @conv_2d_nhwgc_gfhwc(%a: tensor<2x17x16x5x3xf32>, %b: tensor<5x4x3x2x3xf32>, %c: tensor<2x6x7x5x4xf32>) -> tensor<2x6x7x5x4xf32> {
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x17x16x5x3xf32>, tensor<5x4x3x2x3xf32>) outs(%c : tensor<2x6x7x5x4xf32>) -> tensor<2x6x7x5x4xf32>
  return %0 : tensor<2x6x7x5x4xf32>
}

func.func @conv_3d_ndhwc_dhwcf(%a: tensor<2x12x17x16x3xf32>, %b: tensor<2x3x2x3x4xf32>, %c: tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32> {
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<2x12x17x16x3xf32>, tensor<2x3x2x3x4xf32>) outs(%c : tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32>
  return %0 : tensor<2x5x6x7x4xf32>
}

func.func @conv_3d_ncdhw_fcdhw(%a: tensor<2x3x12x17x16xf32>, %b: tensor<4x3x2x3x2xf32>, %c: tensor<2x4x5x6x7xf32>) -> tensor<2x4x5x6x7xf32> {
  %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<2x3x12x17x16xf32>, tensor<4x3x2x3x2xf32>) outs(%c : tensor<2x4x5x6x7xf32>) -> tensor<2x4x5x6x7xf32>
  return %0 : tensor<2x4x5x6x7xf32>
}

func.func @depthwise_conv_1d_nwc_wc(%a: tensor<2x19x3xf32>, %b: tensor<3x3xf32>, %c: tensor<2x7x3xf32>) -> tensor<2x7x3xf32> {
  %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<2x19x3xf32>, tensor<3x3xf32>) outs(%c : tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}

func.func @depthwise_conv_1d_ncw_cw(%a: tensor<2x3x19xf32>, %b: tensor<3x3xf32>, %c: tensor<2x3x7xf32>) -> tensor<2x3x7xf32> {
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<2x3x19xf32>, tensor<3x3xf32>) outs(%c : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  return %0 : tensor<2x3x7xf32>
}

func.func @depthwise_conv_1d_nwc_wcm(%a: tensor<2x19x3xf32>, %b: tensor<3x3x2xf32>, %c: tensor<2x7x3x2xf32>) -> tensor<2x7x3x2xf32> {
  %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %b : tensor<2x19x3xf32>, tensor<3x3x2xf32>) outs(%c : tensor<2x7x3x2xf32>) -> tensor<2x7x3x2xf32>
  return %0 : tensor<2x7x3x2xf32>
}

func.func @depthwise_conv_2d_nhwc_hwc(%a: tensor<2x17x16x3xf32>, %b: tensor<3x2x3xf32>, %c: tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x17x16x3xf32>, tensor<3x2x3xf32>) outs(%c : tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32>
  return %0 : tensor<2x6x7x3xf32>
}

func.func @depthwise_conv_2d_nchw_chw(%a: tensor<2x3x17x16xf32>, %b: tensor<3x3x2xf32>, %c: tensor<2x3x6x7xf32>) -> tensor<2x3x6x7xf32> {
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x3x17x16xf32>, tensor<3x3x2xf32>) outs(%c : tensor<2x3x6x7xf32>) -> tensor<2x3x6x7xf32>
  return %0 : tensor<2x3x6x7xf32>
}

func.func @depthwise_conv_2d_nhwc_hwcm(%a: tensor<2x17x16x3xf32>, %b: tensor<3x2x3x2xf32>, %c: tensor<2x6x7x3x2xf32>) -> tensor<2x6x7x3x2xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %b : tensor<2x17x16x3xf32>, tensor<3x2x3x2xf32>) outs(%c : tensor<2x6x7x3x2xf32>) -> tensor<2x6x7x3x2xf32>
  return %0 : tensor<2x6x7x3x2xf32>
}

func.func @depthwise_conv_3d_ndhwc_dhwc(%a: tensor<2x12x17x16x3xf32>, %b: tensor<2x3x2x3xf32>, %c: tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32> {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<2x12x17x16x3xf32>, tensor<2x3x2x3xf32>) outs(%c : tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32>
  return %0 : tensor<2x5x6x7x3xf32>
}

func.func @depthwise_conv_3d_ncdhw_cdhw(%a: tensor<2x3x12x17x16xf32>, %b: tensor<3x2x3x2xf32>, %c: tensor<2x3x5x6x7xf32>) -> tensor<2x3x5x6x7xf32> {
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<2x3x12x17x16xf32>, tensor<3x2x3x2xf32>) outs(%c : tensor<2x3x5x6x7xf32>) -> tensor<2x3x5x6x7xf32>
  return %0 : tensor<2x3x5x6x7xf32>
}

func.func @depthwise_conv_3d_ndhwc_dhwcm(%a: tensor<2x12x17x16x3xf32>, %b: tensor<2x3x2x3x2xf32>, %c: tensor<2x5x6x7x3x2xf32>) -> tensor<2x5x6x7x3x2xf32> {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %b : tensor<2x12x17x16x3xf32>, tensor<2x3x2x3x2xf32>) outs(%c : tensor<2x5x6x7x3x2xf32>) -> tensor<2x5x6x7x3x2xf32>
  return %0 : tensor<2x5x6x7x3x2xf32>
}

func.func @pooling_nwc_sum(%a: tensor<2x19x3xf32>, %c: tensor<2x7x3xf32>) -> tensor<2x7x3xf32> {
  %w = tensor.empty() : tensor<3xf32>
  %0 = linalg.pooling_nwc_sum {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %w : tensor<2x19x3xf32>, tensor<3xf32>) outs(%c : tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}

func.func @pooling_nwc_max(%a: tensor<2x19x3xf32>, %c: tensor<2x7x3xf32>) -> tensor<2x7x3xf32> {
  %w = tensor.empty() : tensor<3xf32>
  %0 = linalg.pooling_nwc_max {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %w : tensor<2x19x3xf32>, tensor<3xf32>) outs(%c : tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}

func.func @pooling_nwc_min(%a: tensor<2x19x3xf32>, %c: tensor<2x7x3xf32>) -> tensor<2x7x3xf32> {
  %w = tensor.empty() : tensor<3xf32>
  %0 = linalg.pooling_nwc_min {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %w : tensor<2x19x3xf32>, tensor<3xf32>) outs(%c : tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}

func.func @pooling_ncw_sum(%a: tensor<2x3x19xf32>, %c: tensor<2x3x7xf32>) -> tensor<2x3x7xf32> {
  %w = tensor.empty() : tensor<3xf32>
  %0 = linalg.pooling_ncw_sum {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %w : tensor<2x3x19xf32>, tensor<3xf32>) outs(%c : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  return %0 : tensor<2x3x7xf32>
}

func.func @pooling_ncw_max(%a: tensor<2x3x19xf32>, %c: tensor<2x3x7xf32>) -> tensor<2x3x7xf32> {
  %w = tensor.empty() : tensor<3xf32>
  %0 = linalg.pooling_ncw_max {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%a, %w : tensor<2x3x19xf32>, tensor<3xf32>) outs(%c : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  return %0 : tensor<2x3x7xf32>
}

func.func @pooling_nhwc_sum(%a: tensor<2x17x16x3xf32>, %c: tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32> {
  %w = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.pooling_nhwc_sum {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<2x17x16x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32>
  return %0 : tensor<2x6x7x3xf32>
}

func.func @pooling_nhwc_max(%a: tensor<2x17x16x3xf32>, %c: tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32> {
  %w = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.pooling_nhwc_max {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<2x17x16x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32>
  return %0 : tensor<2x6x7x3xf32>
}

func.func @pooling_nhwc_min(%a: tensor<2x17x16x3xf32>, %c: tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32> {
  %w = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.pooling_nhwc_min {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<2x17x16x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x6x7x3xf32>) -> tensor<2x6x7x3xf32>
  return %0 : tensor<2x6x7x3xf32>
}

func.func @pooling_nchw_sum(%a: tensor<2x3x17x16xf32>, %c: tensor<2x3x6x7xf32>) -> tensor<2x3x6x7xf32> {
  %w = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.pooling_nchw_sum {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<2x3x17x16xf32>, tensor<3x2xf32>) outs(%c : tensor<2x3x6x7xf32>) -> tensor<2x3x6x7xf32>
  return %0 : tensor<2x3x6x7xf32>
}

func.func @pooling_nchw_max(%a: tensor<2x3x17x16xf32>, %c: tensor<2x3x6x7xf32>) -> tensor<2x3x6x7xf32> {
  %w = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.pooling_nchw_max {dilations = dense<3> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<2x3x17x16xf32>, tensor<3x2xf32>) outs(%c : tensor<2x3x6x7xf32>) -> tensor<2x3x6x7xf32>
  return %0 : tensor<2x3x6x7xf32>
}

func.func @pooling_ndhwc_sum(%a: tensor<2x12x17x16x3xf32>, %c: tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32> {
  %w = tensor.empty() : tensor<2x3x2xf32>
  %0 = linalg.pooling_ndhwc_sum {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %w : tensor<2x12x17x16x3xf32>, tensor<2x3x2xf32>) outs(%c : tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32>
  return %0 : tensor<2x5x6x7x3xf32>
}

func.func @pooling_ndhwc_max(%a: tensor<2x12x17x16x3xf32>, %c: tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32> {
  %w = tensor.empty() : tensor<2x3x2xf32>
  %0 = linalg.pooling_ndhwc_max {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %w : tensor<2x12x17x16x3xf32>, tensor<2x3x2xf32>) outs(%c : tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32>
  return %0 : tensor<2x5x6x7x3xf32>
}

func.func @pooling_ndhwc_min(%a: tensor<2x12x17x16x3xf32>, %c: tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32> {
  %w = tensor.empty() : tensor<2x3x2xf32>
  %0 = linalg.pooling_ndhwc_min {dilations = dense<3> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %w : tensor<2x12x17x16x3xf32>, tensor<2x3x2xf32>) outs(%c : tensor<2x5x6x7x3xf32>) -> tensor<2x5x6x7x3xf32>
  return %0 : tensor<2x5x6x7x3xf32>
}

func.func @transpose(%a: tensor<2x3x4xf32>, %c: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %0 = linalg.transpose ins(%a : tensor<2x3x4xf32>) outs(%c : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  return %0 : tensor<4x2x3xf32>
}

func.func @broadcast(%a: tensor<2x4xf32>, %c: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %0 = linalg.broadcast ins(%a : tensor<2x4xf32>) outs(%c : tensor<3x2x4xf32>) dimensions = [0]
  return %0 : tensor<3x2x4xf32>
}

func.func @fill(%a: f32, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = linalg.fill ins(%a : f32) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

func.func @contract(%a: tensor<4x7x5xf32>, %b: tensor<6x7x5xf32>, %c: tensor<4x6x5xf32>) -> tensor<4x6x5xf32> {
  %0 = linalg.contract indexing_maps = [affine_map<(i, j, b, k) -> (i, k, b)>, affine_map<(i, j, b, k) -> (j, k, b)>, affine_map<(i, j, b, k) -> (i, j, b)>] ins(%a, %b : tensor<4x7x5xf32>, tensor<6x7x5xf32>) outs(%c : tensor<4x6x5xf32>) -> tensor<4x6x5xf32>
  return %0 : tensor<4x6x5xf32>
}

func.func @reduce(%a: tensor<2x3x4xi64>, %c: tensor<2x4xi64>) -> tensor<2x4xi64> {
  %0 = linalg.reduce ins(%a : tensor<2x3x4xi64>) outs(%c : tensor<2x4xi64>) dimensions = [1] (%in: i64, %present: i64) {
    %1 = arith.maxsi %present, %in : i64
    linalg.yield %1 : i64
  }
  return %0 : tensor<2x4xi64>
}

func.func @integers(%a: tensor<2x3x5xi32>, %b: tensor<4x3x2xi32>, %c: tensor<2x4x4xi32>) -> tensor<2x4x4xi32> {
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %b : tensor<2x3x5xi32>, tensor<4x3x2xi32>) outs(%c : tensor<2x4x4xi32>) -> tensor<2x4x4xi32>
  return %0 : tensor<2x4x4xi32>
}
