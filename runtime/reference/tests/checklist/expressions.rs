// SPDX-License-Identifier: Apache-2.0
//! Values of compile-time expressions (2.4).

// Numbers are written as they were worked out, not as names of the code under test.
#![allow(clippy::approx_constant, clippy::excessive_precision)]

use super::rows::Rows;
use skript_frontend::diagnostics::codes;

#[test]
fn s2_4_literals() {
    let mut rows = Rows::default();
    rows.int(&[15], "123", 123);
    rows.real(&[15], "1.5", 1.5);
    rows.real(&[15], "25e-2", 0.25);
    rows.real(&[15], "1.5e2", 150.0);
    rows.wrong(&[15], &codes::TYPES_DIFFER, "1 + 1.0");
    rows.wrong(&[15], &codes::TYPES_DIFFER, "1 + 1e0");
    rows.bools(&[16], "[true, false]", &[true, false]);
    rows.real(&[16], "inf", f32::INFINITY);
    rows.real(&[16], "pi", 3.141_592_7);
    rows.wrong(&[16], &codes::UNKNOWN_NAME, "True");
    rows.text(&[17], "\"one\"", "one");
    rows.text(&[17], "'one' \"two\"\n   'three'", "onetwothree");
    rows.wrong(&[20], &codes::NOT_A_PACK, "12[0]");
    rows.wrong(&[20], &codes::COALESCE_OPTIONALITY, "1 ?? 2");
    rows.wrong(&[20], &codes::PACK_NOT_EXPANDED, "[[1], 2]");
    rows.int(&[21], "int()", 0);
    rows.real(&[21], "real()", 0.0);
    rows.bool(&[21], "bool()", false);
    rows.text(&[21], "str()", "");
}

#[test]
fn s2_4_lists() {
    let mut rows = Rows::default();
    rows.null(&[13, 96], "[1, none]");
    rows.int(&[13, 23], "([1, given] ?? [0, 0])[1]", 7);
    rows.null(&[23], "[1, none, 2]");
    rows.ints(&[25], "[p.., 0, q..]", &[4, 5, 6, 0, 1, 2, 3]);
    rows.ints(&[25], "[[1, 2].., [p..]..]", &[1, 2, 4, 5, 6]);
    rows.ints(&[26], "[n ..(2), n + 1]", &[3, 3, 4]);
    rows.ints(&[26], "[n ..(0)]", &[]);
    rows.ints(&[27], "[1, 2 ..(f), 3 ..(!f)]", &[1, 2]);
    rows.wrong(&[28], &codes::NUMBER, "[1..(5)]");
    rows.ints(&[28], "[1 ..(5)]", &[1, 1, 1, 1, 1]);
    rows.ints(&[29], "[2:5]", &[2, 3, 4]);
    rows.ints(&[29], "[0:7:3]", &[0, 3, 6]);
    rows.ints(&[29], "[5:2:-1]", &[5, 4, 3]);
    rows.ints(&[29], "[3:3]", &[]);
    rows.ints(&[29], "[9, 0:2, p.., 4:0:-2]", &[9, 0, 1, 4, 5, 6, 4, 2]);
    rows.ints(&[30], "[(p, q)..]", &[4, 1, 5, 2, 6, 3]);
    rows.ints(&[30], "[(p, q, [7, 8, 9])..]", &[4, 1, 7, 5, 2, 8, 6, 3, 9]);
    rows.wrong(&[32], &codes::SYNTAX, "[(p, q)]");
    rows.wrong(&[32], &codes::SYNTAX, "(p, q)");
    rows.ints(&[33], "[4, 1, 5, 2][0::2]", &[4, 5]);
    rows.ints(&[33], "[4, 1, 5, 2][1::2]", &[1, 2]);
}

