//! The operands of upstream's named operations.
//!
//! Each loop has a letter, and each dimension a word: `y+u` is a position of a window, `y` times a stride plus `u`
//! times a dilation. A test compares the table with upstream.

/// A sum of products.
pub struct Contraction {
    pub name: &'static str,
    /// Factors, then the output.
    pub operands: [&'static str; 3],
    /// The operation's order of loops, if `indexing_maps` permit other orders of the factors' dimensions.
    pub loops: &'static str,
}

/// A sum of products of a window and a filter.
pub struct Convolution {
    pub name: &'static str,
    pub input: &'static str,
    pub filter: &'static str,
    pub output: &'static str,
    /// Whether it has strides and dilations.
    pub strided: bool,
}

/// A pooling; the suffix for the combiner completes the name.
pub struct Pooling {
    pub name: &'static str,
    pub words: &'static [&'static str],
    pub input: &'static str,
    pub output: &'static str,
}

const fn contraction(
    name: &'static str,
    operands: [&'static str; 3],
    loops: &'static str,
) -> Contraction {
    Contraction {
        name,
        operands,
        loops,
    }
}

const fn convolution(
    name: &'static str,
    input: &'static str,
    filter: &'static str,
    output: &'static str,
) -> Convolution {
    Convolution {
        name,
        input,
        filter,
        output,
        strided: true,
    }
}

const fn plain(
    name: &'static str,
    input: &'static str,
    filter: &'static str,
    output: &'static str,
) -> Convolution {
    Convolution {
        strided: false,
        ..convolution(name, input, filter, output)
    }
}

const fn pooling(
    name: &'static str,
    words: &'static [&'static str],
    input: &'static str,
    output: &'static str,
) -> Pooling {
    Pooling {
        name,
        words,
        input,
        output,
    }
}

pub const CONTRACTIONS: &[Contraction] = &[
    contraction("linalg.matmul", ["i k", "k j", "i j"], "ijk"),
    contraction("linalg.matmul", ["k i", "k j", "i j"], "ijk"),
    contraction("linalg.matmul", ["i k", "j k", "i j"], "ijk"),
    contraction("linalg.matmul", ["k i", "j k", "i j"], "ijk"),
    contraction("linalg.batch_matmul", ["b i k", "b k j", "b i j"], "bijk"),
    contraction("linalg.batch_matmul", ["b k i", "b k j", "b i j"], "bijk"),
    contraction("linalg.batch_matmul", ["b i k", "b j k", "b i j"], "bijk"),
    contraction("linalg.batch_matmul", ["b k i", "b j k", "b i j"], "bijk"),
    contraction("linalg.matvec", ["i k", "k", "i"], ""),
    contraction("linalg.vecmat", ["k", "k j", "j"], ""),
    contraction("linalg.batch_matvec", ["b i k", "b k", "b i"], ""),
    contraction("linalg.batch_vecmat", ["b k", "b k j", "b j"], ""),
    contraction("linalg.dot", ["k", "k", ""], ""),
];

pub const CONVOLUTIONS: &[Convolution] = &[
    plain("linalg.conv_1d", "x+u", "u", "x"),
    plain("linalg.conv_2d", "y+u x+v", "u v", "y x"),
    plain("linalg.conv_3d", "z+t y+u x+v", "t u v", "z y x"),
    convolution("linalg.conv_1d_nwc_wcf", "n x+u c", "u c f", "n x f"),
    convolution("linalg.conv_1d_ncw_fcw", "n c x+u", "f c u", "n f x"),
    convolution(
        "linalg.conv_2d_nhwc_hwcf",
        "n y+u x+v c",
        "u v c f",
        "n y x f",
    ),
    convolution(
        "linalg.conv_2d_nhwc_fhwc",
        "n y+u x+v c",
        "f u v c",
        "n y x f",
    ),
    convolution(
        "linalg.conv_2d_nchw_fchw",
        "n c y+u x+v",
        "f c u v",
        "n f y x",
    ),
    convolution(
        "linalg.conv_2d_ngchw_fgchw",
        "n g c y+u x+v",
        "f g c u v",
        "n g f y x",
    ),
    convolution(
        "linalg.conv_2d_ngchw_gfchw",
        "n g c y+u x+v",
        "g f c u v",
        "n g f y x",
    ),
    convolution(
        "linalg.conv_2d_nhwgc_gfhwc",
        "n y+u x+v g c",
        "g f u v c",
        "n y x g f",
    ),
    convolution(
        "linalg.conv_3d_ndhwc_dhwcf",
        "n z+t y+u x+v c",
        "t u v c f",
        "n z y x f",
    ),
    convolution(
        "linalg.conv_3d_ncdhw_fcdhw",
        "n c z+t y+u x+v",
        "f c t u v",
        "n f z y x",
    ),
    convolution("linalg.depthwise_conv_1d_nwc_wc", "n x+u c", "u c", "n x c"),
    convolution("linalg.depthwise_conv_1d_ncw_cw", "n c x+u", "c u", "n c x"),
    convolution(
        "linalg.depthwise_conv_1d_nwc_wcm",
        "n x+u c",
        "u c m",
        "n x c m",
    ),
    convolution(
        "linalg.depthwise_conv_2d_nhwc_hwc",
        "n y+u x+v c",
        "u v c",
        "n y x c",
    ),
    convolution(
        "linalg.depthwise_conv_2d_nchw_chw",
        "n c y+u x+v",
        "c u v",
        "n c y x",
    ),
    convolution(
        "linalg.depthwise_conv_2d_nhwc_hwcm",
        "n y+u x+v c",
        "u v c m",
        "n y x c m",
    ),
    convolution(
        "linalg.depthwise_conv_3d_ndhwc_dhwc",
        "n z+t y+u x+v c",
        "t u v c",
        "n z y x c",
    ),
    convolution(
        "linalg.depthwise_conv_3d_ncdhw_cdhw",
        "n c z+t y+u x+v",
        "c t u v",
        "n c z y x",
    ),
    convolution(
        "linalg.depthwise_conv_3d_ndhwc_dhwcm",
        "n z+t y+u x+v c",
        "t u v c m",
        "n z y x c m",
    ),
];

pub const POOLINGS: &[Pooling] = &[
    pooling(
        "linalg.pooling_nwc",
        &["sum", "max", "min"],
        "n x+u c",
        "n x c",
    ),
    pooling("linalg.pooling_ncw", &["sum", "max"], "n c x+u", "n c x"),
    pooling(
        "linalg.pooling_nhwc",
        &["sum", "max", "min"],
        "n y+u x+v c",
        "n y x c",
    ),
    pooling(
        "linalg.pooling_nchw",
        &["sum", "max"],
        "n c y+u x+v",
        "n c y x",
    ),
    pooling(
        "linalg.pooling_ndhwc",
        &["sum", "max", "min"],
        "n z+t y+u x+v c",
        "n z y x c",
    ),
];
