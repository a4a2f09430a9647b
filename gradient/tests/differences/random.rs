// SPDX-License-Identifier: Apache-2.0
//! Random formulas: windows, reductions, conditions and scalar functions, which are smooth where they are computed.

use crate::model::Random;

/// An operator of `FORMULAS`' form: inputs, output and formulas.
pub fn formula(random: &mut Random) -> (String, String, String) {
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
