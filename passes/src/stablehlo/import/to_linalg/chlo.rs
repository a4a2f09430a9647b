//! Functions of `chlo`, the dialect of what StableHLO can be composed of, as printers leave it in.

use super::generic::{Port, dims, empty, generic};
use super::operation::Found;
use super::reduce::accumulator;
use crate::mlir::splice::Lines;
use crate::stablehlo::import::element::{Element, Float};
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;

/// Functions of one real that MLIR's `math` has.
const FUNCTIONS: [&str; 10] = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "sinh",
];

/// The elementwise ones; `None` for others.
pub fn map<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let (operand, result) = (found.operand(0)?, found.result()?);
    let mut body = Lines::default();
    let own = operand.element.text();
    let name = found.name.as_str();
    let value = match (name, accumulator(operand.element)) {
        ("square", _) => body.value(format!("stablehlo.multiply %i0, %i0 : {own}")),
        ("tan", _) => body.value(format!("stablehlo.tan %i0 : {own}")),
        (_, wide @ Element::Float(float)) => {
            let w = wide.text();
            let x = match own == w {
                true => "%i0".to_owned(),
                false => body.value(format!("stablehlo.convert %i0 : ({own}) -> {w}")),
            };
            let value = match name {
                "erf_inv" => inverse_error(&mut body, &x, float),
                "is_inf" => {
                    let size = body.value(format!("math.absf {x} : {w}"));
                    let infinity = infinity(&mut body, float);
                    let test = format!("arith.cmpf oeq, {size}, {infinity} : {w}");
                    let test = body.value(test);
                    return place(found, body, &test).map(Some);
                }
                name if FUNCTIONS.contains(&name) => body.value(format!("math.{name} {x} : {w}")),
                _ => return Ok(None),
            };
            match own == w {
                true => value,
                false => body.value(format!("stablehlo.convert {value} : ({w}) -> {own}")),
            }
        }
        _ => return Ok(None),
    };
    if result.element != operand.element {
        return Ok(None);
    }
    place(found, body, &value).map(Some)
}

/// The map over the only operand whose body ends in `value`.
fn place<'c: 'a, 'a>(
    found: &Found<'c, 'a>,
    mut body: Lines,
    value: &str,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let result = found.result()?;
    body.line(format!("linalg.yield {value} : {}", result.element.text()));
    let mut lines = Lines::default();
    let out = empty(&mut lines, result);
    let all = dims(0..result.rank());
    let made = generic(
        &mut lines,
        result.rank(),
        0,
        &[Port::new("%0", found.operand(0)?, all.clone())],
        &[Port::new(&out, result, all)],
        body.text(),
    );
    found.replace(&lines, &made.concat())
}

fn infinity(lines: &mut Lines, float: Float) -> String {
    let bits = match float {
        Float::F64 => "0x7FF0000000000000",
        _ => "0x7F800000",
    };
    lines.value(format!("arith.constant {bits} : {}", float.text()))
}

/// M. Giles, "Approximating the erfinv function" (2010): a polynomial in w = -log(1 - x²), one in the middle and one for
/// the ends; f64 is mended by Newton's method.
fn inverse_error(lines: &mut Lines, x: &str, float: Float) -> String {
    const MIDDLE: [f64; 9] = [
        2.81022636e-08,
        3.43273939e-07,
        -3.5233877e-06,
        -4.39150654e-06,
        0.00021858087,
        -0.00125372503,
        -0.00417768164,
        0.246640727,
        1.50140941,
    ];
    const ENDS: [f64; 9] = [
        -0.000200214257,
        0.000100950558,
        0.00134934322,
        -0.00367342844,
        0.00573950773,
        -0.0076224613,
        0.00943887047,
        1.00167406,
        2.83297682,
    ];
    let t = float.text();
    let number =
        |lines: &mut Lines, value: f64| lines.value(format!("arith.constant {value:?} : {t}"));
    let op = |lines: &mut Lines, op: &str, operands: &[&str]| {
        lines.value(format!("{op} {} : {t}", operands.join(", ")))
    };
    let square = op(lines, "arith.mulf", &[x, x]);
    let minus = op(lines, "arith.negf", &[&square]);
    let log = op(lines, "math.log1p", &[&minus]);
    let w = op(lines, "arith.negf", &[&log]);
    let five = number(lines, 5.0);
    let middle = lines.value(format!("arith.cmpf olt, {w}, {five} : {t}"));
    let shift = number(lines, 2.5);
    let near = op(lines, "arith.subf", &[&w, &shift]);
    let shift = number(lines, 3.0);
    let root = op(lines, "math.sqrt", &[&w]);
    let far = op(lines, "arith.subf", &[&root, &shift]);
    let w = lines.value(format!("arith.select {middle}, {near}, {far} : {t}"));
    let mut sum = String::new();
    for (n, (a, b)) in MIDDLE.iter().zip(ENDS).enumerate() {
        let (a, b) = (number(lines, *a), number(lines, b));
        let term = lines.value(format!("arith.select {middle}, {a}, {b} : {t}"));
        sum = match n {
            0 => term,
            _ => {
                let product = op(lines, "arith.mulf", &[&sum, &w]);
                op(lines, "arith.addf", &[&product, &term])
            }
        };
    }
    let mut value = op(lines, "arith.mulf", &[&sum, x]);
    if float == Float::F64 {
        for _ in 0..2 {
            // y - (erf(y) - x) · √π/2 · exp(y²)
            let error = op(lines, "math.erf", &[&value]);
            let error = op(lines, "arith.subf", &[&error, x]);
            let half = number(lines, 0.886_226_925_452_758);
            let square = op(lines, "arith.mulf", &[&value, &value]);
            let steep = op(lines, "math.exp", &[&square]);
            let step = op(lines, "arith.mulf", &[&error, &half]);
            let step = op(lines, "arith.mulf", &[&step, &steep]);
            value = op(lines, "arith.subf", &[&value, &step]);
        }
    }
    let size = op(lines, "math.absf", &[x]);
    let one = number(lines, 1.0);
    let end = lines.value(format!("arith.cmpf oeq, {size}, {one} : {t}"));
    let infinity = infinity(lines, float);
    let infinity = op(lines, "math.copysign", &[&infinity, x]);
    lines.value(format!("arith.select {end}, {infinity}, {value} : {t}"))
}
