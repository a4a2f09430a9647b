//! Sums of products: `dot_general` and `convolution`.

use super::generic::{Port, dims, generic};
use super::operation::{Found, Tensor};
use super::reduce::{accumulator, moved, product, zeros};
use super::shape::{Border, padded, reshaped, reversed};
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

type Values<'c, 'a> = Result<Vec<Value<'c, 'a>>, PassError>;

pub fn dot_general<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (lhs, rhs, result) = (found.operand(0)?, found.operand(1)?, found.result()?);
    let list = |key: &str| found.numbers("dot_dimension_numbers", key);
    let batch = [
        list("lhs_batching_dimensions"),
        list("rhs_batching_dimensions"),
    ];
    let contracted = [
        list("lhs_contracting_dimensions"),
        list("rhs_contracting_dimensions"),
    ];
    // Loops: the result's dimensions, then the contracted ones.
    let mut free = batch[0].len();
    let mut places = Vec::new();
    for (side, tensor) in [lhs, rhs].into_iter().enumerate() {
        let mut place = Vec::new();
        for d in (0i64..).take(tensor.rank()) {
            let paired = |list: &[i64]| list.iter().position(|x| *x == d);
            place.push(match (paired(&batch[side]), paired(&contracted[side])) {
                (Some(n), _) => n,
                (None, Some(n)) => result.rank() + n,
                (None, None) => {
                    free += 1;
                    free - 1
                }
            });
        }
        places.push(dims(place));
    }
    let sum = Tensor {
        extents: result.extents.clone(),
        element: accumulator(result.element),
    };
    let mut lines = Lines::default();
    let init = zeros(&mut lines, &sum);
    let rank = result.rank();
    let reductions = contracted[0].len();
    let inputs = [
        Port::new("%0", lhs, places[0].clone()),
        Port::new("%1", rhs, places[1].clone()),
    ];
    let body = product(lhs.element, rhs.element, sum.element);
    let output = [Port::new(&init, &sum, dims(0..rank))];
    let made = generic(
        &mut lines,
        rank + reductions,
        reductions,
        &inputs,
        &output,
        &body,
    );
    let made = finished(&mut lines, &made[0], &sum, result);
    found.replace(&lines, &made)
}

/// The sum in the result's element type.
fn finished(lines: &mut Lines, name: &str, sum: &Tensor, result: &Tensor) -> String {
    match sum == result {
        true => name.to_owned(),
        false => moved(lines, name, sum, result, dims(0..result.rank())),
    }
}

/// Where labels stand among the dimensions: `[b, f, 0, 1]`.
struct Labels(Vec<String>);

impl Labels {
    fn at(&self, label: &str) -> Result<usize, PassError> {
        let at = self.0.iter().position(|l| l == label);
        at.ok_or_else(|| format!("has no dimension {label}").into())
    }
}

/// Input, kernel and result of `#stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>`.
fn labels(found: &Found) -> Result<[Labels; 3], PassError> {
    let text = found.op.attribute("dimension_numbers")?.to_string();
    let lists = text.split('[').skip(1);
    let lists = lists.filter_map(|part| part.split_once(']'));
    let lists = lists.map(|(list, _)| list.split(',').map(|l| l.trim().to_owned()).collect());
    let mut lists = lists.map(Labels);
    match (lists.next(), lists.next(), lists.next()) {
        (Some(input), Some(kernel), Some(result)) => Ok([input, kernel, result]),
        _ => Err("has dimension numbers that cannot be read".into()),
    }
}

