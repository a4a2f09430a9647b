//! The statements of chapter 2 that a definition alone shows, by their number in the checklist of normative statements.
//! What fires every code is tested with the code; here is what the rules say beside it.

use super::testing::{Document, check, in_compose, in_document, in_lower, in_module, in_using};
use crate::diagnostics::{Code, codes};

const GRAPH: &str =
    "graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }";

/// Wrong outcomes of rows.
#[derive(Default)]
struct Rows(Vec<String>);

impl Rows {
    fn accept(&mut self, numbers: &[u16], document: Document) {
        let found = check(&document);
        if let Some(d) = found.first() {
            let text = document.first().map_or("", |(_, t)| t.as_str());
            self.0
                .push(format!("{numbers:?} {}: {}\n{text}", d.code.id, d.message));
        }
    }

    fn reject(&mut self, numbers: &[u16], code: &Code, document: Document) {
        let found: Vec<(&str, String)> = check(&document)
            .into_iter()
            .map(|d| (d.code.id, d.message))
            .collect();
        if found.len() != 1 || found.iter().any(|(id, _)| *id != code.id) {
            let text = document.first().map_or("", |(_, t)| t.as_str());
            self.0.push(format!(
                "{numbers:?} wanted {}, got {found:?}\n{text}",
                code.id
            ));
        }
    }

