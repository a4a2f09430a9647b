// SPDX-License-Identifier: Apache-2.0
//! Functions that the written C defines, because C has no operator with the same result for all operands.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The functions that a program calls.
#[derive(Debug, Default)]
pub(super) struct Support {
    called: BTreeSet<&'static str>,
}

impl Support {
    /// Records a call; returns the name of the function.
    ///
    /// # Panics
    /// The function is unknown.
    pub(super) fn call(&mut self, name: &'static str) -> String {
        assert!(FUNCTIONS.iter().any(|(known, _)| *known == name), "unknown function `{name}`");
        self.called.insert(name);
        format!("skript_{name}")
    }

    /// The definitions of the functions that a body calls. Calls in expressions of unused values are not in the body.
    pub(super) fn definitions(&self, body: &str) -> String {
        let mut code = String::new();
        let is_called = |name: &str| self.called.contains(name) && body.contains(&format!("skript_{name}("));
        for (_, definition) in FUNCTIONS.iter().filter(|(name, _)| is_called(name)) {
            // A comment precedes the storage class.
            let storage = if definition.starts_with("/*") { "" } else { "static inline " };
            let _ = writeln!(code, "{storage}{definition}\n");
        }
        code
    }
}

/// The functions by name, each after those that it calls. Their prefix is `skript_`.
const FUNCTIONS: &[(&str, &str)] = &[
    ("min", "int64_t skript_min(int64_t a, int64_t b) { return a < b ? a : b; }"),
    ("max", "int64_t skript_max(int64_t a, int64_t b) { return a > b ? a : b; }"),
    ("umin", "int64_t skript_umin(int64_t a, int64_t b) { return (uint64_t)a < (uint64_t)b ? a : b; }"),
    ("umax", "int64_t skript_umax(int64_t a, int64_t b) { return (uint64_t)a > (uint64_t)b ? a : b; }"),
    (
        "floordiv",
        "/* The quotient rounded down. */\n\
         static inline int64_t skript_floordiv(int64_t a, int64_t b) {\n  \
         int64_t q = a / b;\n  return q - (a % b != 0 && (a < 0) != (b < 0));\n}",
    ),
    (
        "ceildiv",
        "/* The quotient rounded up. */\n\
         static inline int64_t skript_ceildiv(int64_t a, int64_t b) {\n  \
         int64_t q = a / b;\n  return q + (a % b != 0 && (a < 0) == (b < 0));\n}",
    ),
    (
        "shl",
        "/* Shifts by counts from 0 to 63; the result of other counts is not used. */\n\
         static inline int64_t skript_shl(int64_t a, int64_t b) {\n  \
         return (int64_t)((uint64_t)a << ((uint64_t)b & 63));\n}",
    ),
    ("shr", "int64_t skript_shr(int64_t a, int64_t b) { return a >> ((uint64_t)b & 63); }"),
    ("ushr", "int64_t skript_ushr(uint64_t a, int64_t b) { return (int64_t)(a >> ((uint64_t)b & 63)); }"),
    (
        "abs",
        "/* The absolute value; INT64_MIN wraps. */\n\
         static inline int64_t skript_abs(int64_t a) { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; }",
    ),
    (
        "ipow",
        "/* The power modulo 2^64; of a negative exponent, the quotient of 1 rounded toward zero. */\n\
         static inline int64_t skript_ipow(int64_t a, int64_t b) {\n  \
         if (b < 0) {\n    return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;\n  }\n  \
         uint64_t power = 1, square = (uint64_t)a;\n  \
         for (; b > 0; b /= 2) {\n    if (b % 2 != 0) {\n      power *= square;\n    }\n    \
         square *= square;\n  }\n  return (int64_t)power;\n}",
    ),
    (
        "popcount",
        "int64_t skript_popcount(uint64_t a) {\n  \
         int64_t count = 0;\n  for (; a != 0; a &= a - 1) {\n    count++;\n  }\n  return count;\n}",
    ),
    (
        "to_int",
        "/* Rounds toward zero; 0 for values outside the range of the integers. */\n\
         static inline int64_t skript_to_int(double a) {\n  \
         return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : 0;\n}",
    ),
    (
        "to_uint",
        "/* Rounds toward zero; 0 for values outside the range of the integers. */\n\
         static inline int64_t skript_to_uint(double a) {\n  \
         return a > -1 && a < 0x1p64 ? (int64_t)(uint64_t)a : 0;\n}",
    ),
    (
        "fmax",
        "/* The maximum; NaN if an operand is NaN, and 0 if the operands are 0 and -0. */\n\
         static inline double skript_fmax(double a, double b) {\n  \
         return a > b || a != a ? a : b > a || b != b ? b : signbit(a) ? b : a;\n}",
    ),
    (
        "fmaxf",
        "float skript_fmaxf(float a, float b) {\n  \
         return a > b || a != a ? a : b > a || b != b ? b : signbit(a) ? b : a;\n}",
    ),
    (
        "fmin",
        "/* The minimum; NaN if an operand is NaN, and -0 if the operands are 0 and -0. */\n\
         static inline double skript_fmin(double a, double b) {\n  \
         return a < b || a != a ? a : b < a || b != b ? b : signbit(a) ? a : b;\n}",
    ),
    (
        "fminf",
        "float skript_fminf(float a, float b) {\n  \
         return a < b || a != a ? a : b < a || b != b ? b : signbit(a) ? a : b;\n}",
    ),
    (
        "bits_of_float",
        "int32_t skript_bits_of_float(float a) {\n  int32_t b;\n  memcpy(&b, &a, sizeof b);\n  return b;\n}",
    ),
    (
        "float_of_bits",
        "float skript_float_of_bits(int32_t a) {\n  float b;\n  memcpy(&b, &a, sizeof b);\n  return b;\n}",
    ),
    (
        "bits_of_double",
        "int64_t skript_bits_of_double(double a) {\n  int64_t b;\n  memcpy(&b, &a, sizeof b);\n  return b;\n}",
    ),
    (
        "double_of_bits",
        "double skript_double_of_bits(int64_t a) {\n  double b;\n  memcpy(&b, &a, sizeof b);\n  return b;\n}",
    ),
    (
        "from_f16",
        "/* The value of a 16-bit float (IEEE 754 binary16). */\n\
         static inline float skript_from_f16(uint16_t a) {\n  \
         int exponent = a >> 10 & 31, fraction = a & 1023;\n  \
         float size = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)\n               \
         : exponent == 0 ? ldexpf((float)fraction, -24)\n                             \
         : ldexpf((float)(fraction + 1024), exponent - 25);\n  \
         return (a & 0x8000) != 0 ? -size : size;\n}",
    ),
    (
        "to_f16",
        "/* The nearest 16-bit float (IEEE 754 binary16), ties to even. */\n\
         static inline uint16_t skript_to_f16(double a) {\n  \
         uint16_t sign = signbit(a) ? 0x8000 : 0;\n  double size = fabs(a);\n  \
         if (size != size) {\n    return (uint16_t)(sign | 0x7e00);\n  }\n  \
         if (size >= 65520) {\n    return (uint16_t)(sign | 0x7c00);\n  }\n  \
         if (size < 0x1p-14) {\n    return (uint16_t)(sign | (unsigned)rint(size * 0x1p24));\n  }\n  \
         int exponent;\n  double fraction = frexp(size, &exponent);\n  \
         return (uint16_t)(sign | ((unsigned)(exponent + 13) * 1024 + (unsigned)rint(fraction * 2048)));\n}",
    ),
    (
        "from_bf16",
        "/* The value of a bfloat16. */\n\
         static inline float skript_from_bf16(uint16_t a) {\n  \
         uint32_t bits = (uint32_t)a << 16;\n  float b;\n  memcpy(&b, &bits, sizeof b);\n  return b;\n}",
    ),
    (
        "to_bf16",
        "/* The nearest bfloat16, ties to even. */\n\
         static inline uint16_t skript_to_bf16(double a) {\n  \
         uint16_t sign = signbit(a) ? 0x8000 : 0;\n  double size = fabs(a);\n  \
         if (size != size) {\n    return (uint16_t)(sign | 0x7fc0);\n  }\n  \
         if (size >= 0x1.ffp127) {\n    return (uint16_t)(sign | 0x7f80);\n  }\n  \
         if (size < 0x1p-126) {\n    return (uint16_t)(sign | (unsigned)rint(size * 0x1p133));\n  }\n  \
         int exponent;\n  double fraction = frexp(size, &exponent);\n  \
         return (uint16_t)(sign | ((unsigned)(exponent + 125) * 128 + (unsigned)rint(fraction * 256)));\n}",
    ),
];