#[test]
fn s2_4_indices_and_substitution() {
    let mut rows = Rows::default();
    rows.int(&[35], "p[0]", 4);
    rows.int(&[35], "p[-1]", 6);
    rows.int(&[35], "p[-3]", 4);
    rows.ints(&[35], "p[[2, 0, 0, -2]]", &[6, 4, 4, 5]);
    rows.ints(&[36], "p[1:]", &[5, 6]);
    rows.ints(&[36], "p[:2]", &[4, 5]);
    rows.ints(&[36], "p[::2]", &[4, 6]);
    rows.ints(&[36], "p[:]", &[4, 5, 6]);
    rows.ints(&[36], "p[1:2]", &[5]);
    rows.ints(&[37], "p[::-1]", &[6, 5, 4]);
    rows.ints(&[37], "p[1::-1]", &[5, 4]);
    rows.ints(&[37], "p[:0:-1]", &[6, 5]);
    rows.ints(&[38], "p[0:-1]", &[4, 5]);
    rows.ints(&[38], "p[1:-1:-1]", &[]);
    rows.ints(&[38], "[1, 2, 3, 4][0:-1:2]", &[1, 3]);
    rows.ints(&[39], "p[m]", &[4, 6]);
    rows.ints(&[39], "p[p > 4]", &[5, 6]);
    rows.text(&[40], "w[0]", "a");
    rows.text(&[40], "w[-1]", "d");
    rows.text(&[40], "w[[3, 0, 0]]", "daa");
    rows.text(&[40], "w[1:3]", "bc");
    rows.text(&[40], "w[::-1]", "dcba");
    rows.ints(&[41], "p[1] <- 0", &[4, 0, 6]);
    rows.ints(&[41], "p[[2, 0]] <- [8, 9]", &[9, 5, 8]);
    rows.ints(&[41], "[(p[0] <- 1).., p..]", &[1, 5, 6, 4, 5, 6]);
    rows.ints(&[44], "p[-1] <- n", &[4, 5, 3]);
}

#[test]
fn s2_4_operators() {
    let mut rows = Rows::default();
    rows.int(&[45], "+n - -n", 6);
    rows.bool(&[45], "!f", false);
    rows.bools(&[48], "['a' < 'b', 'a' == 'b', 'b' >= 'b', 'a' != 'b']", &[true, false, true, true]);
    rows.bools(&[48], "[true == true, 1.5 <= 1.0]", &[true, false]);
    rows.int(&[50], "4 << 7", 4);
    rows.int(&[50], "4 >> 7", 7);
    rows.real(&[50], "1.5 >> -2.0", 1.5);
    rows.ints(&[51], "[7 % 3, -7 % 3, 7 % -3]", &[1, 2, -2]);
    rows.int(&[52], "2 ** 10", 1024);
    rows.real(&[52], "2.0 ** 0.5", 1.414_213_5);
    rows.ints(&[53], "[7 / 2, -7 / 2, 7 / -2]", &[3, -4, -4]);
    rows.ints(&[53], "[7 \\ 2, -7 \\ 2, 6 \\ 2]", &[4, -3, 3]);
    rows.ints(&[54], "p + q", &[5, 7, 9]);
    rows.ints(&[54], "p * 2", &[8, 10, 12]);
    rows.ints(&[54], "10 - p", &[6, 5, 4]);
    rows.bools(&[54], "!m", &[false, true, false]);
    rows.int(&[56], "f ? 1 : 2", 1);
    rows.int(&[56], "!f ? 1 : 2", 2);
    rows.null(&[57], "!f ? 1");
    rows.int(&[57], "(f ? 1) ?? 2", 1);
    rows.ints(&[58], "m ? p : q", &[4, 2, 6]);
    rows.ints(&[58], "m ? 1 : q", &[1, 2, 1]);
    rows.ints(&[58], "m ? 1 : 0", &[1, 0, 1]);
    rows.ints(&[60], "f ? p : [0]", &[4, 5, 6]);
    rows.ints(&[60], "!f ? p : [0]", &[0]);
    rows.bools(&[61], "p is [4, 0, 6]", &[true, false, true]);
    rows.bools(&[61], "p is 4", &[true, false, false]);
    rows.bools(&[62], "[n is 3, n is 4, w is 'abcd', n + 1 is 4]", &[true, false, true, true]);
    rows.bools(&[74], "[5 in p, 7 in p, 1 in e]", &[true, false, false]);
    rows.bools(&[74], "[4, 7, 6] in p", &[true, false, true]);
    rows.bool(&[74], "'b' in ws", true);
    rows.wrong(&[74], &codes::TYPES_DIFFER, "'b' in p");
}

