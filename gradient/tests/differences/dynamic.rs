// SPDX-License-Identifier: Apache-2.0
//! Models whose inputs have dynamic extents: `n`, `k` and `m`.

/// Name, inputs, output and formulas of an operator; the graph has the same inputs.
const FORMULAS: &[(&str, &str, &str, &str)] = &[
    (
        "contraction",
        "x: real[n,k]; w: real[k,2];",
        "y: real[n,2]",
        "y[i,j] += x[i,l] * w[l,j], i < n, j < 2, l < k;",
    ),
    ("mean", "x: real[n,3];", "y: real[]", "y[] += x[i,j] * x[i,j] / real(3 * n), i < n, j < 3;"),
    ("sum without factors", "x: real[n];", "y: real[]", "y[] += x[i,], i < n;"),
    (
        "window with a border",
        "x: real[n]; w: real[3];",
        "y: real[n]",
        "y[i,] += x[|i + j - 1|,] * w[j,], i < n, j < 3;",
    ),
    (
        "strided window",
        "x: real[n]; w: real[3];",
        "y: real[(n + 1) / 2]",
        "y[i,] += x[|2 * i + j - 1|,] * w[j,], i < (n + 1) / 2, j < 3;",
    ),
    (
        "reversed window",
        "x: real[n]; w: real[3];",
        "y: real[n]",
        "y[i,] += x[|n - 1 - i - j|,] * w[j,] * x[i,], i < n, j < 3;",
    ),
    ("reversal", "x: real[n];", "y: real[n]", "y[i,] = x[n - 1 - i,] * x[i,] * real(i), i < n;"),
    (
        "dilated window of two dimensions",
        "x: real[n,k]; w: real[2,2];",
        "y: real[n,k]",
        "y[i,j] += x[|i + 2 * a - 1|,|j + 2 * b - 1|] * w[a,b], i < n, j < k, a < 2, b < 2;",
    ),
    (
        "local tensor",
        "x: real[n,k];",
        "y: real[n,k]",
        "most[i,] >= x[i,j], i < n, j < k; sum[i,] += `exp`(x[i,j] - most[i,]), i < n, j < k;
         y[i,j] = `exp`(x[i,j] - most[i,]) / sum[i,], i < n, j < k;",
    ),
    ("maximum", "x: real[n,k,2];", "y: real[n]", "y[i,] >= x[i,j,l] * x[i,j,l], i < n, j < k, l < 2;"),
    ("minimum of all", "x: real[2,n,k];", "y: real[]", "y[] <= `sin`(3.0 * x[l,i,j]), l < 2, i < n, j < k;"),
    ("product", "x: real[n,k];", "y: real[k]", "y[j,] *= x[i,j], i < n, j < k;"),
    (
        "moving average",
        "x: real[n]; s: real[];",
        "y: real[n]",
        "y[i,] = s[] * x[i,], i < n; y[i + 1,] := 0.5 * y[i,] + x[i + 1,], i < n - 1;",
    ),
    (
        "running total in reversed order",
        "x: real[n];",
        "y: real[n]",
        "y[i,] = x[i,], i < n; y[n - 2 - i,] := y[n - 1 - i,] * 0.5 + x[n - 2 - i,] * x[0,], i < n - 1;",
    ),
    (
        "two numbers that advance together",
        "x: real[n,3];",
        "y: real[]",
        "a[] = 1.0; b[] = 0.5; a[] := 0.3 * a[] * b[] + x[i,j], i < n, j < 3; b[] := 0.5 * `sin`(a[]) + 0.2 * b[], i < n, j < 3;
         y[] = a[] * b[];",
    ),
    (
        "gather",
        "x: real[n,k]; at: int[m];",
        "y: real[m,k]",
        "y[i,j] = x[|at[i,]|,j] * x[|0|,j], i < m, j < k;",
    ),
    (
        "scatter",
        "x: real[m]; at: int[m]; start: real[n];",
        "y: real[n]",
        "y[i,] = start[i,], i < n; y[at[i,],] += x[i,] * x[i,], i < m | at[i,] < n && at[i,] >= 0;",
    ),
    (
        "last step",
        "x: real[n,k];",
        "y: real[k]",
        "y[j,] = 0.0, j < k; y[j,] := x[i,j] * x[i,0], i < n, j < k | x[i,j] > 0.3;",
    ),
    (
        "triangle",
        "x: real[n]; w: real[n,n];",
        "y: real[n]",
        "y[i,] += x[j,] * w[i,j], i < n, j < n | j <= i;",
    ),
];

/// Graphs and operators.
const GRAPHS: &[(&str, &str)] = &[
    (
        "composite operators with other names, and one operator for tensors of different extents",
        "operator twice { @input { x: real[k,n]; } @output { y: real[k,n]; } @compose { a = scaled(x); y = scaled(a); } }
operator scaled { @input { x: real[m,k]; } @output { y: real[m,k]; } @lower { y[i,j] = x[i,j] * x[i,j] / real(m + 1), i < m, j < k; } }
operator sum { @input { x: real[n,k]; } @output { y: real[]; } @lower { y[] += x[i,j], i < n, j < k; } }
operator plus { @input { x: real[]; y: real[]; } @output { z: real[]; } @lower { z[] = x[] + y[]; } }
graph G { @input { x: real[n|5,3]; w: real[n|5,k|6]; } @output { y: real[]; }
    @compose { a = twice(x); b = twice(w); s = sum(a); t = sum(b); y = plus(s, t); } }",
    ),
    (
        "a branch and a tensor that is used twice",
        "operator scaled { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] * x[i,], i < n; } }
operator sum { @input { x: real[n]; } @output { y: real[]; } @lower { y[] += x[i,], i < n; } }
operator plus { @input { x: real[n]; y: real[n]; } @output { z: real[n]; } @lower { z[i,] = x[i,] * y[i,], i < n; } }
operator positive { @input { x: real[]; } @output { y: bool[]; } @lower { y[] = x[] > 1.0; } }
graph G { @input { x: real[n|5]; } @output { y: real[~]; }
    @compose { s = sum(x); c = positive(s); a = if c then scaled(x) else plus(x, x); y = plus(a, x); } }",
    ),
    (
        "variables",
        "operator dense { @input { x: real[n,k]; w: real[k,m]; } @output { y: real[n,m]; }
    @lower { y[i,j] += x[i,l] * w[l,j], i < n, j < m, l < k; } }
graph G { @input { x: real[~|5,3]; } @variable { w: real[3,2]; } @output { y: real[~,2]; } @compose { y = dense(x, w); } }",
    ),
];

/// The documents, with their names.
pub fn documents() -> impl Iterator<Item = (&'static str, String)> {
    let formulas = FORMULAS.iter().map(|(name, inputs, output, text)| {
        let names: Vec<&str> =
            inputs.split(';').filter_map(|input| Some(input.trim().split_once(':')?.0)).collect();
        let result = output.split(':').next().unwrap();
        let bounded = ["n", "k", "m"].iter().zip(5..).fold((*inputs).to_owned(), |text, (name, bound)| {
            let text = text.replace(&format!("[{name}"), &format!("[{name}|{bound}"));
            text.replace(&format!(",{name}"), &format!(",{name}|{bound}"))
        });
        let document = format!(
            "operator o {{ @input {{ {inputs} }} @output {{ {output}; }} @lower {{ {text} }} }}
graph G {{ @input {{ {bounded} }} @output {{ {result}: real; }} @compose {{ {result} = o({}); }} }}",
            names.join(", ")
        );
        (*name, document)
    });
    formulas.chain(GRAPHS.iter().map(|(name, text)| (*name, (*text).to_owned())))
}
