// SPDX-License-Identifier: Apache-2.0
//! Operators with one formula of each kind, as models over random inputs.

/// Name, inputs, output and formulas of an operator.
pub const FORMULAS: &[(&str, &str, &str, &str)] = &[
    (
        "contraction",
        "x: real[3,4]; w: real[4,2];",
        "y: real[3,2]",
        "y[i,j] += x[i,k] * w[k,j], i < 3, j < 2, k < 4;",
    ),
    (
        "strided window with a border",
        "x: real[7]; w: real[3];",
        "y: real[4]",
        "y[i,] += x[|2 * i + j - 1|,] * w[j,], i < 4, j < 3;",
    ),
    (
        "clamped border",
        "x: real[5];",
        "y: real[5]",
        "y[i,] += x[|i + j - 1 <> 0 : 4|,] * real(j + 1), i < 5, j < 3;",
    ),
    (
        "dilated window",
        "x: real[9]; w: real[3];",
        "y: real[4]",
        "y[i,] += x[|3 * i + 2 * j - 2|,] * w[j,], i < 4, j < 3;",
    ),
    (
        "reversed window",
        "x: real[6]; w: real[3];",
        "y: real[4]",
        "y[i,] += x[|5 - i - j|,] * w[j,] * x[i,], i < 4, j < 3;",
    ),
    (
        "unit window of two dimensions",
        "x: real[5,4]; w: real[3,2];",
        "y: real[4,4]",
        "y[i,j] += x[|i + a - 1|,|j + b - 1|] * w[a,b], i < 4, j < 4, a < 3, b < 2;",
    ),
    ("square of one element", "x: real[4];", "y: real[4]", "y[i,] = x[i,] * x[i,] * x[3 - i,], i < 4;"),
    ("transposition", "x: real[3,2];", "y: real[2,3]", "y[j,i] = `exp`(x[i,j]), i < 3, j < 2;"),
    (
        "start values and a sum",
        "x: real[3]; b: real[3];",
        "y: real[3]",
        "y[i,] = b[i,] * b[i,], i < 3; y[i,] += x[i,] * x[j,], i < 3, j < 3;",
    ),
    ("maximum", "x: real[3,5];", "y: real[3]", "y[i,] >= x[i,j] * x[i,j], i < 3, j < 5;"),
    (
        "minimum of two indices",
        "x: real[3,2,3];",
        "y: real[3]",
        "y[i,] <= `sin`(3.0 * x[i,j,k]), i < 3, j < 2, k < 3;",
    ),
    (
        "maximum with a start",
        "x: real[3,3]; s: real[3];",
        "y: real[3]",
        "y[i,] = s[i,] * 2.0 - 0.3, i < 3; y[i,] >= x[i,j], i < 3, j < 3;",
    ),
    ("maximum of a window", "x: real[6];", "y: real[4]", "y[i,] >= x[|2 * i + j - 1|,], i < 4, j < 3;"),
    ("maximum per segment", "x: real[6];", "y: real[3]", "y[i / 2,] >= x[i,], i < 6;"),
    ("product", "x: real[3,4];", "y: real[3]", "y[i,] *= x[i,j] - 0.3, i < 3, j < 4;"),
    (
        "product with a start",
        "x: real[3,3]; s: real[3];",
        "y: real[3]",
        "y[i,] = `exp`(s[i,]), i < 3; y[i,] *= x[i,j], i < 3, j < 3 | j != 1;",
    ),
    ("product per segment", "x: real[6];", "y: real[3]", "y[i / 2,] *= x[i,], i < 6;"),
    (
        "interleaving",
        "x: real[2,4]; z: real[2,2];",
        "y: real[2,6]",
        "y[i,3 * j] = z[i,j] * 2.0, i < 2, j < 2; y[i,3 * j + c + 1] := x[i,2 * j + c], i < 2, j < 2, c < 2;",
    ),
    ("last of several writes", "x: real[4];", "y: real[2]", "y[i / 2,] = x[i,] * x[i,], i < 4;"),
    (
        "overwritten start",
        "x: real[4]; s: real[4];",
        "y: real[4]",
        "y[i,] = s[i,], i < 4; y[i,] := x[i,], i < 4 | i % 2 == 0;",
    ),
    (
        "condition on data",
        "x: real[5]; z: real[5];",
        "y: real[5]",
        "y[i,] = x[i,] * z[i,], i < 5 | z[i,] > 0.35;",
    ),
    (
        "branches",
        "x: real[5];",
        "y: real[5]",
        "y[i,] = i > 0 ? x[i - 1,] * x[i,] : `sqrt`(x[i,] + 1.0), i < 5;",
    ),
    ("branch on data", "x: real[5];", "y: real[5]", "y[i,] = x[i,] > 0.35 ? x[i,] * x[i,] : -x[i,], i < 5;"),
    (
        "locals",
        "x: real[4]; z: real[4];",
        "y: real[4]",
        "d = x[i,] - z[j,], e = `exp`(-d * d), y[i,] += e * d, i < 4, j < 4;",
    ),
    (
        "local in branches",
        "x: real[4]; z: real[4];",
        "y: real[4]",
        "d = x[i,] * z[i,], y[i,] = i > 1 ? d * d : 3.0 * d, i < 4;",
    ),
    (
        "local tensors",
        "x: real[3,4];",
        "y: real[3,4]",
        "mean[i,] += x[i,j] / 4.0, i < 3, j < 4; v[i,] += (x[i,j] - mean[i,]) ** 2.0, i < 3, j < 4; y[i,j] = (x[i,j] - mean[i,]) / `sqrt`(v[i,] + 0.1), i < 3, j < 4;",
    ),
    ("a table", "x: real[4];", "y: real[4]", "y[i,] = x[i,] * p[i % 2], i < 4;"),
    ("clamped values", "x: real[6];", "y: real[6]", "y[i,] = (x[i,] >> 0.25) << 0.75, i < 6;"),
    ("powers", "x: real[4]; z: real[4];", "y: real[4]", "y[i,] = (x[i,] + 0.5) ** z[i,], i < 4;"),
    (
        "quotients",
        "x: real[4]; z: real[4];",
        "y: real[4]",
        "y[i,] = x[i,] / (1.0 + `exp`(-z[i,])) % 0.7, i < 4;",
    ),
    (
        "moving average",
        "x: real[2,5];",
        "y: real[2,5]",
        "y[b,t] = x[b,t], b < 2, t < 5; y[b,t + 1] := 0.8 * y[b,t] + x[b,t + 1] * y[b,t], b < 2, t < 4;",
    ),
    (
        "dynamic time warping",
        "d: real[2,3,4];",
        "r: real[2,4,5]",
        "r[b,i,j] = i == 0 && j == 0 ? 0.0 : 3.0, b < 2, i < 4, j < 5;
         least = r[b,i,j] << r[b,i,j + 1] << r[b,i + 1,j],
         sum = `exp`(least - r[b,i,j]) + `exp`(least - r[b,i,j + 1]) + `exp`(least - r[b,i + 1,j]),
         r[b,i + 1,j + 1] := d[b,i,j] + least - `log`(sum), b < 2, i < 3, j < 4;",
    ),
    (
        "recurrence with a condition",
        "x: real[6];",
        "y: real[6]",
        "y[i,] = 2.0 * x[i,], i < 6; y[i + 2,] := y[i,] * x[i,] + y[i + 1,], i < 4 | i != 1;",
    ),
    (
        "reversed recurrence",
        "x: real[5];",
        "y: real[5]",
        "y[i,] = x[i,], i < 5; y[3 - i,] := y[4 - i,] * x[i,], i < 4;",
    ),
    (
        "recurrence with computed subscripts",
        "x: real[5];",
        "y: real[5]",
        "y[i,] = x[i,], i < 5; y[2 * i + 1 - i,] := y[i,] * x[i,], i < 4;",
    ),
    (
        "recurrence with a negated subscript",
        "x: real[5];",
        "y: real[5]",
        "y[i,] = x[i,], i < 5; y[-(i - 3),] := y[-(i - 4),] * x[i,], i < 4;",
    ),
    (
        "a selected row",
        "x: real[4,2]; at: int[3];",
        "y: real[3,2]",
        "y[i,j] = x[at[i,],j] * x[0,j], i < 3, j < 2;",
    ),
    (
        "a scattered row",
        "x: real[3,2]; at: int[3];",
        "y: real[4,2]",
        "y[at[i,],j] += x[i,j] * x[i,j], i < 3, j < 2;",
    ),
    (
        "linear recurrence of sums",
        "x: real[4,3]; w: real[3,3];",
        "h: real[5,3]",
        "h[i,j] = i == 0 ? 0.0 : x[i - 1,j], i < 5, j < 3; h[i + 1,j] := h[i + 1,j] + w[j,k] * h[i,k], i < 4, k < 3, j < 3;",
    ),
    (
        "best predecessors",
        "e: real[4,3]; t: real[3,3];",
        "s: real[4,3]",
        "s[i,j] = i == 0 ? e[i,j] : -100.0, i < 4, j < 3; s[i + 1,j] := s[i + 1,j] >> s[i,k] + t[k,j] + e[i + 1,j], i < 3, k < 3, j < 3;",
    ),
    ("Horner's rule", "x: real[]; c: real[4];", "y: real[]", "y[] = 0.0; y[] := y[] * x[] + c[i,], i < 4;"),
    (
        "Newton's method",
        "x: real[3];",
        "y: real[3]",
        "y[i,] = 1.0, i < 3; y[i,] := 0.5 * (y[i,] + x[i,] / y[i,]), k < 4, i < 3;",
    ),
    (
        "running products in place",
        "x: real[6];",
        "y: real[6]",
        "y[i,] = x[i,], i < 6; y[i + 1,] := y[i,] * y[i + 1,], i < 5;",
    ),
    (
        "steps at positions that data select",
        "x: real[5]; at: int[5]; by: int[5];",
        "y: real[3]",
        "y[i,] = x[i,] + 0.2, i < 3; y[at[i,],] := y[by[i,],] * x[i,] + `sin`(y[at[i,],]), i < 5;",
    ),
    (
        "steps with a condition on the number that they change",
        "x: real[5];",
        "y: real[]",
        "y[] = 0.3; y[] := 1.5 * x[i,], i < 5 | x[i,] > y[] && i != 2;",
    ),
    (
        "a guarded element that steps change",
        "x: real[5];",
        "y: real[5]",
        "y[i,] = x[i,], i < 5; y[i,] := i > 0 ? y[i - 1,] * y[i,] : 2.0 * y[i,], k < 2, i < 5;",
    ),
    (
        "a wavefront with a local in branches",
        "x: real[4,4];",
        "y: real[4,4]",
        "y[i,j] = x[i,j], i < 4, j < 4; v = y[i,j] * y[i + 1,j], y[i + 1,j + 1] := i > j ? v + y[i + 1,j + 1] : v * v, i < 3, j < 3;",
    ),
    (
        "numbers that advance together",
        "x: real[5]; z: real[];",
        "m: real[]",
        "m[] = z[]; s[] = 1.0; m[] := m[] + x[i,] * s[], i < 5; s[] := s[] * x[i,] + m[], i < 5;",
    ),
    (
        "smoothing by level and trend",
        "x: real[6]; a: real[]; b: real[];",
        "y: real[6]",
        "level[i,] = x[0,], i < 6; trend[i,] = x[1,] - x[0,], i < 6;
         level[k + 1,] := a[] * x[k + 1,] + (1.0 - a[]) * (level[k,] + trend[k,]), k < 5;
         trend[k + 1,] := b[] * (level[k + 1,] - level[k,]) + (1.0 - b[]) * trend[k,], k < 5;
         y[i,] = level[i,] + trend[i,] * trend[i,], i < 6;",
    ),
    (
        "an int and a real that advance together",
        "x: real[6];",
        "y: real[]",
        "n[] = 0; y[] = 0.0; n[] := y[] > 0.8 ? n[] + 1 : n[], i < 6; y[] := y[] * 0.5 + x[n[],] * x[i,], i < 6;",
    ),
    (
        "numbers that advance together, one by whole numbers of the other",
        "x: real[6]; z: real[];",
        "y: real[]",
        "m[] = z[]; s[] = 1.2; m[] := 0.5 * m[] + x[i,] + `floor`(s[]), i < 6; s[] := 0.3 * s[] * x[i,] + 0.4 * m[], i < 6;
         y[] = m[] * s[];",
    ),
    (
        "three numbers that advance together",
        "x: real[6]; z: real[];",
        "r: real[]",
        "m[] = z[]; s[] = 1.0; r[] = 0.0; m[] := m[] + x[i,] * s[], i < 6; s[] := 0.5 * s[] + `floor`(0.3 * r[]), i < 6;
         r[] := 0.5 * r[] * x[i,] + m[], i < 6;",
    ),
    ("no indices", "x: real[]; z: real[];", "y: real[]", "y[] = `tanh`(x[] * z[]) + `erf`(x[]);"),
];

/// A document with one operator that is invoked once.
pub fn document(inputs: &str, output: &str, formulas: &str) -> String {
    let names: Vec<&str> =
        inputs.split(';').filter_map(|input| Some(input.trim().split_once(':')?.0)).collect();
    let result = output.split(':').next().unwrap();
    format!(
        "operator o {{ @input {{ {inputs} }} @using {{ p = [0.5, -2.0]; }} @output {{ {output}; }} @lower {{ {formulas} }} }}
graph G {{ @input {{ {inputs} }} @output {{ {output}; }} @compose {{ {result} = o({}); }} }}",
        names.join(", ")
    )
}
