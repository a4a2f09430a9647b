# SPDX-License-Identifier: Apache-2.0
"""More programs for jax_programs.py: special functions, gradients, narrow types, batched indices, windows, control flow."""
import jax
import jax.numpy as jnp
import numpy
from jax import lax

HALVES = ["float16", "bfloat16"]


def register(program, reals, integers, sample):
    """Calls `program` with the name, function and arguments of each program."""
    for part in (functions, gradients, narrow, pairs, places, windows, contractions, control, networks, draws, images, texts, shared, factorizations):
        prefix = part.__name__ + "_"
        part(lambda name, *rest: program(prefix + name, *rest), reals, integers, sample)


def functions(program, reals, integers, sample):
    positive = jnp.asarray([1e-3, 0.1, 0.5, 0.9, 1.0, 1.5, 2.0, 3.7, 10.0, 33.3, 171.0], "float32")
    everywhere = jnp.concatenate([positive, -positive + 0.25])
    for name in ["lgamma", "digamma"]:
        program("chlo_" + name, getattr(lax, name), everywhere)
        program("chlo_%s_f64" % name, getattr(lax, name), everywhere.astype("float64"))
        program("chlo_%s_bf16" % name, getattr(lax, name), positive.astype("bfloat16"))
    program("lgamma_special", lax.lgamma, jnp.asarray([0.0, -0.0, -1.0, -7.0, jnp.inf, -jnp.inf, jnp.nan, 1e-30, 1e30], "float32"))
    program("digamma_special", lax.digamma, jnp.asarray([0.0, -1.0, -7.0, jnp.inf, jnp.nan, 1e30], "float32"))
    for dtype in ["float16", "bfloat16", "float32", "float64"]:
        x = jnp.asarray([0.0, -0.0, 1.0, -1.0, 0.5, jnp.inf, -jnp.inf, 2.0, 3.0, jnp.nan], dtype)
        y = jnp.asarray([1.0, -1.0, 2.0, 0.0, 0.5, 0.0, 0.0, jnp.nan, -jnp.inf, 1.0], dtype)
        program("nextafter_" + dtype, lax.nextafter, x, y)
        program("nextafter_back_" + dtype, lax.nextafter, y, x)
    program("zeta", lax.zeta, 1 + abs(reals(9)), 0.5 + abs(reals(9)))
    program("polygamma", lambda x: lax.polygamma(jnp.full_like(x, 2.0), x), 0.5 + abs(reals(9)))
    program("bessel_i0e", jax.scipy.special.i0e, 5 * reals(9))
    program("bessel_i1e", lax.bessel_i1e, 5 * reals(9))
    program("conj", lambda x: jnp.conj(x), reals(4) + 1j * reals(4))
    for name in ["sinc", "logaddexp", "logaddexp2", "hypot", "copysign", "heaviside", "fmod", "remainder", "arctan2",
                 "floor_divide", "true_divide", "float_power", "fmax", "fmin", "nextafter", "ldexp"]:
        function = getattr(jnp, name)
        if name == "ldexp":
            program("jnp_" + name, function, reals(8), integers(8))
        elif name == "sinc":
            program("jnp_" + name, function, reals(8))
        elif name == "float_power":
            program("jnp_" + name, function, abs(reals(8)), reals(8))
        else:
            program("jnp_" + name, function, reals(8), reals(8))
    for name in ["exp2", "log2", "log10", "deg2rad", "rad2deg", "signbit", "trunc", "rint", "isnan", "isinf", "isposinf",
                 "isneginf", "reciprocal", "positive", "cbrt", "nan_to_num", "modf", "frexp", "spacing", "i0"]:
        program("jnp_" + name, getattr(jnp, name), sample("float32"))
    for name in ["floor_divide", "remainder", "fmod", "gcd", "lcm", "left_shift", "right_shift", "power", "divmod"]:
        y = abs(integers(8)) + 1
        program("jnp_int_" + name, getattr(jnp, name), integers(8), y)
    for name in ["relu", "relu6", "sigmoid", "softplus", "soft_sign", "silu", "log_sigmoid", "leaky_relu", "hard_sigmoid",
                 "hard_silu", "hard_tanh", "elu", "celu", "selu", "gelu", "squareplus", "mish", "sparse_plus", "log_softmax"]:
        if hasattr(jax.nn, name):
            program("nn_" + name, getattr(jax.nn, name), reals(9))
    program("nn_gelu_exact", lambda x: jax.nn.gelu(x, approximate=False), reals(9))
    program("nn_glu", jax.nn.glu, reals(3, 8))
    special = jax.scipy.special
    for name in ["expit", "erf", "erfc", "ndtr", "log_ndtr", "entr", "gammaln", "digamma", "i0", "i1", "i0e", "i1e", "expi", "exp1"]:
        program("special_" + name, getattr(special, name), 0.1 + abs(reals(7)))
    program("special_ndtri", special.ndtri, jnp.linspace(0.02, 0.98, 9, dtype="float32"))
    program("special_logit", special.logit, jnp.linspace(0.02, 0.98, 9, dtype="float32"))
    program("special_xlogy", special.xlogy, abs(reals(7)), abs(reals(7)))
    program("special_xlog1py", special.xlog1py, abs(reals(7)), abs(reals(7)))
    program("special_beta", special.beta, 0.5 + abs(reals(7)), 0.5 + abs(reals(7)))
    program("special_betaln", special.betaln, 0.5 + abs(reals(7)), 0.5 + abs(reals(7)))
    program("special_gammainc", special.gammainc, 0.5 + abs(reals(7)), 0.5 + abs(reals(7)))
    program("special_gammaincc", special.gammaincc, 0.5 + abs(reals(7)), 0.5 + abs(reals(7)))
    program("special_betainc", special.betainc, 0.5 + abs(reals(5)), 0.5 + abs(reals(5)), jnp.linspace(0.1, 0.9, 5, dtype="float32"))
    program("special_zeta", special.zeta, 1.5 + abs(reals(5)), 0.5 + abs(reals(5)))
    program("special_kl_div", special.kl_div, abs(reals(5)), abs(reals(5)))
    program("stats_norm_logpdf", jax.scipy.stats.norm.logpdf, reals(5))
    program("stats_norm_cdf", jax.scipy.stats.norm.cdf, reals(5))
    program("stats_gamma_logpdf", jax.scipy.stats.gamma.logpdf, 0.5 + abs(reals(5)), 2 + abs(reals(5)))
    for name in ["asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "tan"]:
        program("complex_" + name, getattr(lax, name), (reals(6) + 1j * reals(6)).astype("complex64"))
    for dtype in HALVES:
        for name in ["erf", "erfc", "erf_inv", "asin", "acos", "atan", "sinh", "cosh", "asinh", "atanh"]:
            program("chlo_%s_%s" % (name, dtype), getattr(lax, name), jnp.linspace(-0.95, 0.95, 12, dtype=dtype))
    program("chlo_square_complex", lambda x: lax.square(x), (reals(6) + 1j * reals(6)).astype("complex64"))
    program("erfc_tail", lax.erfc, jnp.asarray([2.0, 4.0, 6.0, 9.0, 10.5, -3.0], "float32"))
    program("erf_inv_ends", lax.erf_inv, jnp.asarray([1.0, -1.0, 0.9999, -0.9999, 0.0, 1e-6], "float32"))


def gradients(program, reals, integers, sample):
    def summed(function):
        return lambda *a: jax.grad(lambda *b: function(*b).astype(jnp.float32).sum(), argnums=tuple(range(len(a))))(*a)
    for name in ["tanh", "sin", "exp", "log1p", "sqrt", "cbrt", "logistic", "erf", "lgamma", "asinh", "atan", "cumsum", "cumprod",
                 "cummax", "cumlogsumexp"]:
        program("gradient_" + name, summed(getattr(lax, name)), 0.3 + abs(reals(6)))
    x = reals(3, 8)
    program("gradient_softmax", summed(lambda x: jax.nn.softmax(x)[:, 0]), x)
    program("gradient_norm", summed(lambda x: jnp.linalg.norm(x, axis=1)), x)
    program("gradient_max", summed(lambda x: x.max(axis=1)), x)
    program("gradient_prod", summed(lambda x: x.prod(axis=1)), x)
    program("gradient_sort", summed(lambda x: jnp.sort(x)[:, :2]), x)
    program("gradient_top_k", summed(lambda x: lax.top_k(x, 2)[0]), x)
    program("gradient_take", summed(lambda x: jnp.take(x, jnp.array([1, 1, 3]), axis=1) ** 2), x)
    program("gradient_matmul", summed(lambda x, y: jnp.tanh(x @ y)), x, reals(8, 4))
    program("gradient_einsum", summed(lambda x, y: jnp.einsum("bij,bjk->ik", x, y)), reals(2, 3, 4), reals(2, 4, 5))
    program("gradient_dynamic_slice", lambda x, i: jax.grad(lambda x: (lax.dynamic_slice(x, (i, i), (2, 3)) ** 2).sum())(x), x, integers(low=0, high=2))
    program("gradient_update", lambda x, y, i: jax.grad(lambda y: (lax.dynamic_update_slice(x, y, (i, i)) ** 2).sum())(y), x, reals(2, 3), integers(low=0, high=2))
    program("gradient_scan", summed(lambda x: lax.scan(lambda c, r: (jnp.tanh(c + r), c * r), jnp.zeros(8), x)[1]), x)
    program("gradient_while", lambda x: jax.jvp(lambda x: lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x))[1], (x,), (x,)), x)
    program("gradient_cond", lambda p, x: jax.grad(lambda x: lax.cond(p, jnp.sin, jnp.cos, x).sum())(x), jnp.asarray(True), x)
    program("hessian", lambda x: jax.hessian(lambda x: (jnp.sin(x) * x[::-1]).sum())(x), reals(4))
    program("jacobian", lambda x: jax.jacfwd(lambda x: jnp.tanh(x[:2] * x[1:]))(x), reals(3))
    program("vmap_grad", lambda w, x: jax.vmap(jax.grad(lambda w, x: jnp.tanh(w @ x)), (None, 0))(w, x), reals(4), reals(5, 4))
    image = reals(1, 2, 7, 6)
    for name, options in dict(plain={}, stride=dict(window_strides=(2, 1)), dilated=dict(rhs_dilation=(2, 1)), groups=dict(feature_group_count=2)).items():
        own = dict(dict(window_strides=(1, 1), padding="SAME"), **options)
        kernel = reals(4, 2 // own.get("feature_group_count", 1), 3, 3)
        program("gradient_conv_" + name, summed(lambda x, w, o=own: jnp.sin(lax.conv_general_dilated(x, w, **o))), image, kernel)
    for name, init, combine in [("max", -jnp.inf, lax.max), ("min", jnp.inf, lax.min), ("sum", 0.0, lax.add)]:
        for padding in ["SAME", "VALID"]:
            program("gradient_pool_%s_%s" % (name, padding), summed(lambda x, i=init, c=combine, p=padding: lax.reduce_window(x, i, c, (1, 1, 2, 3), (1, 1, 2, 1), p) ** 2), image)
    program("gradient_resize", summed(lambda x: jax.image.resize(x, (1, 2, 10, 9), "bilinear") ** 2), image)


def narrow(program, reals, integers, sample):
    for dtype in HALVES:
        x, y = reals(4, 6, dtype=dtype), reals(6, 5, dtype=dtype)
        program("softmax_" + dtype, lambda x: jax.nn.softmax(x), x)
        program("norm_" + dtype, lambda x: jax.nn.standardize(x), x)
        program("matmul_f32_" + dtype, lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32), x, y)
        program("argmax_" + dtype, lambda x: jnp.argmax(x, axis=1), x)
        program("sort_" + dtype, lambda x: jnp.sort(x), x)
        program("top_k_" + dtype, lambda x: lax.top_k(x, 3), x)
        program("scatter_" + dtype, lambda x, i: x.at[i].add(x[:2]), x, integers(2, low=0, high=4))
        program("pool_" + dtype, lambda x: lax.reduce_window(x, jnp.asarray(-jnp.inf, x.dtype), lax.max, (2, 2), (1, 1), "SAME"), x)
        program("max_" + dtype, lambda x: (x.max(), x.min(axis=0)), x)
        program("gradient_mlp_" + dtype, lambda x, y: jax.grad(lambda y: jnp.tanh(x @ y).astype("float32").sum())(y), x, y)
        program("while_" + dtype, lambda x: lax.fori_loop(0, 3, lambda k, a: a * jnp.asarray(0.5, a.dtype), x), x)
        program("image_" + dtype, lambda x: jax.image.resize(x, (8, 3), "nearest"), x)
    for dtype in ["int8", "uint8", "int16", "uint16"]:
        low = 0 if dtype[0] == "u" else -9
        x, y = integers(5, 7, low=low, dtype=dtype), integers(7, 3, low=low, dtype=dtype)
        program("matmul_wide_" + dtype, lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32 if x.dtype.kind == "i" else jnp.uint32), x, y)
        program("sum_axis_" + dtype, lambda x: jnp.sum(x, axis=1), x)
        program("cumsum_" + dtype, lambda x: jnp.cumsum(x, axis=1, dtype=x.dtype), x)
        program("sort_" + dtype, lambda x: jnp.sort(x, axis=0), x)
        program("take_" + dtype, lambda x, i: x[i], x, integers(3, low=0, high=5))
        program("clip_" + dtype, lambda x: jnp.clip(x, 1, 5), x)
        program("quantize_" + dtype, lambda x: jnp.clip(jnp.round(x * 20), jnp.iinfo(dtype).min, jnp.iinfo(dtype).max).astype(dtype), reals(4, 4))
        program("update_" + dtype, lambda x, i: lax.dynamic_update_slice(x, x[:2, :2] + jnp.asarray(1, x.dtype), (i, i)), x, integers(low=0, high=3))
        program("max_" + dtype, lambda x: (x.max(axis=1), x.min(), jnp.argmin(x, axis=0)), x)
    program("conv_int8", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", preferred_element_type=jnp.int32), integers(1, 2, 6, 6, dtype="int8"), integers(3, 2, 3, 3, dtype="int8"))
    program("conv_f16", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME"), reals(1, 2, 6, 6, dtype="float16"), reals(3, 2, 3, 3, dtype="float16"))


def pairs(program, reals, integers, sample):
    """Complex numbers."""
    for dtype in ["complex64", "complex128"]:
        x = (reals(4, 4) + 1j * reals(4, 4)).astype(dtype)
        program("matmul_" + dtype, lambda x: x @ x.conj().T, x)
        program("sum_axes_" + dtype, lambda x: (x.sum(), x.prod(axis=0), x.mean(axis=1)), x)
        program("select_" + dtype, lambda x: jnp.where(abs(x) > 1, x, -x), x)
        program("take_" + dtype, lambda x, i: x[i], x, integers(3, low=0, high=4))
        program("scatter_" + dtype, lambda x, i: x.at[i].add(1j), x, integers(3, low=0, high=4))
        program("pad_" + dtype, lambda x: jnp.pad(x, 1, constant_values=2j), x)
        program("slice_" + dtype, lambda x, i: lax.dynamic_slice(x, (i, i), (2, 2)), x, integers(low=0, high=3))
        program("loop_" + dtype, lambda x: lax.fori_loop(0, 3, lambda _, a: a * a + x, x), x)
        program("angle_" + dtype, jnp.angle, x)
        program("gradient_" + dtype, lambda x: jax.grad(lambda x: abs(x @ x).sum())(x), x)
        program("conv_" + dtype, lambda x: lax.conv_general_dilated(x[None, None], x[None, None, :2, :2], (1, 1), "SAME"), x)
        for name in ["fft", "ifft", "fft2"]:
            program("%s_%s" % (name, dtype), getattr(jnp.fft, name), x)
    # Lengths that are powers of two, composite, prime, and twice a prime that is too large for a sum of products.
    for count in [1, 2, 3, 5, 8, 12, 97, 128, 300, 514, 1009]:
        program("fft_%d" % count, jnp.fft.fft, reals(2, count) + 1j * reals(2, count))
        program("rfft_%d" % count, jnp.fft.rfft, reals(2, count))
        program("irfft_%d" % count, lambda x, n=count: jnp.fft.irfft(x, n), (reals(2, count // 2 + 1) + 1j * reals(2, count // 2 + 1)).astype("complex64"))
    # Backward, along a dimension that is not the last one, and in f64: several radices, and convolutions with chirps.
    for count in [128, 300, 514, 1009]:
        program("ifft_%d" % count, jnp.fft.ifft, reals(2, count) + 1j * reals(2, count))
        program("fft2_%d" % count, jnp.fft.fft2, reals(count, 3) + 1j * reals(count, 3))
        program("fft_wide_%d" % count, jnp.fft.fft, (reals(2, count) + 1j * reals(2, count)).astype("complex128"))
    program("fftn", jnp.fft.fftn, reals(3, 4, 5) + 1j * reals(3, 4, 5))
    program("rfft2", jnp.fft.rfft2, reals(2, 4, 6))
    program("rfft2_odd", jnp.fft.rfft2, reals(2, 36, 49))
    program("irfft2_odd", lambda x: jnp.fft.irfft2(x, (36, 49)), (reals(2, 36, 25) + 1j * reals(2, 36, 25)).astype("complex64"))
    program("irfft2", jnp.fft.irfft2, (reals(2, 4, 4) + 1j * reals(2, 4, 4)).astype("complex64"))


def places(program, reals, integers, sample):
    x = reals(3, 6, 5)
    rows = integers(3, 4, low=0, high=6)
    program("gather_batch", lambda x, i: jax.vmap(lambda a, k: a[k])(x, i), x, rows)
    program("gather_batch_twice", lambda x, i: jax.vmap(jax.vmap(lambda a, k: a[k]))(x, i), x, integers(3, 6, 2, low=0, high=5))
    program("gather_batch_window", lambda x, i: jax.vmap(lambda a, k: lax.dynamic_slice(a, (k, jnp.int32(0)), (2, 3)))(x, i), x, integers(3, low=-2, high=9))
    program("scatter_batch", lambda x, i: jax.vmap(lambda a, k: a.at[k].set(7.0))(x, i), x, integers(3, low=0, high=6))
    program("scatter_batch_add", lambda x, i, u: jax.vmap(lambda a, k, v: a.at[k].add(v))(x, i, u), x, rows, reals(3, 4, 5))
    program("scatter_batch_window", lambda x, i, u: jax.vmap(lambda a, k, v: lax.dynamic_update_slice(a, v, (k, jnp.int32(1))))(x, i, u), x, integers(3, low=-2, high=9), reals(3, 2, 3))
    for mode in ["clip", "fill", "promise_in_bounds"]:
        high = 6 if mode == "promise_in_bounds" else 12
        program("gather_" + mode, lambda x, i, m=mode: x.at[:, i].get(mode=m), x, integers(5, low=0, high=high))
    for mode in ["clip", "drop"]:
        for word in ["add", "multiply", "min", "max", "set", "divide"]:
            places_ = jnp.asarray([7, 2, 0, -9, 4], "int32")
            program("scatter_%s_%s" % (word, mode), lambda x, i, m=mode, w=word: getattr(x.at[:, i], w)(3.0, mode=m), x, places_)
    program("scatter_apply", lambda x, i: x.at[:, i].apply(jnp.sin), x, jnp.asarray([1, 3], "int32"))
    program("scatter_pairs", lambda x, i, j: x.at[i, j].add(1.0), x, integers(4, low=0, high=3), integers(4, low=0, high=6))
    program("scatter_i64", lambda x, i: x.at[i].add(1.0), x, integers(4, low=0, high=3, dtype="int64"))
    program("scatter_bool", lambda i: jnp.zeros(8, bool).at[i].set(True), integers(4, low=0, high=8))
    # Windows that are partly out of bounds are dropped completely.
    one = lax.ScatterDimensionNumbers((1,), (), (0,))
    starts = jnp.asarray([[-1], [0], [1], [2], [4], [5], [-3]], "int32")
    for word in ["scatter", "scatter_add", "scatter_min", "scatter_mul"]:
        for dtype in ["int32", "uint8", "int64"]:
            program("%s_window_%s" % (word, dtype), lambda x, i, u, w=word: getattr(lax, w)(x, i, u, one), reals(5), starts.astype(dtype), reals(7, 3))
    two = lax.ScatterDimensionNumbers((1, 2), (1,), (2, 0))
    program("scatter_windows", lambda x, i, u: lax.scatter_add(x, i, u, two), x, integers(9, 2, low=-2, high=6), reals(9, 2, 3))
    program("scatter_window_batches", lambda x, i, u: jax.vmap(lambda a, k, v: lax.scatter_add(a, k, v, lax.ScatterDimensionNumbers((0,), (), (0,))))(x, i, u), reals(4, 5), jnp.asarray([[1], [3], [-1], [2]], "int32"), reals(4, 3))
    windows_at = lax.GatherDimensionNumbers((1,), (), (0,))
    program("gather_window_gradient", lambda x, i: jax.grad(lambda x: jnp.nansum(lax.gather(x, i[:, None], windows_at, (3,), mode="fill") ** 2))(x), reals(6), jnp.asarray([0, 4, 2], "int32"))
    program("scatter_no_elements", lambda x, i, u: x.at[i].add(u), reals(0, 5), integers(3), reals(3, 5))
    program("update_clamped", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, i, i)), x, reals(2, 2, 2), integers(low=7, high=9))
    program("update_in_dim", lambda x, i: lax.dynamic_update_index_in_dim(x, x[0], i, 0), x, integers(low=0, high=3))
    for axis in range(3):
        program("sort_three_%d" % axis, lambda x, a=axis: lax.sort((jnp.floor(x), x, -x), dimension=a, num_keys=1), x)
        program("sort_two_keys_%d" % axis, lambda x, a=axis: lax.sort((jnp.floor(x), jnp.floor(2 * x[::-1]), x), dimension=a, num_keys=2), x)
    program("sort_unstable", lambda x: lax.sort(x, is_stable=False), x)
    program("argsort_down", lambda x: jnp.argsort(x, axis=1, descending=True), x)
    program("lexsort", lambda x, y: jnp.lexsort((x, y)), integers(9, low=0, high=3), integers(9, low=0, high=3))
    program("sort_bool", lambda x: jnp.sort(x), sample("bool"))
    program("sort_complex", lambda x: jnp.sort(x), reals(7) + 1j * reals(7))
    program("sort_i64", lambda x: jnp.sort(x), sample("int64"))
    program("sort_empty", lambda x: jnp.sort(x, axis=1), reals(3, 0))
    program("sort_one", lambda x: jnp.sort(x, axis=1), reals(3, 1))
    program("top_k_all", lambda x: lax.top_k(x, 5), x)
    program("top_k_one", lambda x: lax.top_k(x, 1), x)
    program("top_k_special", lambda x: lax.top_k(x, 6), sample("float32"))
    for dtype in ["float32", "float64", "bfloat16", "float16", "int8", "uint8", "int32", "uint32"]:
        program("top_k_long_" + dtype, lambda x: (lax.top_k(x, 1), lax.top_k(x, 20)), jnp.stack([jnp.resize(sample(dtype), 333), jnp.arange(333).astype(dtype)]))
    program("top_k_equal", lambda x: (lax.top_k(x, 3), lax.top_k(x, 70)), integers(2, 3, 777, low=0, high=5))
    program("quantile", lambda x: jnp.quantile(x, jnp.asarray([0.1, 0.5, 0.8]), axis=1), x)
    program("percentile", lambda x: jnp.percentile(x, 30), x)
    program("digitize", lambda x: jnp.digitize(x, jnp.linspace(-2, 2, 7)), x)
    program("interp", lambda x: jnp.interp(x, jnp.linspace(-2, 2, 7), jnp.arange(7.0)), x)
    program("bincount", lambda i: jnp.bincount(i, length=7), integers(20, low=0, high=7))
    program("histogram_edges", lambda x: jnp.histogram(x, bins=5, range=(-2, 2)), x)
    program("segment_max", lambda x, i: jax.ops.segment_max(x, i, 4), x, integers(3, low=0, high=4))
    program("diagonal", lambda x: jnp.diagonal(x, axis1=1, axis2=2), x)
    program("diag", lambda x: jnp.diag(x), reals(4))
    program("trace", lambda x: jnp.trace(x), reals(4, 4))
    program("tril", lambda x: (jnp.tril(x), jnp.triu(x, 1)), reals(4, 5))
    program("roll_data", lambda x, n: jnp.roll(x, n, axis=1), x, integers(low=-3, high=4))
    program("where_indices", lambda x: jnp.argwhere(x > 0.5, size=5), x)
    program("repeat", lambda x: jnp.repeat(x, jnp.asarray([1, 0, 3]), axis=0, total_repeat_length=4), x)
    program("compress", lambda x: jnp.compress(jnp.asarray([True, False, True]), x, axis=0, size=2), x)
    program("cumulative_logsumexp", lambda x: lax.cumlogsumexp(x, axis=1), x)
    program("associative_scan", lambda x: lax.associative_scan(jnp.multiply, x, axis=1), x)
    program("unwrap", jnp.unwrap, 4 * reals(9))
    program("delete", lambda x: jnp.delete(x, 1, axis=1), x)
    program("insert", lambda x: jnp.insert(x, 2, 5.0, axis=1), x)
    program("pad_modes", lambda x: [jnp.pad(x, 2, mode=m) for m in ["edge", "reflect", "symmetric", "wrap"]], reals(4, 5))
    program("pad_ramp", lambda x: [jnp.pad(x, 2, mode=m) for m in ["linear_ramp", "maximum", "mean", "empty"]][:3], reals(4, 5))
    program("rot90", lambda x: jnp.rot90(x), reals(3, 4))
    program("kron", jnp.kron, reals(2, 3), reals(3, 2))
    program("convolve", lambda x, y: jnp.convolve(x, y), reals(9), reals(3))
    program("correlate", lambda x, y: jnp.correlate(x, y, mode="same"), reals(9), reals(3))
    program("polyval", lambda c, x: jnp.polyval(c, x), reals(4), reals(5))
    program("vander", lambda x: jnp.vander(x, 4), reals(5))
    program("cross", jnp.cross, reals(4, 3), reals(4, 3))
    program("gradient_numeric", jnp.gradient, reals(9))
    program("trapezoid", lambda x: jnp.trapezoid(x), reals(9))
    program("cov", jnp.cov, reals(3, 9))
    program("corrcoef", jnp.corrcoef, reals(3, 9))
    program("nan_statistics", lambda x: (jnp.nansum(x), jnp.nanmax(x), jnp.nanmean(x), jnp.nanargmin(x)), jnp.asarray([1, jnp.nan, 3, -2.5], "float32"))
    program("packbits", jnp.packbits, sample("bool"))
    program("unpackbits", jnp.unpackbits, sample("uint8"))
    program("matrix_power", lambda x: jnp.linalg.matrix_power(x, 5), 0.5 * reals(3, 3))


def windows(program, reals, integers, sample):
    x = reals(1, 9, 8, 2)
    pads = [(0, 0), (1, 2), (0, 3), (0, 0)]
    for name, init, combine in [("add", 0.0, lax.add), ("max", -jnp.inf, lax.max), ("min", jnp.inf, lax.min), ("mul", numpy.float32(1), lax.mul)]:
        program("window_%s_padded" % name, lambda x, i=init, c=combine: lax.reduce_window(x, i, c, (1, 3, 2, 1), (1, 2, 1, 1), pads), x)
        program("window_%s_dilated" % name, lambda x, i=init, c=combine: lax.reduce_window(x, i, c, (1, 2, 3, 1), (1, 1, 2, 1), pads, window_dilation=(1, 3, 2, 1)), x)
        program("window_%s_base" % name, lambda x, i=init, c=combine: lax.reduce_window(x, i, c, (1, 3, 3, 1), (1, 2, 1, 1), pads, base_dilation=(1, 2, 3, 1)), x)
    program("window_generic", lambda x: lax.reduce_window(x, jnp.float32(0), lambda a, b: a + b * jnp.float32(0.5), (1, 2, 2, 1), (1, 1, 1, 1), "VALID"), x)
    program("window_pair", lambda x: lax.reduce_window((x, -x), (jnp.float32(0), jnp.float32(0)), lambda a, b: (a[0] + b[0], a[1] + b[1]), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), x)
    program("window_bool", lambda x: lax.reduce_window(x > 0, False, lax.bitwise_or, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"), x)
    program("window_int8", lambda x: lax.reduce_window(x, jnp.int8(-128), lax.max, (2, 2), (2, 1), "SAME"), integers(5, 6, dtype="int8"))
    for axis in range(3):
        for name in ["cumsum", "cumprod", "cummin"]:
            program("%s_axis_%d" % (name, axis), lambda x, a=axis, n=name: getattr(lax, n)(x, axis=a, reverse=a == 1), reals(3, 4, 5))
    for strides in [(1, 2), (2, 3), (3, 1)]:
        for padding in ["SAME", "VALID"]:
            def pooled(x, s=strides, p=padding):
                return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1,) + s + (1,), p)
            program("select_and_scatter_%d%d_%s" % (strides + (padding,)), lambda x, f=pooled: jax.grad(lambda x: (f(x) ** 2).sum())(x), x)
    program("average_pool_counts", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), x)
    program("reduce_two", lambda x: lax.reduce((x, x * 2), (jnp.float32(0), jnp.float32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)), reals(3, 4))
    program("reduce_generic", lambda x: lax.reduce(x, jnp.float32(0), lambda a, b: jnp.maximum(a, b * b), (0, 2)), reals(3, 4, 2))
    program("reduce_xor", lambda x: lax.reduce(x, jnp.int32(0), lax.bitwise_xor, (0,)), integers(9, 2))
    program("reduce_no_elements", lambda x: (x.sum(axis=1), x.prod(axis=1)), reals(3, 0))
    for window in [(7, 1), (8, 1), (9, 1), (1, 40), (9, 9)]:
        program("window_none_%dx%d" % window, lambda x, w=window: lax.reduce_window(x, jnp.float32(0), lax.add, w, (1, 1), "VALID"), reals(6, 5))
    program("window_none_spread", lambda x: lax.reduce_window(x, jnp.float32(1), lax.mul, (3, 2), (2, 1), "VALID", window_dilation=(4, 1)), reals(6, 5))
    program("window_none_padded", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (9, 2), (1, 1), [(1, -2), (0, 1)]), reals(6, 5))
    program("window_none_pair", lambda x: lax.reduce_window((x, -x), (jnp.float32(0), jnp.float32(0)), lambda a, b: (a[0] + b[0], a[1] + b[1]), (9, 2), (1, 2), "VALID"), reals(6, 5))
    program("window_no_input", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 1), "VALID"), reals(0, 5))
    program("scatter_no_source", lambda x: jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (9, 1), (1, 1), "VALID").sum())(x), reals(6, 5))
    program("reduce_none", lambda x: x.max(axis=1), reals(0, 5))
    program("arg_ties", lambda x: (jnp.argmax(x, axis=1), jnp.argmin(x, axis=0)), integers(5, 9, low=0, high=3))
    program("arg_nan", lambda x: (jnp.argmax(x), jnp.argmin(x)), jnp.asarray([1, 5, jnp.nan, 7, jnp.nan], "float32"))
    program("conv_batch_groups_two", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", batch_group_count=2), reals(4, 3, 6, 5), reals(6, 3, 3, 3))
    program("conv_batch_groups_all", lambda x, w: lax.conv_general_dilated(x, w, (1, 2), "VALID", batch_group_count=4), reals(4, 3, 6, 5), reals(4, 3, 2, 3))
    program("conv_all_dilations", lambda x, w: lax.conv_general_dilated(x, w, (2, 1), [(3, 1), (0, 2)], lhs_dilation=(2, 3), rhs_dilation=(1, 2)), reals(2, 3, 6, 5), reals(4, 3, 2, 3))
    program("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), reals(1, 4, 5, 2), reals(3, 3, 2, 3))
    program("conv_layout", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("CHWN", "IHWO", "HWCN")), reals(3, 6, 5, 2), reals(3, 2, 3, 4))
    program("conv_no_spatial", lambda x, w: lax.conv_general_dilated(x, w, (), []), reals(3, 4), reals(5, 4))
    program("conv_patches", lambda x: lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"), reals(1, 2, 5, 5))
    program("conv_precision", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", precision="highest"), reals(1, 2, 5, 5), reals(3, 2, 3, 3))


def contractions(program, reals, integers, sample):
    x, y = reals(3, 4, 5), reals(3, 5, 6)
    for precision in ["default", "high", "highest"]:
        program("dot_" + precision, lambda x, y, p=precision: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,))), precision=p), x, y)
    for algorithm in ["F32_F32_F32", "BF16_BF16_F32", "BF16_BF16_F32_X3", "TF32_TF32_F32"]:
        preset = getattr(lax.DotAlgorithmPreset, algorithm)
        if algorithm == "F32_F32_F32":
            program("dot_algorithm_" + algorithm, lambda x, y, p=preset: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,))), precision=p), x, y)
    program("dot_two_contracted", lambda x, y: lax.dot_general(x, y, (((1, 2), (2, 0)), ((), ()))), reals(2, 3, 4), reals(4, 5, 3))
    program("dot_two_batches", lambda x, y: lax.dot_general(x, y, (((3,), (2,)), ((0, 1), (0, 1)))), reals(2, 3, 4, 5), reals(2, 3, 5, 6))
    program("dot_none_contracted", lambda x, y: lax.dot_general(x, y, (((), ()), ((0,), (0,)))), reals(3, 4), reals(3, 5))
    program("dot_empty", lambda x, y: x @ y, reals(3, 0), reals(0, 4))
    program("dot_mixed", lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32), reals(3, 4, dtype="bfloat16"), reals(4, 5, dtype="bfloat16"))
    program("dot_f64_of_f32", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float64), reals(3, 4), reals(4, 5))
    program("tensordot", lambda x, y: jnp.tensordot(x, y, axes=([0, 2], [0, 1])), x, reals(3, 5, 2))
    program("einsum_trace", lambda x: jnp.einsum("iij->j", x), reals(4, 4, 3))
    program("einsum_three", lambda x, y, z: jnp.einsum("ij,jk,kl->il", x, y, z), reals(2, 3), reals(3, 4), reals(4, 5))
    program("einsum_outer_contracted", lambda x, y, z: jnp.einsum("ij,jkl,li->ik", x, y, z), reals(2, 3), reals(3, 4, 5), reals(5, 2))
    program("multi_dot", lambda x, y, z: jnp.linalg.multi_dot([x, y, z]), reals(2, 3), reals(3, 4), reals(4, 5))


