// SPDX-License-Identifier: Apache-2.0
//! A table of the operands of MLIR's named operations.
//!
//! Each loop has a letter, and each dimension has a word. The word `y+u` is a position in a window: `y` times a stride plus `u`
//! times a dilation. A test compares the table with upstream.

use crate::ir::ops;

/// A sum of products.
pub(crate) struct Contraction {
    pub name: &'static str,
    /// Factors, then the output.
    pub operands: [&'static str; 3],
    /// The order of loops of the operation, if its `indexing_maps` allow other orders of the dimensions of the factors.
    pub loops: &'static str,
}

/// A sum of products of a window and a filter.
pub(crate) struct Convolution {
    pub name: &'static str,
    pub input: &'static str,
    pub filter: &'static str,
    pub output: &'static str,
    /// Whether it has strides and dilations.
    pub strided: bool,
}

/// A pooling. The name of the operation has a suffix for the combiner.
pub(crate) struct Pooling {
    pub name: &'static str,
    pub words: &'static [&'static str],
    pub input: &'static str,
    pub output: &'static str,
}

const fn contraction(name: &'static str, operands: [&'static str; 3], loops: &'static str) -> Contraction {
    Contraction { name, operands, loops }
}

const fn convolution(
    name: &'static str,
    input: &'static str,
    filter: &'static str,
    output: &'static str,
) -> Convolution {
    Convolution { name, input, filter, output, strided: true }
}

const fn plain(
    name: &'static str,
    input: &'static str,
    filter: &'static str,
    output: &'static str,
) -> Convolution {
    Convolution { strided: false, ..convolution(name, input, filter, output) }
}

const fn pooling(
    name: &'static str,
    words: &'static [&'static str],
    input: &'static str,
    output: &'static str,
) -> Pooling {
    Pooling { name, words, input, output }
}

pub(crate) const CONTRACTIONS: &[Contraction] = &[
    contraction(ops::linalg::MATMUL, ["i k", "k j", "i j"], "ijk"),
    contraction(ops::linalg::MATMUL, ["k i", "k j", "i j"], "ijk"),
    contraction(ops::linalg::MATMUL, ["i k", "j k", "i j"], "ijk"),
    contraction(ops::linalg::MATMUL, ["k i", "j k", "i j"], "ijk"),
    contraction(ops::linalg::BATCH_MATMUL, ["b i k", "b k j", "b i j"], "bijk"),
    contraction(ops::linalg::BATCH_MATMUL, ["b k i", "b k j", "b i j"], "bijk"),
    contraction(ops::linalg::BATCH_MATMUL, ["b i k", "b j k", "b i j"], "bijk"),
    contraction(ops::linalg::BATCH_MATMUL, ["b k i", "b j k", "b i j"], "bijk"),
    contraction(ops::linalg::MATVEC, ["i k", "k", "i"], ""),
    contraction(ops::linalg::VECMAT, ["k", "k j", "j"], ""),
    contraction(ops::linalg::BATCH_MATVEC, ["b i k", "b k", "b i"], ""),
    contraction(ops::linalg::BATCH_VECMAT, ["b k", "b k j", "b j"], ""),
    contraction(ops::linalg::DOT, ["k", "k", ""], ""),
];

pub(crate) const CONVOLUTIONS: &[Convolution] = &[
    plain(ops::linalg::CONV_1D, "x+u", "u", "x"),
    plain(ops::linalg::CONV_2D, "y+u x+v", "u v", "y x"),
    plain(ops::linalg::CONV_3D, "z+t y+u x+v", "t u v", "z y x"),
    convolution(ops::linalg::CONV_1D_NWC_WCF, "n x+u c", "u c f", "n x f"),
    convolution(ops::linalg::CONV_1D_NCW_FCW, "n c x+u", "f c u", "n f x"),
    convolution(ops::linalg::CONV_2D_NHWC_HWCF, "n y+u x+v c", "u v c f", "n y x f"),
    convolution(ops::linalg::CONV_2D_NHWC_FHWC, "n y+u x+v c", "f u v c", "n y x f"),
    convolution(ops::linalg::CONV_2D_NCHW_FCHW, "n c y+u x+v", "f c u v", "n f y x"),
    convolution(ops::linalg::CONV_2D_NGCHW_FGCHW, "n g c y+u x+v", "f g c u v", "n g f y x"),
    convolution(ops::linalg::CONV_2D_NGCHW_GFCHW, "n g c y+u x+v", "g f c u v", "n g f y x"),
    convolution(ops::linalg::CONV_2D_NHWGC_GFHWC, "n y+u x+v g c", "g f u v c", "n y x g f"),
    convolution(ops::linalg::CONV_3D_NDHWC_DHWCF, "n z+t y+u x+v c", "t u v c f", "n z y x f"),
    convolution(ops::linalg::CONV_3D_NCDHW_FCDHW, "n c z+t y+u x+v", "f c t u v", "n f z y x"),
    convolution(ops::linalg::DEPTHWISE_CONV_1D_NWC_WC, "n x+u c", "u c", "n x c"),
    convolution(ops::linalg::DEPTHWISE_CONV_1D_NCW_CW, "n c x+u", "c u", "n c x"),
    convolution(ops::linalg::DEPTHWISE_CONV_1D_NWC_WCM, "n x+u c", "u c m", "n x c m"),
    convolution(ops::linalg::DEPTHWISE_CONV_2D_NHWC_HWC, "n y+u x+v c", "u v c", "n y x c"),
    convolution(ops::linalg::DEPTHWISE_CONV_2D_NCHW_CHW, "n c y+u x+v", "c u v", "n c y x"),
    convolution(ops::linalg::DEPTHWISE_CONV_2D_NHWC_HWCM, "n y+u x+v c", "u v c m", "n y x c m"),
    convolution(ops::linalg::DEPTHWISE_CONV_3D_NDHWC_DHWC, "n z+t y+u x+v c", "t u v c", "n z y x c"),
    convolution(ops::linalg::DEPTHWISE_CONV_3D_NCDHW_CDHW, "n c z+t y+u x+v", "c t u v", "n c z y x"),
    convolution(ops::linalg::DEPTHWISE_CONV_3D_NDHWC_DHWCM, "n z+t y+u x+v c", "t u v c m", "n z y x c m"),
];

pub(crate) const POOLINGS: &[Pooling] = &[
    pooling("linalg.pooling_nwc", &["sum", "max", "min"], "n x+u c", "n x c"),
    pooling("linalg.pooling_ncw", &["sum", "max"], "n c x+u", "n c x"),
    pooling("linalg.pooling_nhwc", &["sum", "max", "min"], "n y+u x+v c", "n y x c"),
    pooling("linalg.pooling_nchw", &["sum", "max"], "n c y+u x+v", "n c y x"),
    pooling("linalg.pooling_ndhwc", &["sum", "max", "min"], "n z+t y+u x+v c", "n z y x c"),
];
