// SPDX-License-Identifier: Apache-2.0
//! Expressions (2.4).

use super::super::testing::{in_lower, in_using};
use super::{Rows, operator};
use crate::diagnostics::codes;

#[test]
fn s2_4_lists_and_indices() {
    let mut rows = Rows::default();
    rows.accept(&[16, 21], in_using("v = true; a1 = inf; b1 = pi; c1 = T(); d1 = int(); e1 = str();"));
    rows.accept(&[23, 76], in_using("v = [1, o] ?? [2];"));
    rows.reject(&[24], &codes::PACK_NOT_EXPANDED, in_using("v = [p, q..];"));
    rows.reject(&[24], &codes::PACK_NOT_EXPANDED, in_using("v = [[1, 2], 3];"));
    rows.accept(&[25, 29], in_using("v = [p.., q..]; z = [0, 2:n, p..]; s1 = [4:0:-1];"));
    rows.accept(&[26, 27], in_using("v = [n ..(3)]; z = [n ..(f)]; s1 = [(n + 1)..(k)];"));
    rows.reject(&[27], &codes::EXPANSION_COUNT, in_using("v = [n ..(w)];"));
    rows.reject(&[27], &codes::EXPANSION_COUNT, in_using("v = [n ..(p)];"));
    rows.accept(&[30], in_using("v = [(p, q)..]; z = [0, (p, q, p + 1)..];"));
    rows.reject(&[31], &codes::LENGTHS_DIFFER, in_using("v = [(p, [q.., 1])..];"));
    rows.reject(&[22, 30], &codes::TYPES_DIFFER, in_using("v = [(p, m)..];"));
    rows.reject(&[34], &codes::NOT_A_PACK, in_using("v = f[0];"));
    rows.reject(&[34], &codes::INDEX_TYPE, in_using("v = p[w];"));
    rows.reject(&[34], &codes::RANGE_TYPE, in_using("v = p[1.5:];"));
    rows.accept(
        &[35, 36, 37],
        in_using("v = p[-1]; z = p[[0, -1]]; s1 = p[::-1]; s2 = p[1:]; s3 = p[:n:2];"),
    );
    rows.accept(&[39], in_using("v = p[m]; z = p[!m]; s1 = p[p > 3];"));
    rows.reject(&[39], &codes::LENGTHS_DIFFER, in_using("v = p[[m.., true]];"));
    rows.reject(&[39], &codes::INDEX_TYPE, in_using("v = p[f];"));
    rows.accept(&[40], in_using("v = w[0]; z = w[1:3]; s1 = w[[0, 2]]; s2 = w[0] == \"a\";"));
    rows.reject(&[40], &codes::INDEX_TYPE, in_using("v = w[r];"));
    rows.accept(
        &[41, 44],
        in_using("v = p[0] <- 7; z = p[[0, 1]] <- [7, 8]; s1 = p[q] <- p; s2 = ps[0] <- 1.0;"),
    );
    rows.reject(&[42], &codes::SUBSTITUTION, in_using("v = p[0] <- true;"));
    rows.reject(&[42], &codes::INDEX_TYPE, in_using("v = p[m] <- q;"));
    rows.reject(&[43], &codes::LENGTHS_DIFFER, in_using("v = p[[0, 1]] <- [1, 2, 3];"));
    rows.reject(&[44], &codes::SUBSTITUTION, in_using("v = p[0] <- [1, 2];"));
    rows.reject(&[41], &codes::NOT_A_PACK, in_using("v = n[0] <- 1;"));
    rows.finish();
}