def control(program, reals, integers, sample):
    x = reals(3, 4)
    program("while_several", lambda x: lax.while_loop(lambda c: (c[0] < 5) & (c[2].sum() < 100), lambda c: (c[0] + 1, c[2], c[1] + c[2], c[3] * jnp.int8(2)), (0, x, x, jnp.int8(1))), x)
    program("while_data", lambda n: lax.while_loop(lambda c: c[0] != 1, lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1), (n, 0)), jnp.asarray(27))
    program("while_batched", lambda n: jax.vmap(lambda n: lax.while_loop(lambda c: c[0] > 0, lambda c: (c[0] - 1, c[1] * 2), (n, 1)))(n), integers(6, low=0, high=9))
    program("while_never", lambda x: lax.while_loop(lambda c: False, lambda c: c + 1, x), x)
    branches = [lambda y, k=k: y * k + k for k in range(9)]
    for n in [-3, 0, 4, 8, 20]:
        program("case_%d" % n, lambda x, i: lax.switch(i, branches, x), x, jnp.asarray(n, "int32"))
    program("case_batched", lambda x, i: jax.vmap(lambda r, k: lax.switch(k, branches[:3], r))(x, i), x, integers(3, low=0, high=3))
    program("case_several", lambda x, i: lax.switch(i, [lambda y: (y, y.sum(), 1), lambda y: (-y, y.max(), 2), lambda y: (y * 2, y[0, 0], 3)], x), x, jnp.asarray(1, "int32"))
    program("cond_nested", lambda p, q, x: lax.cond(p, lambda y: lax.cond(q, jnp.sin, jnp.cos, y), jnp.tanh, x), jnp.asarray(True), jnp.asarray(False), x)
    program("scan_pairs", lambda x: lax.scan(lambda c, r: ((c[0] + r, c[1] * 0.5), (c[0], r.sum())), (jnp.zeros(4), jnp.ones(2)), x), x)
    program("scan_reverse", lambda x: lax.scan(lambda c, r: (c + r, c), jnp.zeros(4), x, reverse=True), x)
    program("scan_unroll", lambda x: lax.scan(lambda c, r: (c + r, c), jnp.zeros(4), x, unroll=2), x)
    program("scan_lengths", lambda x: lax.scan(lambda c, _: (c * 0.5, c), x, None, length=4), x)
    program("scan_nested", lambda x: lax.scan(lambda c, r: lax.scan(lambda d, e: (d + e, d * e), c, r), jnp.float32(0), x), x)
    program("map_batched", lambda x: lax.map(jnp.sin, x, batch_size=2), x)
    inner = jax.jit(lambda x, y: (x + y, x * y))
    outer = jax.jit(lambda x: inner(*inner(x, x)))
    program("calls_nested", lambda x: outer(x)[0] + outer(x + 1)[1], x)
    program("calls_several", lambda x: inner(x, 2 * x), x)
    program("custom_derivative", lambda x: jax.grad(lambda x: jax.nn.relu(x).sum())(x), x)
    program("checkpoint", lambda x: jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum()))(x), x)
    program("pytrees", lambda t: {"a": t["b"] + 1, "c": (t["d"], [t["b"]])}, {"b": x, "d": reals(2)})
    program("constant_array", lambda x: x + jnp.asarray(numpy.arange(12.0).reshape(3, 4), "float32"), x)
    program("unused", lambda x, y: x + 1, x, x)
    program("same_twice", lambda x: (x, x), x)
    program("switch_in_scan", lambda x, i: lax.scan(lambda c, k: (lax.switch(k, branches[:3], c), c.sum()), x, i), x, integers(5, low=0, high=3))
    program("sort_in_loop", lambda x: lax.fori_loop(0, 3, lambda k, a: jnp.sort(a * k - a[::-1]), x), reals(7))
    program("sort_in_while", lambda x: lax.while_loop(lambda a: a[0] < 3, lambda a: jnp.sort(a + 1), x), reals(7))
    program("top_k_in_loop", lambda x: lax.fori_loop(0, 3, lambda k, a: lax.top_k(a * 2 - k, 7)[0], x), reals(7))
    program("argsort_in_scan", lambda x: lax.scan(lambda c, r: (c[jnp.argsort(r)], c), jnp.arange(4.0), x), x)
    program("while_in_cond", lambda p, x: lax.cond(p, lambda y: lax.fori_loop(0, 3, lambda _, a: a + 1, y), lambda y: y, x), jnp.asarray(True), x)


