// SPDX-License-Identifier: Apache-2.0
//! Windowed and global pooling.

use skript_tensor::ElementType;

use super::convolution::{enlarged, spatial};
use super::movement::{empty, of_channels};
use super::window::{Window, window};
use super::{Operator, microsoft, operator};
use crate::call::Call;
use crate::extent::Extent;
use crate::literals::{extent_list, float_text, list};
use crate::refusal::Ruled;
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator("MaxPool", "`nn.max_pool`, `onnx.max_pool`", max_pool),
    operator("AveragePool", "`nn.avg_pool`", average_pool),
    operator("LpPool", "`nn.lp_pool`", lp_pool),
    operator("GlobalAveragePool", "`math.mean_reduce`", |c| global(c, "math.mean_reduce")),
    operator("GlobalMaxPool", "`math.max_reduce`", |c| global(c, "math.max_reduce")),
    operator("GlobalLpPool", "`math.lp_reduce`", global_lp),
    microsoft("NhwcMaxPool", "`onnx.max_pool_ints`", max_pool_of_pixels),
];

fn pooled(
    c: &mut Call,
    x: &Value,
    operator: &str,
    window: &Window,
    more: Vec<(&'static str, String)>,
) -> Value {
    let mut attributes = vec![("size", list(&window.size))];
    attributes.extend(window.attributes());
    attributes.extend(more);
    let shape = result_shape(x, window);
    if window.is_nowhere() {
        return empty(c, x.element, &shape);
    }
    c.call(operator, &attributes, &[x.into()], (x.element, shape))
}

fn result_shape(x: &Value, window: &Window) -> Vec<Extent> {
    [&[x.extent(0), x.extent(1)], window.extents.as_slice()].concat()
}

/// The pooling window; every placement covers at least one element.
fn windows(c: &Call, x: &Value) -> Ruled<Window> {
    let window = window(c, spatial(x)?, None, c.flag("ceil_mode", false))?;
    match () {
        () if window.padding.iter().any(|p| *p < 0) => Err("negative padding is not supported".into()),
        () if window.may_be_empty => Err("windows that lie entirely in the padding are not supported".into()),
        () => Ok(window),
    }
}

fn max_pool(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    if c.wants(1) {
        let window = windows(c, &x)?.with_known_padding()?;
        c.no_u64()?;
        let shape = result_shape(&x, &window);
        if window.is_nowhere() {
            super::movement::set_empty(c, &[x.element, ElementType::I64], &shape);
            return Ok(());
        }
        let mut attributes = vec![("size", list(&window.size))];
        attributes.extend(window.attributes());
        if !attributes.iter().any(|(name, _)| *name == "stride") {
            attributes.push(("stride", list(&window.stride)));
        }
        if !attributes.iter().any(|(name, _)| *name == "dilation") {
            attributes.push(("dilation", list(&window.dilation)));
        }
        let types = vec![(x.element, shape.clone()), (ElementType::I64, shape)];
        let results = c.calls("onnx.max_pool_indices", &attributes, &[(&x).into()], types);
        let [y, index] = results.as_slice() else {
            return Err("internal compiler error: max_pool does not have two results".into());
        };
        let index = match c.int("storage_order", 0) {
            0 => index.clone(),
            _ => {
                let attributes = [("shape", extent_list(spatial(&x)?))];
                c.map("onnx.columns_first", &attributes, index)
            }
        };
        c.set(0, y.clone());
        c.set(1, index);
        return Ok(());
    }
    let y = max_pooled(c, &x)?;
    c.set(0, y);
    Ok(())
}

fn max_pooled(c: &mut Call, x: &Value) -> Ruled<Value> {
    let window = windows(c, x)?;
    if x.is_real() {
        return Ok(pooled(c, x, "nn.max_pool", &window, Vec::new()));
    }
    let window = window.with_known_padding()?;
    c.no_u64()?;
    let mut more = Vec::new();
    for (name, values) in [("stride", &window.stride), ("dilation", &window.dilation)] {
        if values.iter().all(|v| *v == 1) {
            more.push((name, list(values)));
        }
    }
    Ok(pooled(c, x, "onnx.max_pool_ints", &window, more))
}

/// Max pooling of a tensor whose channels are the last dimension.
fn max_pool_of_pixels(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let y = of_channels(c, &x, true, max_pooled)?;
    c.set(0, y);
    Ok(())
}

fn average_pool(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let y = average_pooled(c, &x)?;
    c.set(0, y);
    Ok(())
}

pub(super) fn average_pooled(c: &mut Call, x: &Value) -> Ruled<Value> {
    let mut window = windows(c, x)?;
    let include = c.flag("count_include_pad", false);
    let (padded, overhang) = (window.is_padded(), window.overhangs());
    if include && padded && overhang {
        // The mean includes the padding, but not the elements that `ceil_mode` adds.
        let x = enlarged(c, x, &window.padding)?;
        window.padding.fill(0);
        return Ok(pooled(c, &x, "nn.avg_pool", &window, Vec::new()));
    }
    let include = include && !overhang;
    let more = if include || (!padded && !overhang) {
        vec![("ignore_border", "false".to_owned())]
    } else {
        Vec::new()
    };
    Ok(pooled(c, x, "nn.avg_pool", &window, more))
}

fn lp_pool(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let window = windows(c, &x)?;
    let p = float_text(order(c));
    let y = pooled(c, &x, "nn.lp_pool", &window, vec![("p", p)]);
    c.set(0, y);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "orders are small")]
fn order(c: &Call) -> f32 {
    c.int("p", 2) as f32
}

fn global(c: &mut Call, operator: &str) -> Ruled<()> {
    let x = c.real(0)?;
    spatial(&x)?;
    let axes: Vec<usize> = (2..x.rank()).collect();
    let y = super::reduction::over(c, &x, &axes, true, operator);
    c.set(0, y);
    Ok(())
}

fn global_lp(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    spatial(&x)?;
    let axes: Vec<usize> = (2..x.rank()).collect();
    let shape = super::reduction::reduced_shape(&x.shape, &axes, true);
    let attributes = [("axes", crate::literals::axis_list(&axes)), ("p", float_text(order(c)))];
    let y = c.call("math.lp_reduce", &attributes, &[(&x).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}