    fn finish(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

/// An operator with these blocks, and a graph.
fn operator(blocks: &str) -> Document {
    in_document(&format!("operator o {{ {blocks} }} {GRAPH}"))
}

/// A graph with these blocks, alone.
fn graph(blocks: &str) -> Document {
    in_document(&format!("graph G {{ {blocks} }}"))
}

#[test]
fn s2_2_blocks_and_visibility() {
    let mut rows = Rows::default();
    rows.accept(
        &[1, 3],
        operator("@output { y: real[n]; } @input { x: real[n]; }"),
    );
    rows.accept(
        &[4],
        operator("@output { y: real[u]; } @using { u = n + a; } @input { x: real[n]; } @attrib { a: int; }"),
    );
    rows.accept(
        &[4, 154],
        operator("@constant { c: real[u] = 1.0; } @using { u = 3; }"),
    );
    rows.reject(
        &[4],
        &codes::NAME_NOT_VISIBLE,
        operator("@using { u = y.rank; } @output { y: real[2]; }"),
    );
    rows.accept(
        &[5, 232],
        graph("@input { x: real[2]; } @variable { w: real[2]; } @output { y: real[2]; } @compose { t = x; y = t; } @update { u = t; w = u; }"),
    );
    rows.reject(
        &[5],
        &codes::NAME_NOT_VISIBLE,
        graph("@input { x: real[2]; } @variable { w: real[2]; } @output { y: real[2]; } @compose { y = t; } @update { t = x; w = t; }"),
    );
    rows.finish();
}

#[test]
fn s2_3_types() {
    let mut rows = Rows::default();
    rows.accept(
        &[7],
        operator("@attrib { a: int..; b: real..(k); c: str..(2 * k); }"),
    );
    rows.accept(
        &[9, 10],
        operator("@input { x: optional int[m,n]..(k); y: real[s..(r)]; }"),
    );
    rows.accept(
        &[11, 114],
        operator("@input { x: int[m,..n]..(k); } @using { v = n + ..; w = [n.., k]; }"),
    );
    rows.reject(&[6], &codes::UNKNOWN_TYPE, operator("@attrib { a: num; }"));
    rows.reject(
        &[6],
        &codes::UNKNOWN_TYPE,
        operator("@input { x: float[2]; }"),
    );
    rows.finish();
}

#[test]
fn s2_4_lists_and_indices() {
    let mut rows = Rows::default();
    rows.accept(
        &[16, 21],
        in_using("v = true; a1 = inf; b1 = pi; c1 = T(); d1 = int(); e1 = str();"),
    );
    rows.accept(&[23, 76], in_using("v = [1, o] ?? [2];"));
    rows.reject(&[24], &codes::PACK_NOT_EXPANDED, in_using("v = [p, q..];"));
    rows.reject(
        &[24],
        &codes::PACK_NOT_EXPANDED,
        in_using("v = [[1, 2], 3];"),
    );
    rows.accept(
        &[25, 29],
        in_using("v = [p.., q..]; z = [0, 2:n, p..]; s1 = [4:0:-1];"),
    );
    rows.accept(
        &[26, 27],
        in_using("v = [n ..(3)]; z = [n ..(f)]; s1 = [(n + 1)..(k)];"),
    );
    rows.reject(&[27], &codes::EXPANSION_COUNT, in_using("v = [n ..(w)];"));
    rows.reject(&[27], &codes::EXPANSION_COUNT, in_using("v = [n ..(p)];"));
    rows.accept(&[30], in_using("v = [(p, q)..]; z = [0, (p, q, p + 1)..];"));
    rows.reject(
        &[31],
        &codes::LENGTHS_DIFFER,
        in_using("v = [(p, [q.., 1])..];"),
    );
    rows.reject(&[22, 30], &codes::TYPES_DIFFER, in_using("v = [(p, m)..];"));
    rows.reject(&[34], &codes::NOT_A_PACK, in_using("v = f[0];"));
    rows.reject(&[34], &codes::INDEX_TYPE, in_using("v = p[w];"));
    rows.reject(&[34], &codes::RANGE_TYPE, in_using("v = p[1.5:];"));
    rows.accept(
        &[35, 36, 37],
        in_using("v = p[-1]; z = p[[0, -1]]; s1 = p[::-1]; s2 = p[1:]; s3 = p[:n:2];"),
    );
    rows.accept(&[39], in_using("v = p[m]; z = p[!m]; s1 = p[p > 3];"));
    rows.reject(
        &[39],
        &codes::LENGTHS_DIFFER,
        in_using("v = p[[m.., true]];"),
    );
    rows.reject(&[39], &codes::INDEX_TYPE, in_using("v = p[f];"));
    rows.accept(
        &[40],
        in_using("v = w[0]; z = w[1:3]; s1 = w[[0, 2]]; s2 = w[0] == \"a\";"),
    );
    rows.reject(&[40], &codes::INDEX_TYPE, in_using("v = w[r];"));
    rows.accept(
        &[41, 44],
        in_using("v = p[0] <- 7; z = p[[0, 1]] <- [7, 8]; s1 = p[q] <- p; s2 = ps[0] <- 1.0;"),
    );
    rows.reject(&[42], &codes::SUBSTITUTION, in_using("v = p[0] <- true;"));
    rows.reject(&[42], &codes::INDEX_TYPE, in_using("v = p[m] <- q;"));
    rows.reject(
        &[43],
        &codes::LENGTHS_DIFFER,
        in_using("v = p[[0, 1]] <- [1, 2, 3];"),
    );
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
    rows.accept(
        &[48],
        in_using("v = w < \"b\"; z = f == true; s1 = n >= 2; s2 = r != 1.0; s3 = s == s;"),
    );
    rows.reject(&[49], &codes::TYPES_DIFFER, in_using("v = n < 1.5;"));
    rows.reject(&[49], &codes::TYPES_DIFFER, in_using("v = t == 1;"));
    rows.accept(
        &[51, 53],
        in_using("v = n % 2; z = n \\ 2; s1 = r % 2.0; s2 = r \\ 2.0;"),
    );
    rows.accept(
        &[54],
        in_using("v = p + q; z = p + 1; s1 = 1 - p; s2 = m && f; s3 = p is 1;"),
    );
    rows.reject(&[55], &codes::LENGTHS_DIFFER, in_using("v = p + [q.., 0];"));
    rows.accept(&[56, 57, 58, 60], in_using("v = f ? n : 2; z = f ? n; s1 = m ? p : 0; s2 = f ? p : ps[0] > 0.0 ? [1] : [2, 3]; s3 = z ?? 1;"));
    rows.reject(
        &[56],
        &codes::CONDITION_NOT_BOOL,
        in_using("v = w ? 1 : 2;"),
    );
    rows.reject(
        &[59],
        &codes::LENGTHS_DIFFER,
        in_using("v = m ? [p.., 1] : 0;"),
    );
    rows.reject(&[56], &codes::TYPES_DIFFER, in_using("v = f ? 1 : true;"));
    rows.accept(
        &[61, 62],
        in_using("v = n is 1; z = p is 1; s1 = x.shape is line.shape; s2 = x is x;"),
    );
    rows.accept(&[96], in_using("v = (o + 1) ?? 2; z = [o, 1] ?? [2]; s1 = (f ? o : 1) ?? 3; s2 = -o ?? 1; s3 = p[o] ?? 1;"));
    rows.accept(
        &[97, 78],
        in_using("v = ?o ? o : 0; z = ?o && o > 1 ? o : 0; s1 = !?o ? 1 : 2; s2 = ?p;"),
    );
    rows.reject(
        &[97],
        &codes::COALESCE_OPTIONALITY,
        in_using("v = (o ?? 1) ?? 2;"),
    );
    rows.reject(
        &[76, 78],
        &codes::COALESCE_OPTIONALITY,
        in_using("v = ?o ? o ?? 1 : 0;"),
    );
    rows.reject(&[76], &codes::TYPES_DIFFER, in_using("v = o ?? f;"));
    rows.accept(&[75], in_using("v = (f ? p) ?? [1, 2];"));
    rows.finish();
}

#[test]
fn s2_4_folds_casts_and_functions() {
    let mut rows = Rows::default();
    rows.reject(&[63], &codes::NOT_A_PACK, in_using("v = r * ..;"));
    rows.accept(
        &[64],
        in_using("v = p + ..; z = ps * ..; s1 = m && ..; s2 = m || ..;"),
    );
    rows.reject(&[64], &codes::OPERAND_TYPE, in_using("v = m + ..;"));
    rows.reject(&[64], &codes::OPERAND_TYPE, in_using("v = p && ..;"));
    rows.accept(
        &[65, 66],
        in_using("v = p < ..; z = ps >= ..; s1 = p != ..; s2 = m == ..; s3 = [w, w] != ..;"),
    );
    rows.reject(&[65], &codes::OPERAND_TYPE, in_using("v = m < ..;"));
    rows.accept(
        &[67, 68, 69],
        in_using(
            "v = (p := ..) ?? 0; z = (p << ..) ?? 0; s1 = (ps >> ..) ?? 0.0; s2 = (m := ..) ?? f;",
        ),
    );
    rows.accept(&[71], in_using("v = p + .. + 42;"));
    rows.accept(
        &[72],
        in_using("v = p + ...; z = m && ...; s1 = p << ...; s2 = [1, p[::-1]..] * ...;"),
    );
    rows.accept(
        &[80],
        in_using("v = n in p; z = p in q; s1 = w in [\"a\", \"b\"];"),
    );
    rows.reject(&[80], &codes::TYPES_DIFFER, in_using("v = r in p;"));
    rows.reject(&[80], &codes::NOT_A_PACK, in_using("v = n in n;"));
    rows.accept(&[79, 81], in_using("v = int(r); z = real(f); s1 = bool(n); s2 = T(1); s3 = int(inf); s4 = int(-inf); s5 = real(p);"));
    rows.reject(&[80], &codes::CAST_TYPE, in_using("v = str(n);"));
    rows.accept(
        &[83, 84],
        in_using("v = `erf`(r); z = `frac`(r); s1 = `abs`(n); s2 = `sign`(r); s3 = `exp`(ps);"),
    );
    rows.reject(&[83], &codes::BUILTIN_ARGUMENT, in_using("v = `exp`(n);"));
    rows.reject(
        &[83, 257],
        &codes::BUILTIN_ARGUMENT,
        in_using("v = `exp`(t);"),
    );
    rows.reject(&[84], &codes::BUILTIN_ARGUMENT, in_using("v = `abs`(f);"));
    rows.accept(&[85], in_using("v = \"n={n + 1} p={p}\";"));
    rows.reject(&[85], &codes::UNKNOWN_NAME, in_using("v = \"{nothing}\";"));
    rows.accept(
        &[87, 88],
        in_using("v = x.shape[0] + x.rank + xs.size; z = [x.shape.., 1];"),
    );
    rows.reject(&[87], &codes::NO_SUCH_PROPERTY, in_using("v = xs.rank;"));
    rows.reject(&[88], &codes::NO_SUCH_PROPERTY, in_using("v = x.size;"));
    rows.reject(
        &[89],
        &codes::ACCESS_OUTSIDE_LOWER,
        in_using("v = x[0,1] > 0.0;"),
    );
    rows.reject(&[14], &codes::TENSOR_AS_VALUE, in_using("v = x;"));
    rows.reject(&[14], &codes::TENSOR_AS_VALUE, in_using("v = xs;"));
    rows.accept(&[14], in_using("v = ?maybe; z = ?maybe ? 1 : 2;"));
    rows.finish();
}

#[test]
fn s2_4_tensor_accesses() {
    let mut rows = Rows::default();
    rows.reject(
        &[90],
        &codes::INDEX_COUNT,
        in_lower("y[i,] = x[i,0,0], i < a;"),
    );
    rows.accept(
        &[91],
        in_lower("y[i,] = x[i,p[0]] + line[int(line[i,]),], i < a;"),
    );
    rows.accept(
        &[91],
        operator(
            "@input { x: real[s..]; } @output { y: real[s..]; } @lower { y[i..] = x[i..], i < s; }",
        ),
    );
    rows.accept(&[91, 234], operator("@input { x: real[b,s..]; } @output { y: real[b,s..]; } @lower { y[i..] = x[i..], i < [b, s..]; }"));
    rows.reject(
        &[90, 91],
        &codes::INDEX_COUNT,
        operator("@input { x: real[b,s..(d)]; } @output { y: real[s..(d)]; } @lower { y[i..] += x[i..], i < s; }"),
    );
    rows.accept(&[94], in_lower("y[i,] = xs[0][i,] + (xs[i,] + ..), i < a;"));
    rows.accept(&[94], in_lower("y[i,] += xs[j][i,], j < c, i < a;"));
    rows.reject(
        &[94],
        &codes::FORMULA_TYPE,
        in_lower("y[i,] = xs[i,], i < a;"),
    );
    rows.accept(
        &[95],
        in_lower("y[i,] = line[|i - 1|,] + line[|i <> 0 : a - 1|,], i < a;"),
    );
    rows.reject(
        &[95, 275],
        &codes::INDEX_TYPE,
        in_lower("y[i,] = line[|0.5|,], i < a;"),
    );
    rows.reject(
        &[95],
        &codes::EXPANSION_COUNT,
        in_lower("y[i,] = line[|i|..], i < a;"),
    );
    rows.accept(&[91], in_lower("y[i,] = (x[i,[0:b]] + ..), i < a;"));
    rows.reject(&[93], &codes::SHORT_ACCESS, operator("@input { x: real[s..(d)]; } @output { y: real[s..(d)]; } @lower { y[i..] = x[0], i < s; }"));
    rows.finish();
}

#[test]
fn s2_5_attributes() {
    let mut rows = Rows::default();
    rows.accept(&[101, 102], operator("@attrib { r: int; a: int.. = [0:r]; b: int..(r) = 0; c: int = n - 1; } @input { x: real[n]; }"));
    rows.accept(
        &[102],
        operator("@attrib { a: int = x.rank; b: int = a + 1; } @input { x: real[s..]; }"),
    );
    rows.accept(
        &[105],
        operator("@attrib { r: optional int; a: int..(k) = [0:r]; }"),
    );
    rows.reject(
        &[104],
        &codes::OPTIONAL_DEFAULT,
        operator("@attrib { a: optional int.. = [1]; }"),
    );
    rows.reject(
        &[145],
        &codes::DEFAULT_CYCLE,
        operator("@attrib { a: int = a + 1; }"),
    );
    rows.reject(
        &[145],
        &codes::UNKNOWN_NAME,
        operator("@attrib { a: int = nothing; }"),
    );
    rows.reject(
        &[103],
        &codes::DEFAULT_TYPE,
        operator("@attrib { a: int = [1]; }"),
    );
    rows.reject(
        &[99],
        &codes::DEFAULT_TYPE,
        operator("@attrib { a: str = 1; }"),
    );
    rows.reject(
        &[99],
        &codes::DEFAULT_TYPE,
        operator("@dtype { T: num; } @attrib { a: T = 1; }"),
    );
    rows.accept(
        &[99],
        operator("@dtype { T: num; } @attrib { a: T = T(1); b: real = 1; c: real..(2) = [1, 2]; }"),
    );
    rows.finish();
}

#[test]
fn s2_6_shapes() {
    let mut rows = Rows::default();
    rows.accept(
        &[108],
        operator("@attrib { f: bool; } @input { x: real[s..(f),n]; } @using { v = s ?? 1; }"),
    );
    rows.accept(
        &[109],
        operator("@input { x: real^(r)[s..(d),z..(r - d)]; y: real[s..(d)]; }"),
    );
    rows.accept(&[110, 122], operator("@attrib { f: bool; o: optional int; } @input { x: real[n]; } @output { y: real[n,f ? 1,o]; }"));
    rows.accept(
        &[112, 113],
        operator("@input { x: optional real[z,s..(l),..t]..(k); }"),
    );
    rows.accept(
        &[115, 118],
        operator("@attrib { n: int; } @input { x: real[m,k + 1,s..(2 * d),n / 2]; }"),
    );
    rows.accept(&[118], operator("@input { x: real[2 * (m + 1) - m]; }"));
    rows.reject(
        &[116],
        &codes::UNDETERMINED_EXTENT,
        operator("@input { x: real[m / 2]; }"),
    );
    rows.reject(
        &[116],
        &codes::UNDETERMINED_EXTENT,
        operator("@input { x: real[m * m]; }"),
    );
    rows.reject(
        &[116],
        &codes::UNDETERMINED_EXTENT,
        operator("@attrib { n: int; } @input { x: real[m + n]; }"),
    );
    rows.reject(
        &[275],
        &codes::EXTENT_TYPE,
        operator("@attrib { r: real; } @input { x: real[r]; }"),
    );
    rows.reject(
        &[275],
        &codes::EXTENT_TYPE,
        operator("@attrib { a: int..(2.5); }"),
    );
    rows.accept(
        &[120],
        operator("@input { x: real[] = 1.0; xs: real[]..(2) = [1.0, 2.0]; h: real[b,n] = 0.0; }"),
    );
    rows.reject(
        &[121],
        &codes::UNKNOWN_NAME,
        operator("@input { x: real[n]; } @output { y: real[m]; }"),
    );
    rows.accept(&[123, 132, 133], operator("@attrib { k: int; } @input { x: real[n]; } @output { y: real[s|k,n]; z: real[s|k]; w: real[~|k]; }"));
    rows.reject(
        &[124, 132],
        &codes::UNBOUNDED_EXTENT,
        operator("@input { x: real[n]; } @output { y: real[~,n]; }"),
    );
    rows.accept(
        &[125],
        graph("@input { x: real[s|10]; z: real[s]; } @output { y: real[s]; } @compose { y = x; }"),
    );
    rows.accept(&[128], graph("@input { x: real[2,3]; } @output { y: real[~,~]; z: real; } @compose { y = x; z = x; }"));
    rows.accept(&[129, 130], graph("@input { x: real[~|10,~|20]; z: real[~|10 ..(3)]; } @output { y: real; } @compose { y = x; }"));
    rows.accept(
        &[131],
        in_document("graph G { @input { c: bool[]; x: real[2]; } @output { y: real; } @compose { y = if c then S(x) else R(x); } } graph S { @input { x: real[~]; } @output { y: real[~]; } @compose { y = x; } } graph R { @input { x: real; } @output { y: real; } @compose { y = x; } }"),
    );
    rows.finish();
}

#[test]
fn s2_6_1_binding_order() {
    let mut rows = Rows::default();
    rows.accept(
        &[134],
        operator("@attrib { r: int; } @input { x: real[s..(r),t..]; }"),
    );
    rows.accept(
        &[136, 141, 142],
        operator("@input { x: real[s..(d),t..]; y: real[s..(d)]; }"),
    );
    rows.accept(
        &[136],
        operator("@input { x: real[s..,t..]; y: real[s..]; }"),
    );
    rows.accept(&[140, 145], operator("@attrib { r: int; a: optional int; b: int..(d) = 0; c: int = 2 * d + r; } @input { x: real[s..(r),z..(d),t..]; y: real[s..(r),z..(d)]; }"));
    rows.reject(
        &[137],
        &codes::AMBIGUOUS_SHAPE,
        operator("@attrib { a: int..(d); } @input { x: real[s..(d),t..]; }"),
    );
    rows.reject(
        &[138],
        &codes::AMBIGUOUS_SHAPE,
        operator("@attrib { a: optional int; } @input { x: real[s..(a),t..]; }"),
    );
    rows.reject(
        &[140],
        &codes::AMBIGUOUS_SHAPE,
        operator("@attrib { b: int; a: int = b; } @input { x: real[s..(a),t..]; }"),
    );
    rows.reject(
        &[143, 144],
        &codes::AMBIGUOUS_SHAPE,
        operator("@input { x: real[s..,t..]; y: optional real[s..]; }"),
    );
    rows.accept(
        &[143],
        operator("@input { y: optional real[s..,t..]; x: real[s..]; }"),
    );
    rows.accept(
        &[137],
        operator("@attrib { a: int..(d); } @input { x: real[b,c,s..(d)]; y: real[n,c,f..(d)]; }"),
    );
    rows.accept(
        &[134],
        operator(
            "@attrib { axis: int; } @input { x: real^(r)[s..(axis < 0 ? axis + r : axis),z,t..]; }",
        ),
    );
    rows.finish();
}

#[test]
fn s2_7_to_2_9_constants_assertions_helpers() {
    let mut rows = Rows::default();
    rows.accept(&[153, 155, 157], operator("@attrib { n: int; } @constant { c: real[n,n] = i == j ? 1.0 : 0.0, i < n, j < n; d: int[2,2] = [1, 2, 3, 4]; e: real[] = 1; }"));
    rows.reject(
        &[154],
        &codes::UNKNOWN_NAME,
        operator("@constant { c: real[m] = 0.0; }"),
    );
    rows.reject(
        &[156],
        &codes::CONSTANT_INITIALIZER,
        operator("@constant { c: int[2,2] = [1, 2, 3]; }"),
    );
    rows.reject(
        &[158],
        &codes::CONSTANT_INITIALIZER,
        operator("@constant { c: real[2].. = [1.0, 2.0]; }"),
    );
    rows.reject(
        &[158],
        &codes::CONSTANT_INITIALIZER,
        operator("@constant { c: real[2]..(2) = 1.0; }"),
    );
    rows.reject(
        &[158],
        &codes::CONSTANT_INITIALIZER,
        operator("@constant { c: real[2]..(2) = [1.0]; }"),
    );
    rows.reject(
        &[161],
        &codes::ASSERTION_NOT_BOOL,
        operator("@attrib { a: int..; } @assert { a; }"),
    );
    rows.accept(&[162, 164, 165, 166], operator("@attrib { a: int..; o: optional int; } @assert { a > 0: \"got {a}\", 'label': a, o; o > 1; }"));
    rows.reject(
        &[162],
        &codes::UNKNOWN_NAME,
        operator("@attrib { a: int; } @assert { a > 0: \"text\", b; }"),
    );
    rows.accept(&[167, 169, 170], in_using("v = n + 1; c1..(k) = p + v; [h, g..] = q; [(e, e2)..] = p; [j1, j2..(2)] = q; all = [h, g.., e.., v];"));
    rows.reject(&[169], &codes::LENGTHS_DIFFER, in_using("c1..(k + 1) = p;"));
    rows.reject(&[170], &codes::NOT_A_PACK, in_using("[h, g..] = n;"));
    rows.reject(
        &[171],
        &codes::LENGTHS_DIFFER,
        in_using("[h, g] = [1, 2, 3];"),
    );
    rows.reject(
        &[168],
        &codes::NAME_NOT_VISIBLE,
        in_using("v = v1; v1 = 2;"),
    );
    rows.finish();
}

#[test]
fn s2_10_statements() {
    let mut rows = Rows::default();
    rows.accept(
        &[174, 179],
        in_compose("z = id(x); u = add(z, 1.0 + 0.5); y = add(u, n);"),
    );
    rows.reject(&[175], &codes::UNKNOWN_OPERATOR, in_compose("y = idd(x);"));
    rows.reject(&[177], &codes::OUTPUT_NOT_ASSIGNED, in_compose(""));
    rows.reject(
        &[180],
        &codes::TENSOR_AS_VALUE,
        in_compose("y = scale{k=w}(x);"),
    );
    rows.accept(
        &[181, 182],
        in_compose("[u, v] = split{n=2}(x); s..(3) = split{n=3}(x); y = join([u, v, s.., x]);"),
    );
    rows.accept(
        &[182],
        in_compose("[u, v..(2)] = split{n=3}(x); y = join(v);"),
    );
    rows.accept(
        &[183, 185],
        in_compose("y = add(x, x); ~, u = two(x); v = add(x, x, ~);"),
    );
    rows.reject(&[184], &codes::MISSING_ARGUMENT, in_compose("y = add(x);"));
    rows.accept(&[186], in_compose("y = label: scale{k=2.0}(x);"));
    rows.accept(
        &[194],
        in_compose("z = f ? x : w; u = xs[0]; v..(2) = xs[1:]; t..(4) = [xs.., x]; y = z;"),
    );
    rows.reject(&[14], &codes::TENSOR_AS_VALUE, in_compose("y = -x;"));
    rows.reject(
        &[89],
        &codes::ACCESS_OUTSIDE_LOWER,
        in_compose("y = x[0,];"),
    );
    rows.accept(
        &[195, 197, 199, 201],
        in_compose("y = { x = scale{k=2.0}(x); z = id(x); yield z; };"),
    );
    rows.reject(
        &[199],
        &codes::UNKNOWN_NAME,
        in_compose("u = { z = id(x); yield z; }; y = z;"),
    );
    rows.reject(
        &[176],
        &codes::ASSIGNED_TWICE,
        in_compose("y = { z = id(x); z = id(x); yield z; };"),
    );
    rows.reject(
        &[231],
        &codes::NOT_ASSIGNABLE,
        in_compose("y = x; w = id(x);"),
    );
    rows.accept(&[193], in_document("graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = lab: S(x); } } graph S { @input { x: real[~]; } @output { y: real[~]; } @compose { y = x; } }"));
    rows.reject(&[178], &codes::ASSIGNED_TYPE, in_compose("y = i;"));
    rows.accept(
        &[178, 179],
        in_document("graph G { @output { y: real[]; } @compose { y = 1; } }"),
    );
    rows.reject(
        &[178],
        &codes::ASSIGNED_TYPE,
        in_document("graph G { @output { y: int[]; } @compose { y = 1.5; } }"),
    );
    rows.reject(&[178], &codes::TARGET_NOT_A_PACK, in_compose("y = xs;"));
    rows.finish();
}

#[test]
fn s2_10_1_branches_and_loops() {
    let mut rows = Rows::default();
    rows.accept(
        &[202, 204],
        in_compose("y = if f then id(x) elif n > 1 then w else { z = id(x); yield z; };"),
    );
    rows.accept(
        &[202],
        in_compose("y = if { c = less(x); yield b; } then x else w;"),
    );
    rows.reject(
        &[202],
        &codes::BRANCH_CONDITION,
        in_compose("y = if n then x else w;"),
    );
    rows.reject(
        &[202],
        &codes::BRANCHES_DIFFER,
        in_compose("y = if b then two(x) else id(x);"),
    );
    let promoted = |body: &str| {
        in_document(&format!(
            "operator id {{ @input {{ x: real[s..]; }} @output {{ y: real[s..]; }} }} operator o {{ @attrib {{ c: bool; }} @input {{ x: real[n]; z: optional real[n]; }} @output {{ y: real[n]; }} @compose {{ {body} }} }} {GRAPH}"
        ))
    };
    rows.accept(&[205], promoted("y = if ?z then { yield z; } else x;"));
    rows.accept(&[205], promoted("y = if ?z && c then { yield z; } else x;"));
    rows.reject(
        &[198, 206],
        &codes::YIELD_OPTIONAL,
        promoted("y = if ?z then x else { yield z; };"),
    );
    rows.reject(
        &[206],
        &codes::ARGUMENT_TYPE,
        promoted("y = if ?z then x else id(z);"),
    );
    rows.accept(
        &[205],
        promoted("y = if ?z then id(z) elif c then id(x) else x;"),
    );
    rows.accept(
        &[208, 211],
        in_compose("v..(3) = for e : xs do id(e); y = x;"),
    );
    rows.reject(
        &[208],
        &codes::NOT_A_PACK,
        in_compose("v..(3) = for e : x do id(e); y = x;"),
    );
    rows.reject(
        &[209],
        &codes::LENGTHS_DIFFER,
        in_compose("v..(3) = for e : xs, g : [x, w] do add(e, g); y = x;"),
    );
    rows.reject(
        &[210],
        &codes::UNKNOWN_NAME,
        in_compose("v..(3) = for e : xs do id(e); y = e;"),
    );
    rows.accept(
        &[212, 215, 216],
        in_compose("y, h..(3) = with s: real[4] = 0.0 for e : xs do two(e);"),
    );
    rows.reject(
        &[212],
        &codes::CARRIED_TYPE,
        in_compose("y = with s: int[4] = 0.5 do..(2) id(x);"),
    );
    rows.accept(
        &[217, 219, 221],
        in_compose("u = with s = 0 do..(k -> i) same(s, k); y = x;"),
    );
    rows.reject(
        &[217],
        &codes::LOOP_COUNT,
        in_compose("y = with s = x do..(f) id(s);"),
    );
    rows.reject(
        &[217],
        &codes::LOOP_COUNT,
        in_compose("y = with s = x do..(w) id(s);"),
    );
    rows.accept(
        &[218, 221],
        in_compose("y, v..(3) = with s = x for e : xs do..(k ->) two(e);"),
    );
    rows.accept(
        &[222, 226],
        in_compose("y = with s = x while less(s) do..(3) id(s);"),
    );
    rows.accept(&[222], in_compose("y = with s = x do id(s) while less(s);"));
    rows.accept(
        &[224, 225],
        in_compose("y, ~ = with s = x, c = true while c do { d = less(s); yield s, d; };"),
    );
    rows.reject(
        &[223],
        &codes::LOOP_CONDITION,
        in_compose("y = with s = x do id(s) while two(s);"),
    );
    rows.reject(
        &[227],
        &codes::ENDLESS_LOOP,
        in_compose("y = with s = x do..(k ->) id(s);"),
    );
    rows.accept(
        &[228],
        in_compose("y = with s = x for e : xs unroll add(s, e);"),
    );
    rows.reject(
        &[229],
        &codes::UNROLL,
        in_compose("y = with s = x unroll id(s) while less(s);"),
    );
    rows.reject(
        &[213],
        &codes::UNKNOWN_NAME,
        in_compose("u = with s = x do..(2) id(s); y = s;"),
    );
    rows.finish();
}

#[test]
fn s2_12_formulas() {
    let mut rows = Rows::default();
    rows.reject(
        &[235],
        &codes::FORMULA_TARGET,
        in_lower("y[i,] = 0.0, i < a; nothing[i,] = 0.0, i < a;"),
    );
    rows.accept(&[237, 239], in_lower("y[i,] >= x[i,j], i < a, j < b;"));
    rows.reject(
        &[238],
        &codes::FORMULA_SEQUENCE,
        in_lower("y[i,] += line[i,], i < a; y[i,] += line[i,], i < a;"),
    );
    rows.reject(
        &[240],
        &codes::REPLACE_WITHOUT_START,
        in_lower("y[i,] := line[i,], i < a;"),
    );
    rows.accept(
        &[241],
        in_lower("y[i,] = f ? `sqrt`(line[i,]) : real(i) + (maybe[i,] ?? 0.5) ** 2.0, i < a;"),
    );
    rows.accept(&[242], operator("@input { xs: real[n]..(k); } @output { ys: real[n]..(k); } @lower { ys[j][i,] = xs[j][i,], j < k, i < n; }"));
    rows.accept(&[242], operator("@input { x: real[n]; } @output { ys: real[n]..(2); } @lower { ys[0][i,] = x[i,], i < n; ys[1][i,] = -x[i,], i < n; }"));
    rows.accept(&[245], operator("@input { xs: real[n]..(k); } @output { ys: real[n]..(k); } @lower { ys[i,] = xs[i,] * 2.0, i < n; }"));
    rows.accept(&[245], operator("@input { x: real[m,n]; } @output { idx: int[]..(2); } @lower { idx[] = 0; idx[] := [i, j], i < m, j < n | x[i,j] > x[idx[]..]; }"));
    rows.reject(&[245], &codes::LENGTHS_DIFFER, operator("@input { x: real[m,n]; } @output { idx: int[]..(3); } @lower { idx[] = 0; idx[] := [i, j], i < m, j < n; }"));
    rows.reject(
        &[244],
        &codes::FORMULA_OPTIONAL,
        in_lower("y[i,] = maybe[i,] + 1.0, i < a;"),
    );
    rows.accept(&[244], in_lower("y[i,] = ?maybe ? maybe[i,] : 0.0, i < a;"));
    rows.accept(
        &[247, 248],
        in_lower("y[i,] = 0.0, i < a; y[i,] := line[i,], i < a | line[i,] > y[i,] && i % 2 == 0;"),
    );
    rows.accept(
        &[249],
        in_lower("unroll..(k -> c) y[i,] += xs[k][i,] * real(k), i < a;"),
    );
    rows.accept(
        &[250],
        in_lower("z = line[i,] * 2.0, y[i,] = z + z, i < a;"),
    );
    rows.reject(
        &[250],
        &codes::UNKNOWN_NAME,
        in_lower("y[i,] = z1 + 1.0, i < a;"),
    );
    rows.accept(&[233], operator("@attrib { m: int..(k); } @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] += x[i,] * real(j), j < k, i < m[j]; }"));
    rows.reject(
        &[233],
        &codes::UNKNOWN_NAME,
        in_lower("y[i,] = line[k1,], i < a;"),
    );
    rows.reject(&[275], &codes::EXTENT_TYPE, in_lower("y[i,] = 1.0, i < r;"));
    rows.reject(
        &[46],
        &codes::TYPES_DIFFER,
        in_lower("y[i,] = line[i,] * 2, i < a;"),
    );
    rows.finish();
}

#[test]
fn s2_13_to_2_15_generics_and_modules() {
    let mut rows = Rows::default();
    rows.accept(
        &[255, 258, 260],
        in_compose("y = same<real>(x, 2); u = convert<int>(x); v = convert<bool, real>(x);"),
    );
    rows.reject(
        &[256],
        &codes::TYPE_OUTSIDE_BOUND,
        in_compose("v = same<bool>(x, x); y = x;"),
    );
    rows.reject(
        &[256],
        &codes::TYPE_OUTSIDE_BOUND,
        operator("@dtype { T: num = str; }"),
    );
    rows.reject(
        &[257],
        &codes::OPERAND_TYPE,
        operator("@dtype { T: type; } @attrib { a: T; } @using { v = a + a; }"),
    );
    rows.reject(&[257], &codes::OPERAND_TYPE, operator("@dtype { T: arith; } @input { x: T[n]; } @output { y: T[n]; } @lower { y[i,] = x[i,] * x[i,], i < n; }"));
    rows.reject(&[257], &codes::ACCUMULATION_TYPE, operator("@dtype { T: type; } @input { x: T[n]; } @output { y: T[]; } @lower { y[] += x[i,], i < n; }"));
    rows.accept(&[257], operator("@dtype { T: arith; } @input { x: T[n]; } @output { y: real[n]; } @lower { y[i,] = real(x[i,]), i < n; }"));
    rows.reject(
        &[261],
        &codes::TYPE_CONFLICT,
        in_compose("u = same(i, x); y = x;"),
    );
    rows.accept(&[261], in_compose("y = same(x, 1);"));
    rows.reject(
        &[255],
        &codes::UNKNOWN_TYPE,
        in_compose("y = same<float>(x, x);"),
    );
    rows.reject(&[272], &codes::GRAPH_IN_MODULE, in_module(GRAPH));
    rows.accept(&[266, 268], in_module("operator f { }"));
    rows.finish();
}