def networks(program, reals, integers, sample):
    x = reals(2, 6, 8)

    def attention(x, q, k, v):
        def heads(w):
            return (x @ w).reshape(2, 6, 2, 4).transpose(0, 2, 1, 3)
        scores = jnp.einsum("bhqd,bhkd->bhqk", heads(q), heads(k)) / 2
        mask = jnp.tril(jnp.ones((6, 6), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
        return jnp.einsum("bhqk,bhkd->bqhd", weights, heads(v)).reshape(2, 6, 8)

    def norm(x):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)

    def block(x, q, k, v, up, down):
        x = x + attention(norm(x), q, k, v)
        return x + jax.nn.gelu(norm(x) @ up) @ down
    weights = [0.3 * reals(8, 8), 0.3 * reals(8, 8), 0.3 * reals(8, 8), 0.3 * reals(8, 16), 0.3 * reals(16, 8)]
    program("transformer", block, x, *weights)
    program("transformer_gradient", lambda x, *w: jax.grad(lambda w: (block(x, *w) ** 2).mean())(w), x, *weights)
    program("dot_product_attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), reals(2, 5, 2, 4), reals(2, 5, 2, 4), reals(2, 5, 2, 4))

    def cnn(x, a, b, c):
        x = jax.nn.relu(lax.conv_general_dilated(x, a, (1, 1), "SAME"))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x = jax.nn.relu(lax.conv_general_dilated(x, b, (2, 2), "SAME"))
        return jax.nn.log_softmax(x.mean(axis=(2, 3)) @ c)
    kernels = [0.3 * reals(4, 1, 3, 3), 0.3 * reals(6, 4, 3, 3), reals(6, 3)]
    images, labels = reals(2, 1, 8, 8), integers(2, low=0, high=3)
    program("cnn", cnn, images, *kernels)
    program("cnn_gradient", lambda x, y, *w: jax.value_and_grad(lambda w: -jnp.take_along_axis(cnn(x, *w), y[:, None], axis=1).mean())(w), images, labels, *kernels)

    def cell(state, x, w, u):
        i, f, g, o = jnp.split(x @ w + state[0] @ u, 4, axis=-1)
        c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    program("lstm", lambda x, w, u: lax.scan(lambda s, r: cell(s, r, w, u), (jnp.zeros((2, 4)), jnp.zeros((2, 4))), x), reals(5, 2, 3), reals(3, 16), reals(4, 16))
    program("lstm_gradient", lambda x, w, u: jax.grad(lambda w: (lax.scan(lambda s, r: cell(s, r, w, u), (jnp.zeros((2, 4)), jnp.zeros((2, 4))), x)[1] ** 2).sum())(w), reals(5, 2, 3), reals(3, 16), reals(4, 16))
    program("adam", lambda p, g, m, v: (p - 0.1 * (0.9 * m + 0.1 * g) / (jnp.sqrt(0.99 * v + 0.01 * g * g) + 1e-8)), reals(9), reals(9), reals(9), abs(reals(9)))
    program("batch_norm", lambda x: (x - x.mean((0, 2, 3), keepdims=True)) / jnp.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5), reals(2, 3, 4, 4))
    program("embedding", lambda t, i: t[i].sum(axis=1), reals(10, 4), integers(3, 5, low=0, high=10))
    program("cross_entropy", lambda x, y: -(jax.nn.log_softmax(x) * jax.nn.one_hot(y, 5)).sum(-1).mean(), reals(4, 5), integers(4, low=0, high=5))


def draws(program, reals, integers, sample):
    def drawn(name, function, *arguments, exact=False):
        def own(key, *others):
            return function(jax.random.wrap_key_data(key), *others)
        own.exact = exact
        program("random_" + name, own, jnp.asarray([7, 11], "uint32"), *arguments)
    drawn("uniform", lambda k: jax.random.uniform(k, (5,), minval=-1, maxval=3), exact=True)
    for dtype in ["float16", "bfloat16", "float32", "float64"]:
        drawn("uniform_" + dtype, lambda k, d=dtype: jax.random.uniform(k, (33,), d), exact=True)
    drawn("normal", lambda k: jax.random.normal(k, (33,)))
    drawn("normal_f64", lambda k: jax.random.normal(k, (7,), "float64"))
    drawn("ball", lambda k: jax.random.ball(k, 3, shape=(2,)))
    drawn("orthogonal", lambda k: jax.random.orthogonal(k, 3))
    drawn("multivariate_normal", lambda k: jax.random.multivariate_normal(k, jnp.zeros(2), jnp.eye(2), (3,)))
    drawn("randint", lambda k: jax.random.randint(k, (9,), -5, 17))
    drawn("randint_u8", lambda k: jax.random.randint(k, (9,), 0, 200, "uint8"))
    drawn("bits_u8", lambda k: jax.random.bits(k, (9,), "uint8"))
    drawn("bits_u64", lambda k: jax.random.bits(k, (9,), "uint64"))
    drawn("bernoulli", lambda k: jax.random.bernoulli(k, 0.3, (9,)))
    drawn("permutation", lambda k: jax.random.permutation(k, 9))
    drawn("permutation_array", lambda k, x: jax.random.permutation(k, x, axis=1), reals(3, 4))
    drawn("choice", lambda k: jax.random.choice(k, 10, (4,), replace=False))
    drawn("categorical", lambda k, x: jax.random.categorical(k, x), reals(6, 4))
    drawn("gumbel", lambda k: jax.random.gumbel(k, (5,)))
    drawn("exponential", lambda k: jax.random.exponential(k, (5,)))
    drawn("laplace", lambda k: jax.random.laplace(k, (5,)))
    drawn("logistic", lambda k: jax.random.logistic(k, (5,)))
    drawn("cauchy", lambda k: jax.random.cauchy(k, (5,)))
    drawn("truncated_normal", lambda k: jax.random.truncated_normal(k, -1.0, 2.0, (5,)))
    drawn("gamma", lambda k: jax.random.gamma(k, 2.0, (4,)))
    drawn("beta", lambda k: jax.random.beta(k, 2.0, 3.0, (4,)))
    drawn("dirichlet", lambda k: jax.random.dirichlet(k, jnp.ones(3), (2,)))
    drawn("poisson", lambda k: jax.random.poisson(k, 3.0, (4,)))
    drawn("rademacher", lambda k: jax.random.rademacher(k, (9,)))
    drawn("split", lambda k: jax.random.key_data(jax.random.split(k, 3)))
    drawn("fold_in", lambda k: jax.random.key_data(jax.random.fold_in(k, 5)))
    drawn("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.7, x.shape), x / 0.7, 0), reals(3, 4))
    for implementation, words in [("rbg", 4), ("unsafe_rbg", 4)]:
        key = jnp.asarray(list(range(5, 5 + words)), "uint32")
        for dtype in ["uint8", "uint16", "uint32", "uint64"]:
            program("%s_%s" % (implementation, dtype), lambda k, d=dtype, i=implementation: jax.random.bits(jax.random.wrap_key_data(k, impl=i), (3, 5), d), key)
        program(implementation + "_normal", lambda k, i=implementation: jax.random.normal(jax.random.wrap_key_data(k, impl=i), (7,)), key)
    for algorithm in [lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_DEFAULT]:
        word = str(algorithm).split("_", 1)[1].lower()
        state = jnp.asarray([3 ** 30 + 1, 7 ** 20 + 5], "uint64")
        for dtype in ["uint8", "uint16", "uint32", "uint64"]:
            for shape in [(7,), (2, 3), (3, 2), (3, 4, 5), ()]:
                name = "generator_%s_%s_%s" % (word, dtype, "x".join(map(str, shape)))
                program(name, lambda k, s=shape, d=dtype, a=algorithm: lax.rng_bit_generator(k, s, d, algorithm=a), state)


def images(program, reals, integers, sample):
    x = reals(1, 6, 5, 2)
    for method in ["nearest", "linear", "cubic", "lanczos3", "lanczos5"]:
        for size in [(9, 11), (3, 4)]:
            program("resize_%s_%dx%d" % ((method,) + size), lambda x, m=method, s=size: jax.image.resize(x, (1,) + s + (2,), m), x)
    program("resize_plain", lambda x: jax.image.resize(x, (1, 3, 4, 2), "linear", antialias=False), x)
    program("scale_and_translate", lambda x: jax.image.scale_and_translate(x, (1, 8, 8, 2), (1, 2), jnp.asarray([1.3, 0.7]), jnp.asarray([0.5, 1.0]), "linear"), x)
    for order in [0, 1]:
        for mode in ["constant", "nearest", "wrap", "mirror", "reflect"]:
            program("map_coordinates_%d_%s" % (order, mode), lambda x, c, o=order, m=mode: jax.scipy.ndimage.map_coordinates(x, [c[0], c[1]], o, m), reals(6, 5), 4 * reals(2, 7))


def texts(program, reals, integers, sample):
    """Programs that `jax.export` writes, programs with source locations, and annotations of devices."""
    def with_text(name, kind, function, *arguments):
        def own(*a):
            return function(*a)
        setattr(own, kind, True)
        program(name, own, *arguments)

    def special(x):
        return lax.erf(x) + lax.asinh(x) * lax.lgamma(x + 3), lax.top_k(x, 2), jnp.tan(x)
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()[:1]), ("d",))
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))

    def placed(x):
        return lax.erf(lax.with_sharding_constraint(jnp.sin(x), place)) * 2
    for kind in ["exported", "located"]:
        with_text(kind + "_functions", kind, special, reals(3, 5))
        with_text(kind + "_network", kind, lambda x, w: jax.nn.softmax(jnp.maximum(x @ w, 0)), reals(3, 5), reals(5, 4))
        with_text(kind + "_loop", kind, lambda x: lax.fori_loop(0, 3, lambda k, a: jnp.sin(a) * k, x), reals(7))
        with_text(kind + "_placed", kind, placed, reals(4))
    program("placed", placed, reals(4))


