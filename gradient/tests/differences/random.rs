// SPDX-License-Identifier: Apache-2.0
//! Random formulas: windows, reductions, positions that data select, recurrences, conditions and scalar functions, which are smooth where
//! they are computed; and random networks of operators, branches and loops.

use crate::model::Random;

/// An operator of `FORMULAS`' form: inputs, output and formulas.
pub fn formula(random: &mut Random) -> (String, String, String) {
    match random.below(6) {
        0 => window(random),
        1 => indexed(random),
        2 => recurrence(random),
        _ => reduction(random),
    }
}

fn one_of<'a>(random: &mut Random, items: &[&'a str]) -> &'a str {
    items[random.below(items.len())]
}

/// A window with strides, dilations and borders, also of indices that two dimensions share.
fn window(random: &mut Random) -> (String, String, String) {
    let (m, k, n) = (2 + random.below(3), 2 + random.below(2), 3 + random.below(5));
    let mut position = |extent: usize| {
        let (a, b, c) = (random.below(4) as i64 - 1, random.below(3) as i64 + 1, random.below(4) as i64 - 2);
        let place = format!("{a} * i + {b} * j + {c}").replace("+ -", "- ");
        match random.below(3) {
            0 => format!("|{place} <> 0 : {}|", extent - 1),
            _ => format!("|{place}|"),
        }
    };
    let (p, q, r) = (position(n), position(n), position(4));
    let value = match random.below(3) {
        0 => format!("x[{p},] * w[j,]"),
        1 => format!("`tanh`(x[{p},] - w[j,]) * x[{q},]"),
        _ => format!("z[{p},{r}] * w[j,] + `sin`(z[{q},j])"),
    };
    let sign = one_of(random, &["+=", "+=", ">=", "*="]);
    let start = if sign == ">=" { format!("y[i,] = 0.1 * w[0,], i < {m}; ") } else { String::new() };
    (
        format!("x: real[{n}]; z: real[{n},4]; w: real[{k}];"),
        format!("y: real[{m}]"),
        format!("{start}y[i,] {sign} {value} + 0.4, i < {m}, j < {k};"),
    )
}

/// Reads and writes at positions that data select.
fn indexed(random: &mut Random) -> (String, String, String) {
    let n = 3 + random.below(3);
    let value = one_of(
        random,
        &[
            "x[at[j,],i] * z[j,]",
            "`exp`(x[at[j,],by[i,]]) + z[at[by[i,],],]",
            "x[(at[j,] + i) % 3,by[i,]] ** z[j,]",
        ],
    );
    let sign = one_of(random, &["+=", "*=", ">=", ":="]);
    // An element without a step of a maximum is infinite.
    let starts = ["", "y[i,] = s[i,] + 0.2, i < 3; "];
    let start = if sign == ">=" { starts[1] } else { one_of(random, &starts) };
    let target = one_of(random, &["at[j,]", "(at[j,] + i) % 3", "by[i,]"]);
    (
        format!("x: real[3,3]; z: real[{n}]; s: real[3]; at: int[{n}]; by: int[3];"),
        "y: real[3]".to_owned(),
        format!(
            "{start}y[{target},] {} {value} + 0.3, i < 3, j < {n};",
            if start.is_empty() && sign == ":=" { "=" } else { sign }
        ),
    )
}