pub fn convolution<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (input, kernel, result) = (found.operand(0)?, found.operand(1)?, found.result()?);
    let [of_input, of_kernel, of_result] = labels(found)?;
    let spatial = input.rank().saturating_sub(2);
    let ones = || vec![1; spatial];
    let strides = found.i64s("window_strides").unwrap_or_else(ones);
    let base = found.i64s("lhs_dilation").unwrap_or_else(ones);
    let spread = found.i64s("rhs_dilation").unwrap_or_else(ones);
    let padding = found.pairs("padding", spatial)?;
    let backwards = found.bools("window_reversal");
    let features = found.i64("feature_group_count").unwrap_or(1);
    let batches = found.i64("batch_group_count").unwrap_or(1);
    let groups = features.max(batches);

    let mut lines = Lines::default();
    // The input with its border, and with holes where it is dilated.
    let mut borders = vec![
        Border {
            low: 0,
            high: 0,
            interior: 0
        };
        input.rank()
    ];
    for (s, (low, high)) in padding.iter().enumerate() {
        borders[of_input.at(&s.to_string())?] = Border {
            low: *low,
            high: *high,
            interior: base[s] - 1,
        };
    }
    let zero = super::constant::zero(&mut lines, input.element);
    let zero = lines.value(format!(
        "tensor.from_elements {zero} : {}",
        input.with_extents(&[]).text()
    ));
    let (source, source_type) = padded(&mut lines, "%0", input, &zero, &borders);

    // The kernel as it is slid: a loop's map that counts down has no inverse, so reversed windows are turned here.
    let mut turned = Vec::new();
    for (s, _) in backwards.iter().enumerate().filter(|(_, turned)| **turned) {
        turned.push(of_kernel.at(&s.to_string())? as i64);
    }
    let weights = reversed(&mut lines, "%1", kernel, &turned);

    // Its output features by groups.
    let o = of_kernel.at("o")?;
    let outs = kernel.extents[o] / groups;
    let mut split = kernel.extents.clone();
    split.splice(o..=o, [groups, outs]);
    let split = kernel.with_extents(&split);
    let weights = reshaped(&mut lines, &weights, kernel, &split);

    // Loops: batch, group, feature, space; input feature, window.
    let (n, g, f, first) = (0, 1, 2, 3);
    let channel = first + spatial;
    let (batch, feature) = (of_input.at("b")?, of_input.at("f")?);
    let per_group = kernel.extents[of_kernel.at("i")?];
    let per_batch = input.extents[batch] / batches;
    let mut place = vec![String::new(); input.rank()];
    place[batch] = match batches {
        1 => format!("d{n}"),
        _ => format!("d{g} * {per_batch} + d{n}"),
    };
    place[feature] = match features {
        1 => format!("d{channel}"),
        _ => format!("d{g} * {per_group} + d{channel}"),
    };
    let mut window = vec![String::new(); kernel.rank()];
    window[o] = format!("d{g}, d{f}");
    window[of_kernel.at("i")?] = format!("d{channel}");
    for s in 0..spatial {
        let (out, inside) = (first + s, channel + 1 + s);
        let (stride, step) = (strides[s], spread[s]);
        place[of_input.at(&s.to_string())?] = format!("d{out} * {stride} + d{inside} * {step}");
        window[of_kernel.at(&s.to_string())?] = format!("d{inside}");
    }
    let mut extents = vec![per_batch, groups, outs];
    for s in 0..spatial {
        extents.push(result.extents[of_result.at(&s.to_string())?]);
    }
    let sum = Tensor {
        extents,
        element: accumulator(result.element),
    };
    let init = zeros(&mut lines, &sum);
    let body = product(input.element, kernel.element, sum.element);
    let made = generic(
        &mut lines,
        channel + 1 + spatial,
        1 + spatial,
        &[
            Port::new(&source, &source_type, place),
            Port::new(&weights, &split, window),
        ],
        &[Port::new(&init, &sum, dims(0..channel))],
        &body,
    );
    let mut joined = sum.extents.clone();
    joined.splice(1..=2, [groups * outs]);
    let joined = sum.with_extents(&joined);
    let whole = reshaped(&mut lines, &made[0], &sum, &joined);
    // From batch, feature, space to the order that is asked for.
    let mut order = vec![0; result.rank()];
    order[0] = of_result.at("b")?;
    order[1] = of_result.at("f")?;
    for s in 0..spatial {
        order[2 + s] = of_result.at(&s.to_string())?;
    }
    let plain = order.iter().enumerate().all(|(n, d)| n == *d);
    let made = match plain && joined == *result {
        true => whole,
        false => moved(&mut lines, &whole, &joined, result, dims(order)),
    };
    found.replace(&lines, &made)
}