def shared(program, reals, integers, sample):
    """Several steps change the same tensors in place, while others read them before and after; random, with a fixed seed."""
    steps = [
        lambda a, b, i: a.at[i].add(b),
        lambda a, b, i: a.at[i].set(b),
        lambda a, b, i: lax.dynamic_update_slice(a, b[:2], (i[0],)),
        lambda a, b, i: lax.fori_loop(0, 4, lambda t, c: c.at[t].set(c[t] + b[t]), a),
        lambda a, b, i: lax.fori_loop(0, 3, lambda t, c: c * 2 + b, a),
        lambda a, b, i: lax.fori_loop(0, 2, lambda t, c: (c[1], c[0].at[t].add(1)), (a, b))[0],
        lambda a, b, i: lax.fori_loop(0, 3, lambda t, c: (c[1], c[0].at[t].add(1)), (a, b))[1],
        lambda a, b, i: jnp.sort(a),
        lambda a, b, i: lax.cond(b[0] > 0, lambda: a, lambda: b),
        lambda a, b, i: lax.scan(lambda c, r: (c, r + r), jnp.int32(0), a)[1],
        lambda a, b, i: jnp.where(a > b, a[::-1], b),
        lambda a, b, i: jnp.concatenate([a[2:], b[:2]]),
    ]

    def chain(seed):
        def run(x, y, i):
            random = numpy.random.default_rng(seed)
            values = [x, y, jnp.zeros(4, "int32"), jnp.full(4, 7, "int32")]
            for _ in range(random.integers(3, 8)):
                step, (a, b) = random.choice(steps), random.integers(0, len(values), 2)
                values.append(step(values[a], values[b], i))
            return [values[k] for k in random.permutation(range(4, len(values)))[:3]]
        return run
    for seed in range(40):
        program("chain_%d" % seed, chain(seed), integers(4).astype("int32"), integers(4).astype("int32"), integers(4, low=0, high=4).astype("int32"))