/// Steps that change what earlier steps wrote.
fn recurrence(random: &mut Random) -> (String, String, String) {
    let (m, n) = (2 + random.below(3), 3 + random.below(2));
    let inputs = format!("x: real[{m},{n}]; w: real[{n}]; s: real[{n}]; at: int[{n}];");
    let reads = ["y[j,]", "y[(j + 1) % 3,]", "y[at[j,],]", "y[|j - 1 <> 0 : 2|,]", "y[|j + 1 <> 0 : 2|,]"];
    let (a, b) = (one_of(random, &reads), one_of(random, &reads));
    let value = match random.below(5) {
        0 => format!("`tanh`({a} * w[j,] + {b}) + x[i,j]"),
        1 => format!("0.5 * {a} + 0.4 * {b} * x[i,j]"),
        2 => format!("x[i,j] > 0.4 ? `sin`({a}) : {b} * w[j,]"),
        3 => format!("x[i,j] > 0.4 && j > 0 ? `sin`(y[j - 1,]) : {b} * w[j,]"),
        _ => format!("({a} << 0.9 * {b}) + 0.3 * x[i,j]"),
    };
    let target = one_of(random, &["j", "(j + 2) % 3", "at[j,]"]);
    let condition = one_of(random, &["", " | i != 1", " | (i + j) % 2 == 0"]);
    // A write at a position that data select has a condition, and tensors that advance together have the same.
    let text = if random.below(3) == 0 && target != "at[j,]" {
        format!(
            "y[i,] = s[i,], i < {n}; v[i,] = w[i,], i < {n}; y[{target},] := {value} + 0.2 * v[j,], i < {m}, j < {n}{condition}; \
             v[j,] := `cos`(v[j,]) * {a}, i < {m}, j < {n}{condition};"
        )
    } else {
        format!("y[i,] = s[i,], i < {n}; y[{target},] := {value}, i < {m}, j < {n}{condition};")
    };
    (inputs, format!("y: real[{n}]"), text)
}

fn reduction(random: &mut Random) -> (String, String, String) {
    let (m, n) = (2 + random.below(3), 3 + random.below(3));
    let inputs = format!("x: real[{m},{n}]; z: real[{n}]; s: real[{m}];");
    let reduces = random.below(3) > 0;
    let value = real(random, 3, n);
    let bounds = format!("i < {m}, j < {n}");
    let condition = match random.below(3) {
        0 => format!(" | {}", condition(random, n)),
        _ => String::new(),
    };
    let local = match random.below(2) {
        0 => format!("v = {}, ", real(random, 2, n)),
        _ => "v = x[i,j] + 0.7, ".to_owned(),
    };
    if !reduces {
        let text = format!("{local}y[i,j] = v * ({value}), {bounds}{condition};");
        return (inputs, format!("y: real[{m},{n}]"), text);
    }
    let sign = ["+=", "+=", ">=", "<=", "*="][random.below(5)];
    let start = match random.below(2) {
        0 => format!("y[i,] = s[i,] * {:.1}, i < {m}; ", random.unit()),
        _ => String::new(),
    };
    let all = if sign == "<=" || sign == ">=" { String::new() } else { condition };
    (inputs, format!("y: real[{m}]"), format!("{start}{local}y[i,] {sign} v + ({value}), {bounds}{all};"))
}

fn condition(random: &mut Random, n: usize) -> String {
    match random.below(3) {
        0 => format!("j != {}", random.below(n)),
        1 => "i <= j".to_owned(),
        _ => "(i + j) % 2 == 0".to_owned(),
    }
}

fn real(random: &mut Random, depth: usize, n: usize) -> String {
    if depth == 0 {
        return match random.below(7) {
            0 => "z[j,]".to_owned(),
            1 => format!("z[{} - j,]", n - 1),
            2 => "s[i,]".to_owned(),
            3 => format!("x[i,|j + {} <> 0 : {}|]", random.below(3), n - 1),
            4 => format!("z[j / {},]", 1 + random.below(2)),
            5 => format!("{:.2}", random.unit() + 0.1),
            _ => "x[i,j]".to_owned(),
        };
    }
    let mut part = || real(random, depth - 1, n);
    let (a, b) = (part(), part());
    match random.below(14) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 | 4 => format!("({a} * {b})"),
        5 => format!("({a} / (1.5 + {b} * {b}))"),
        6 => format!("`sin`({a})"),
        7 => format!("`tanh`({a} * {b})"),
        8 => format!("`exp`(-{a} * {a})"),
        9 => format!("`sqrt`({a} * {a} + 0.3)"),
        10 => format!("({} ? {a} : {b})", condition(random, n)),
        11 => format!("(1.2 + {a} * {a}) ** {b}"),
        12 => format!("`log`(1.1 + {a} * {a})"),
        _ => format!("`atan`({a} - {b})"),
    }
}