#[test]
fn s2_4_null_values() {
    let mut rows = Rows::default();
    rows.int(&[75], "none ?? 1", 1);
    rows.int(&[75], "given ?? 1", 7);
    rows.ints(&[75], "nones ?? [1, 2]", &[1, 2]);
    rows.bools(&[77], "[?none, ?given]", &[false, true]);
    rows.bool(&[77], "?nones", false);
    rows.bool(&[77], "?p", true);
    rows.int(&[78], "?given ? given + 1 : 0", 8);
    rows.int(&[78], "?none && f ? none : 5", 5);
    rows.int(&[78], "?given && f ? given : 5", 7);
    for text in ["none + 1", "1 + none", "-none", "p[none]", "f ? none : 1", "[1, none] + ..", "p[0] <- none"]
    {
        rows.null(&[96, 13], text);
    }
    rows.null(&[96], "[(nones, nones)..]");
    rows.null(&[96], "`abs`(none)");
    rows.bools(&[97], "[?(none + 1), ?(given + 1)]", &[false, true]);
    rows.int(&[97], "(none ?? 1) + 1", 2);
    rows.wrong(&[97], &codes::COALESCE_OPTIONALITY, "(none ?? 1) ?? 2");
}

#[test]
fn s2_4_casts_and_functions() {
    let mut rows = Rows::default();
    rows.ints(&[79], "[int(2.9), int(-2.9), int(true), int(5)]", &[2, -2, 1, 5]);
    rows.reals(&[79], "[real(3), real(true), real(0.5)]", &[3.0, 1.0, 0.5]);
    rows.bools(&[79], "[bool(2), bool(0), bool(0.5), bool(false)]", &[true, false, true, false]);
    rows.ints(&[81], "[int(inf), int(-inf)]", &[i64::MAX, i64::MIN]);
    rows.wrong(&[80], &codes::CAST_TYPE, "int('1')");
    rows.wrong(&[80], &codes::CAST_TYPE, "str(1)");
    rows.wrong(&[82], &codes::BUILTIN_NAME, "`squeeze`(1.0)");
    rows.reals(&[82, 83], "[`sqrt`(6.25), `exp`(0.0), `log`(1.0)]", &[2.5, 1.0, 0.0]);
    rows.reals(&[83], "[`exp`(1.0), `log`(2.0)]", &[2.718_281_8, 0.693_147_2]);
    rows.reals(&[83], "[`sin`(pi / 6.0), `cos`(pi / 3.0), `tan`(pi / 4.0)]", &[0.5, 0.5, 1.0]);
    rows.reals(&[83], "[`asin`(1.0), `acos`(0.0), `atan`(1.0)]", &[1.570_796_4, 1.570_796_4, 0.785_398_2]);
    rows.reals(&[83], "[`sinh`(1.0), `cosh`(1.0), `tanh`(1.0)]", &[1.175_201_2, 1.543_080_7, 0.761_594_2]);
    rows.reals(
        &[83],
        "[`asinh`(1.0), `acosh`(2.0), `atanh`(0.5)]",
        &[0.881_373_6, 1.316_957_9, 0.549_306_15],
    );
    rows.reals(&[83], "[`round`(2.5), `round`(-2.5), `round`(2.4)]", &[3.0, -3.0, 2.0]);
    rows.reals(&[83], "[`floor`(-1.5), `ceil`(-1.5), `frac`(1.25)]", &[-2.0, -1.0, 0.25]);
    rows.real(&[83], "`erf`(1.0)", 0.842_700_8);
    rows.reals(&[83], "`sqrt`(ps * 2.0 + 3.0)", &[2.0, 2.449_489_8]);
    rows.ints(&[84], "[`abs`(-3), `sign`(-3), `sign`(0), `sign`(9)]", &[3, -1, 0, 1]);
    rows.reals(&[84], "[`abs`(-2.5), `sign`(-2.5)]", &[2.5, -1.0]);
    rows.text(&[85], "\"n = {n + 2}!\"", "n = 5!");
    rows.text(&[85], "\"{n}{n}\"", "33");
    rows.text(&[85], "\"{w}\"", "abcd");
    rows.text(&[86], "\"\\{n\\} = {n}\"", "{n} = 3");
    rows.bools(&[274], "[1 == 1, 6 / 3 == 2]", &[true, true]);
}