def factorizations(program, reals, integers, sample):
    """The LAPACK functions that JAX calls on CPUs, and its output for other devices."""
    linear = jax.scipy.linalg
    for dtype in ["float32", "float64"]:
        def definite(*shape):
            return (reals(*shape, dtype=dtype) + 3 * jnp.eye(shape[-1], dtype=dtype)).astype(dtype)
        for size in [1, 2, 5, 9]:
            a, b = definite(size, size), reals(size, 3, dtype=dtype)
            own = "_%d_%s" % (size, dtype)
            program("solve" + own, jnp.linalg.solve, a, b)
            program("cholesky" + own, lambda a: (jnp.linalg.cholesky(a @ a.T + a.shape[0] * jnp.eye(a.shape[0], dtype=a.dtype)), jnp.linalg.cholesky(-a @ a.T)), a)
            program("lu" + own, linear.lu, a - 3 * jnp.eye(size, dtype=dtype))
            program("qr" + own, lambda a: (jnp.linalg.qr(a), jnp.linalg.qr(a[:, :1], mode="complete"), jnp.linalg.qr(a[:1], mode="r")), a)
            program("determinant" + own, lambda a: (jnp.linalg.det(a), jnp.linalg.slogdet(a), jnp.linalg.inv(a)), a)
        for lower, transposed, unit in [(l, t, u) for l in (True, False) for t in (0, 1) for u in (True, False)]:
            program("triangular_%d%d%d_%s" % (lower, transposed, unit, dtype),
                    lambda a, b, l=lower, t=transposed, u=unit: (linear.solve_triangular(a, b, trans=t, lower=l, unit_diagonal=u),
                                                                lax.linalg.triangular_solve(a, b.T, lower=l, transpose_a=bool(t), unit_diagonal=u)), a, b)
        program("batch_" + dtype, lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.qr(a)), definite(2, 3, 4, 4), reals(2, 3, 4, 2, dtype=dtype))
        program("rank_" + dtype, lambda a: (jnp.linalg.det(a), linear.lu(a), jnp.linalg.qr(a * 0)), jnp.asarray([[1, 2, 3], [2, 4, 6], [1, 0, 1]], dtype))
        program("shapes_" + dtype, lambda a: (linear.lu(a), linear.lu(a.T)), reals(5, 3, dtype=dtype))
        program("empty_" + dtype, lambda a, b: (jnp.linalg.cholesky(a), jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.qr(a), jnp.linalg.solve(a, b)),
                jnp.zeros((2, 0, 0), dtype), jnp.zeros((2, 0, 3), dtype))
        program("no_columns_" + dtype, lambda a: (jnp.linalg.qr(a, mode="complete"), linear.lu(a), linear.lu(a.T)), jnp.zeros((3, 0), dtype))
        program("nan_" + dtype, lambda a: (jnp.linalg.det(a), jnp.linalg.cholesky(a)), jnp.asarray([[jnp.nan, 1], [1, 2]], dtype))
        program("gradient_" + dtype, lambda a: jax.grad(lambda a: jnp.linalg.slogdet(a)[1] + jnp.linalg.inv(a).sum())(a), definite(4, 4))
        program("loop_" + dtype, lambda a, v: lax.scan(lambda c, r: (jnp.linalg.solve(a, c) + r, c.sum()), v[0], v), definite(4, 4), reals(5, 4, dtype=dtype))
    for dtype in ["float32", "float64", "complex64", "complex128"]:
        # More than one block, or more than one block of rows or columns only. Only well-conditioned matrices permit comparison.
        def large(*shape):
            plain = reals(*shape, dtype="float64") + (1j * reals(*shape, dtype="float64") if dtype[0] == "c" else 0)
            return (0.2 * plain + 9 * jnp.eye(*shape[-2:])[jax.random.permutation(jax.random.key(1), shape[-2])]).astype(dtype)
        if dtype == "float32":
            # Wide panels in four parts; rows of U above the first NaN are finite.
            program("lu_large_1030", lambda a: lax.linalg.lu(a), large(1030, 1030))
            program("lu_nan", lambda a: lax.linalg.lu(a)[0], jnp.asarray([[4, 1, 1], [1, 4, jnp.nan], [1, 1, 4]], dtype))
        sizes = [(129, 129), (200, 150), (40, 300)] + ([(2, 131, 131), (301, 301)] if dtype == "float32" else [])
        for shape in sizes:
            own = "_large_%s_%s" % ("x".join(map(str, shape)), dtype)
            program("lu" + own, lambda a: lax.linalg.lu(a), large(*shape))
            if shape[-1] != shape[-2]:
                continue
            program("solve" + own, jnp.linalg.solve, large(*shape), large(*shape)[..., :3])
            program("cholesky" + own, lambda a: (jnp.linalg.cholesky(a), jnp.linalg.cholesky(a, upper=True)),
                    (lambda a: a @ a.conj().swapaxes(-1, -2) / 64)(large(*shape)))
            program("triangular" + own, lambda a, b: [lax.linalg.triangular_solve(a, b, left_side=l, lower=w, transpose_a=t) for l in (True, False) for w in (True, False) for t in (True, False)],
                    (jnp.eye(shape[-1]) + large(*shape) / 64).astype(dtype), large(*shape))
            program("lu_singular" + own, lambda a: lax.linalg.lu(a), jnp.ones(shape, dtype))
    def restored(a):
        # Eigenvectors are unique up to a sign or a phase.
        w, v = jnp.linalg.eigh(a)
        return w, (v * w[..., None, :]) @ v.conj().swapaxes(-1, -2), v.conj().swapaxes(-1, -2) @ v
    for dtype in ["float32", "float64", "complex64", "complex128"]:
        def matrix(*shape):
            plain = reals(*shape, dtype="float64") + (1j * reals(*shape, dtype="float64") if dtype[0] == "c" else 0)
            return (0.3 * plain + jnp.eye(*shape[-2:])).astype(dtype)
        a = matrix(2, 4, 4)
        program("eigenvalues_" + dtype, lambda a: (restored(a), jnp.linalg.eigvalsh(a, UPLO="U"), restored(a[:, :1, :1])), a + a.conj().swapaxes(-1, -2))
        program("eigenvalues_equal_" + dtype, restored, jnp.asarray(numpy.diag([2, 1, 2, 0]), dtype))
        def rebuilt(a, full, algorithm=None):
            # So are singular vectors.
            u, s, v = lax.linalg.svd(a, full_matrices=full, algorithm=algorithm)
            k = s.shape[-1]
            return s, (u[..., :, :k] * s[..., None, :]) @ v[..., :k, :], u.conj().swapaxes(-1, -2) @ u, v @ v.conj().swapaxes(-1, -2)
        program("singular_" + dtype, lambda a, b: (rebuilt(a, True), rebuilt(b, False)), matrix(2, 4, 3), matrix(2, 4))
        program("singular_by_qr_" + dtype, lambda a: rebuilt(a, True, lax.linalg.SvdAlgorithm.QR), matrix(3, 4))
        program("singular_poor_" + dtype, lambda a: rebuilt(1e18 * a, True), jnp.asarray(numpy.diag([2, 0, 1, 2])[:3], dtype))
        program("singular_values_" + dtype, lambda a: jnp.linalg.svd(a, compute_uv=False), matrix(4, 2))
        if dtype[0] != "c":
            continue
        positive = a @ a.conj().swapaxes(-1, -2)
        program("cholesky_" + dtype, lambda a: (jnp.linalg.cholesky(a), jnp.linalg.cholesky(a, upper=True), jnp.linalg.cholesky(-a)), positive)
        program("lu_" + dtype, lambda a: (linear.lu(a), jnp.linalg.det(a), jnp.linalg.inv(a)), matrix(5, 5) - jnp.eye(5).astype(dtype))
        program("qr_" + dtype, lambda a: (jnp.linalg.qr(a), jnp.linalg.qr(a[:, :1], mode="complete"), jnp.linalg.qr(a[:1], mode="r")), matrix(5, 3))
        for trans in (0, 1, 2):
            program("triangular_%d_%s" % (trans, dtype), lambda a, b, t=trans: (linear.solve_triangular(a, b, trans=t, lower=True), linear.solve_triangular(a, b, trans=t)), matrix(4, 4), matrix(4, 2))
    program("least_squares", lambda a, b: (jnp.linalg.pinv(a), jnp.linalg.lstsq(a, b)[0], jnp.linalg.matrix_rank(a)), reals(5, 3), reals(5, 2))
    program("exponential", linear.expm, 0.3 * reals(4, 4))

    def elsewhere(name, function, *arguments):
        def own(*a):
            return function(*a)
        own.platform = "tpu"
        program("elsewhere_" + name, own, *arguments)
    elsewhere("cholesky", lambda a: jnp.linalg.cholesky(a @ a.T + 4 * jnp.eye(4, dtype=a.dtype)), reals(4, 4))
    elsewhere("triangular", lambda a, b: linear.solve_triangular(a, b, lower=True, trans=1), definite(4, 4), reals(4, 2, dtype="float64"))
    elsewhere("qr", jnp.linalg.qr, reals(5, 3))