/// The operators of [`network`]s, which map a tensor of two rows to another one.
const LAYERS: &str = "
operator linear { @input { h: real[2,3]; w: real[3,3]; } @output { y: real[2,3]; } @lower { y[i,j] += h[i,k] * w[j,k], i < 2, j < 3, k < 3; } }
operator bend { @input { h: real[2,3]; b: real[3]; } @output { y: real[2,3]; } @lower { y[i,j] = `tanh`(h[i,j] + b[j,]) - 0.2 * h[i,j], i < 2, j < 3; } }
operator weigh { @input { h: real[2,3]; b: real[3]; } @output { y: real[2,3]; }
    @lower { m[i,] >= h[i,j], i < 2, j < 3; t[i,] += `exp`(h[i,j] - m[i,]), i < 2, j < 3; y[i,j] = b[j,] * `exp`(h[i,j] - m[i,]) / t[i,], i < 2, j < 3; } }
operator root { @input { h: real[2,3]; b: real[3]; } @output { y: real[2,3]; } @lower { y[i,j] = `sqrt`(h[i,j] * h[i,j] + b[j,]), i < 2, j < 3; } }
operator run { @input { h: real[2,3]; b: real[3]; } @output { y: real[2,3]; }
    @lower { y[i,j] = h[i,j], i < 2, j < 3; y[i,j + 1] := y[i,j] * b[j,] + y[i,j + 1], i < 2, j < 2; } }
operator above { @attrib { limit: real; } @input { h: real[2,3]; } @output { y: bool[]; } @lower { s[] += h[i,j], i < 2, j < 3; y[] = s[] > limit; } }
operator count { @input { h: real[2,3]; } @output { k: int[]; } @lower { s[] += `abs`(h[i,j]), i < 2, j < 3; k[] = int(s[]) % 3; } }
";

/// A graph of operators, branches and loops, with the inputs h, w and b.
pub fn network(random: &mut Random) -> String {
    let mut lines = String::new();
    let mut last = "h".to_owned();
    for at in 0..2 + random.below(3) {
        let next = format!("h{at}");
        lines += &layer(random, 2, &next, &last);
        last = next;
    }
    let inputs = "h: real[2,3]; w: real[3,3]; b: real[3]; c: real[3];";
    format!(
        "{LAYERS}graph G {{ @input {{ {inputs} }} @output {{ y: real[2,3]; }} @compose {{ {lines} y = linear({last}, w); }} }}"
    )
}

fn invocation(random: &mut Random, of: &str) -> String {
    match random.below(5) {
        0 => format!("linear({of}, w)"),
        1 => format!("bend({of}, b)"),
        2 => format!("weigh({of}, c)"),
        3 => format!("root({of}, b)"),
        _ => format!("run({of}, c)"),
    }
}

/// The statements that compute `to` from `of`.
fn layer(random: &mut Random, depth: usize, to: &str, of: &str) -> String {
    let limit = random.unit() * 4.0;
    if depth == 0 || random.below(3) == 0 {
        return format!("{to} = {}; ", invocation(random, of));
    }
    let (inner, result) = (format!("{to}s"), format!("{to}n"));
    let body = layer(random, depth - 1, &result, &inner);
    let steps = format!("{{ {body}yield {result}; }}");
    match random.below(6) {
        0 | 1 => {
            let (then, otherwise) = (invocation(random, of), invocation(random, of));
            format!("{to} = if above{{limit={limit:.2}}}({of}) then {then} else {otherwise}; ")
        }
        2 => format!("{to} = with {inner} = {of} do..({}) {steps}; ", random.below(4)),
        3 => format!("{to} = with {inner} = {of} while above{{limit={limit:.2}}}({inner}) do..(3) {steps}; "),
        4 => {
            let body = format!("{{ {result} = weigh({inner}, {to}e); yield {result}; }}");
            format!(
                "{to}k = count({of}); {to} = with {inner} = {of} for {to}e : [b, c, b] do..({to}k) {body}; "
            )
        }
        _ => format!("{to} = with {inner} = {of} do..(3) {steps} while above{{limit={limit:.2}}}({inner}); "),
    }
}