#[test]
fn s2_4_operators() {
    let mut rows = Rows::default();
    rows.accept(
        &[45, 46, 50, 52],
        in_using("v = +n; z = -r; s1 = n - 1 * 2 / 3; s2 = r ** 2.0; s3 = n << 2 >> 3;"),
    );
    rows.reject(&[45], &codes::OPERAND_TYPE, in_using("v = -w;"));
    rows.reject(&[45], &codes::OPERAND_TYPE, in_using("v = !r;"));
    rows.reject(&[46], &codes::OPERAND_TYPE, in_using("v = f + f;"));
    rows.reject(&[46], &codes::OPERAND_TYPE, in_using("v = w * 2;"));
    rows.reject(&[46], &codes::TYPES_DIFFER, in_using("v = r * 2;"));
    rows.reject(&[46], &codes::TYPES_DIFFER, in_using("v = 2 ** 0.5;"));
    rows.accept(&[47], in_using("v = f && !f || n > 0 ^ f => f;"));
    rows.reject(&[47], &codes::OPERAND_TYPE, in_using("v = f || n;"));
    rows.reject(&[47], &codes::OPERAND_TYPE, in_using("v = n => f;"));
    rows.accept(&[48], in_using("v = w < \"b\"; z = f == true; s1 = n >= 2; s2 = r != 1.0; s3 = s == s;"));
    rows.reject(&[49], &codes::TYPES_DIFFER, in_using("v = n < 1.5;"));
    rows.reject(&[49], &codes::TYPES_DIFFER, in_using("v = t == 1;"));
    rows.accept(&[51, 53], in_using("v = n % 2; z = n \\ 2; s1 = r % 2.0; s2 = r \\ 2.0;"));
    rows.accept(&[54], in_using("v = p + q; z = p + 1; s1 = 1 - p; s2 = m && f; s3 = p is 1;"));
    rows.reject(&[55], &codes::LENGTHS_DIFFER, in_using("v = p + [q.., 0];"));
    rows.accept(
        &[56, 57, 58, 60],
        in_using(
            "v = f ? n : 2; z = f ? n; s1 = m ? p : 0; s2 = f ? p : ps[0] > 0.0 ? [1] : [2, 3]; s3 = z ?? 1;",
        ),
    );
    rows.reject(&[56], &codes::CONDITION_NOT_BOOL, in_using("v = w ? 1 : 2;"));
    rows.reject(&[59], &codes::LENGTHS_DIFFER, in_using("v = m ? [p.., 1] : 0;"));
    rows.reject(&[56], &codes::TYPES_DIFFER, in_using("v = f ? 1 : true;"));
    rows.accept(&[61, 62], in_using("v = n is 1; z = p is 1; s1 = x.shape is line.shape; s2 = x is x;"));
    rows.accept(
        &[96],
        in_using("v = (o + 1) ?? 2; z = [o, 1] ?? [2]; s1 = (f ? o : 1) ?? 3; s2 = -o ?? 1; s3 = p[o] ?? 1;"),
    );
    rows.accept(&[97, 78], in_using("v = ?o ? o : 0; z = ?o && o > 1 ? o : 0; s1 = !?o ? 1 : 2; s2 = ?p;"));
    rows.reject(&[97], &codes::COALESCE_OPTIONALITY, in_using("v = (o ?? 1) ?? 2;"));
    rows.reject(&[76, 78], &codes::COALESCE_OPTIONALITY, in_using("v = ?o ? o ?? 1 : 0;"));
    rows.reject(&[76], &codes::TYPES_DIFFER, in_using("v = o ?? f;"));
    rows.accept(&[75], in_using("v = (f ? p) ?? [1, 2];"));
    rows.finish();
}

#[test]
fn s2_4_folds_casts_and_functions() {
    let mut rows = Rows::default();
    rows.reject(&[63], &codes::NOT_A_PACK, in_using("v = r * ..;"));
    rows.accept(&[64], in_using("v = p + ..; z = ps * ..; s1 = m && ..; s2 = m || ..;"));
    rows.reject(&[64], &codes::OPERAND_TYPE, in_using("v = m + ..;"));
    rows.reject(&[64], &codes::OPERAND_TYPE, in_using("v = p && ..;"));
    rows.accept(
        &[65, 66],
        in_using("v = p < ..; z = ps >= ..; s1 = p != ..; s2 = m == ..; s3 = [w, w] != ..;"),
    );
    rows.reject(&[65], &codes::OPERAND_TYPE, in_using("v = m < ..;"));
    rows.accept(
        &[67, 68, 69],
        in_using("v = (p := ..) ?? 0; z = (p << ..) ?? 0; s1 = (ps >> ..) ?? 0.0; s2 = (m := ..) ?? f;"),
    );
    rows.accept(&[71], in_using("v = p + .. + 42;"));
    rows.accept(&[72], in_using("v = p + ...; z = m && ...; s1 = p << ...; s2 = [1, p[::-1]..] * ...;"));
    rows.accept(&[74], in_using("v = n in p; z = p in q; s1 = w in [\"a\", \"b\"];"));
    rows.reject(&[74], &codes::TYPES_DIFFER, in_using("v = r in p;"));
    rows.reject(&[74], &codes::NOT_A_PACK, in_using("v = n in n;"));
    rows.accept(
        &[79, 81],
        in_using(
            "v = int(r); z = real(f); s1 = bool(n); s2 = T(1); s3 = int(inf); s4 = int(-inf); s5 = real(p);",
        ),
    );
    rows.reject(&[80], &codes::CAST_TYPE, in_using("v = str(n);"));
    rows.accept(
        &[83, 84],
        in_using("v = `erf`(r); z = `frac`(r); s1 = `abs`(n); s2 = `sign`(r); s3 = `exp`(ps);"),
    );
    rows.reject(&[83], &codes::BUILTIN_ARGUMENT, in_using("v = `exp`(n);"));
    rows.reject(&[83, 257], &codes::BUILTIN_ARGUMENT, in_using("v = `exp`(t);"));
    rows.reject(&[84], &codes::BUILTIN_ARGUMENT, in_using("v = `abs`(f);"));
    rows.accept(&[85], in_using("v = \"n={n + 1} p={p}\";"));
    rows.reject(&[85], &codes::UNKNOWN_NAME, in_using("v = \"{nothing}\";"));
    rows.accept(&[87, 88], in_using("v = x.shape[0] + x.rank + xs.size; z = [x.shape.., 1];"));
    rows.reject(&[87], &codes::NO_SUCH_PROPERTY, in_using("v = xs.rank;"));
    rows.reject(&[88], &codes::NO_SUCH_PROPERTY, in_using("v = x.size;"));
    rows.reject(&[89], &codes::ACCESS_OUTSIDE_LOWER, in_using("v = x[0,1] > 0.0;"));
    rows.reject(&[14], &codes::TENSOR_AS_VALUE, in_using("v = x;"));
    rows.reject(&[14], &codes::TENSOR_AS_VALUE, in_using("v = xs;"));
    rows.accept(&[14], in_using("v = ?maybe; z = ?maybe ? 1 : 2;"));
    rows.finish();
}

#[test]
fn s2_4_tensor_accesses() {
    let mut rows = Rows::default();
    rows.reject(&[90], &codes::INDEX_COUNT, in_lower("y[i,] = x[i,0,0], i < a;"));
    rows.accept(&[91], in_lower("y[i,] = x[i,p[0]] + line[int(line[i,]),], i < a;"));
    rows.accept(
        &[91],
        operator("@input { x: real[s..]; } @output { y: real[s..]; } @lower { y[i..] = x[i..], i < s; }"),
    );
    rows.accept(&[91, 234], operator("@input { x: real[b,s..]; } @output { y: real[b,s..]; } @lower { y[i..] = x[i..], i < [b, s..]; }"));
    rows.reject(
        &[90, 91],
        &codes::INDEX_COUNT,
        operator(
            "@input { x: real[b,s..(d)]; } @output { y: real[s..(d)]; } @lower { y[i..] += x[i..], i < s; }",
        ),
    );
    rows.accept(&[94], in_lower("y[i,] = xs[0][i,] + (xs[i,] + ..), i < a;"));
    rows.accept(&[94], in_lower("y[i,] += xs[j][i,], j < c, i < a;"));
    rows.reject(&[94], &codes::FORMULA_TYPE, in_lower("y[i,] = xs[i,], i < a;"));
    rows.accept(&[95], in_lower("y[i,] = line[|i - 1|,] + line[|i <> 0 : a - 1|,], i < a;"));
    rows.reject(&[95, 275], &codes::INDEX_TYPE, in_lower("y[i,] = line[|0.5|,], i < a;"));
    rows.reject(&[95], &codes::EXPANSION_COUNT, in_lower("y[i,] = line[|i|..], i < a;"));
    rows.accept(&[91], in_lower("y[i,] = (x[i,[0:b]] + ..), i < a;"));
    rows.reject(
        &[93],
        &codes::SHORT_ACCESS,
        operator("@input { x: real[s..(d)]; } @output { y: real[s..(d)]; } @lower { y[i..] = x[0], i < s; }"),
    );
    rows.finish();
}
