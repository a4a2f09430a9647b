// SPDX-License-Identifier: Apache-2.0
//! Computes small tensors whose elements are known at import: shapes, indices, and the arithmetic on them. Elements may depend on
//! dynamic dimensions. [`crate::fold`] computes the results of other operators, unless they depend on dynamic dimensions.

use skript_tensor::ElementType;

use crate::call::{Call, broadcast};
use crate::extent::{Bounds, Extent};
use crate::tensor::rounded;
use crate::value::{Item, MAX_KNOWN, Value, width};

/// The operators that [`unary`] computes. The list is needed for tensors without elements, because [`unary`] refuses other operators
/// only when it computes an element.
const UNARY: &[&str] =
    &["Cast", "Neg", "Sqrt", "Floor", "Ceil", "Abs", "Reciprocal", "Not", "Identity", "Relu"];

/// The operators that [`binary`] computes.
const BINARY: &[&str] = &[
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Mod",
    "Pow",
    "Max",
    "Min",
    "Equal",
    "Less",
    "Greater",
    "LessOrEqual",
    "GreaterOrEqual",
    "And",
    "Or",
    "Xor",
];

/// The operators that [`reduced`] computes, with the binary operators that they repeat.
const REDUCTIONS: &[(&str, &str)] =
    &[("ReduceMax", "Max"), ("ReduceMin", "Min"), ("ReduceProd", "Mul"), ("ReduceSum", "Add")];

/// Maximum number of elements that a reduction combines: each element nests dynamic extents one level deeper.
const MAX_REDUCED: usize = 64;

/// Computes a node whose inputs are all known; `None` for other nodes, which are converted by their rules.
pub fn fold(call: &mut Call) -> Option<Value> {
    let given: Vec<Value> = call.inputs.iter().flatten().cloned().collect();
    if given.is_empty() || given.iter().any(|v| v.known.is_none()) {
        return None;
    }
    let operator = call.node.op_type.clone();
    if operator == "Clip" {
        return clipped(call);
    }
    if given.len() < call.inputs.len() {
        return None;
    }
    if let Some((_, binary)) = REDUCTIONS.iter().find(|row| row.0 == operator) {
        return reduced(call, binary, &given);
    }
    let folded = match given.as_slice() {
        [x] if UNARY.contains(&operator.as_str()) => unary(&operator, call, x)?,
        [x, middle @ .., last] if ["Max", "Min"].contains(&operator.as_str()) => {
            let first = middle.iter().try_fold(x.clone(), |x, y| pair(call, &operator, &x, y))?;
            return pair(call, &operator, &first, last);
        }
        [x, y] if BINARY.contains(&operator.as_str()) => return pair(call, &operator, x, y),
        [c, x, y] if operator == "Where" => select(c, x, y)?,
        _ => return None,
    };
    known(call, folded)
}

/// The result of a binary operator on two known values.
fn pair(call: &mut Call, operator: &str, x: &Value, y: &Value) -> Option<Value> {
    let context = Context { operator, bounds: &call.importer.bounds, by_dividend: call.flag("fmod", false) };
    let folded = binary(&context, x, y)?;
    known(call, folded)
}

fn clipped(call: &mut Call) -> Option<Value> {
    if call.has("min") || call.has("max") {
        return None;
    }
    let mut clipped = call.optional(0)?;
    for (at, operator) in [(1, "Max"), (2, "Min")] {
        if let Some(bound) = call.optional(at) {
            clipped = pair(call, operator, &clipped, &bound)?;
        }
    }
    Some(clipped)
}

/// Reduces a list of ints by a binary operator.
fn reduced(call: &mut Call, operator: &str, given: &[Value]) -> Option<Value> {
    let (x, axes) = match given {
        [x] => (x, call.ints("axes").unwrap_or_default()),
        [x, axes] => (x, axes.numbers()?),
        _ => return None,
    };
    let is_noop = axes.is_empty() && call.flag("noop_with_empty_axes", false);
    if is_noop || !x.is_int() || x.rank() != 1 || axes.iter().any(|axis| ![0, -1].contains(axis)) {
        return None;
    }
    let mut elements = Vec::new();
    for item in x.known.as_ref().filter(|items| items.len() <= MAX_REDUCED)? {
        elements.push(call.known(x.element, Vec::new(), vec![item.clone()]));
    }
    let mut elements = elements.into_iter();
    let first = elements.next()?;
    let all = elements.try_fold(first, |all, next| pair(call, operator, &all, &next))?;
    let shape = if call.flag("keepdims", true) { vec![Extent::from(1)] } else { Vec::new() };
    let items = all.known.clone()?;
    Some(call.known(x.element, shape, items))
}

/// A value with computed elements, if its type can represent them.
fn known(call: &mut Call, (element, shape, items): Folded) -> Option<Value> {
    let fitted: Option<Vec<Item>> = items.into_iter().map(|item| fitted(element, item)).collect();
    Some(call.known(element, shape, fitted?))
}

/// Rounds a real to its type; `None` for an int that its type cannot represent.
fn fitted(element: ElementType, item: Item) -> Option<Item> {
    match &item {
        Item::Real(value) => Some(Item::Real(rounded(element, *value))),
        Item::Int(extent) => match extent.value() {
            Some(value) => {
                let (bits, signed) = width(element);
                let min = if signed { i64::MIN >> (64 - bits) } else { 0 };
                let max = match (bits, signed) {
                    (64, _) => i64::MAX,
                    (_, true) => (1 << (bits - 1)) - 1,
                    (_, false) => (1 << bits) - 1,
                };
                (min..=max).contains(&value).then_some(item)
            }
            None => Some(item),
        },
        Item::Bool(_) => Some(item),
    }
}

type Folded = (ElementType, Vec<Extent>, Vec<Item>);

fn unary(operator: &str, call: &Call, x: &Value) -> Option<Folded> {
    let known = x.known.as_ref()?;
    let element = match operator {
        "Cast" => crate::value::element(i32::try_from(call.int("to", 0)).ok()?).ok()?,
        _ => x.element,
    };
    let compute = |item: &Item| -> Option<Item> {
        Some(match (operator, item) {
            ("Cast", item) => cast(element, item)?,
            ("Neg", Item::Int(v)) => Item::Int(v.times(&Extent::from(-1))?),
            ("Neg", Item::Real(v)) => Item::Real(-v),
            ("Sqrt", Item::Real(v)) => Item::Real(v.sqrt()),
            ("Floor", Item::Real(v)) => Item::Real(v.floor()),
            ("Ceil", Item::Real(v)) => Item::Real(v.ceil()),
            ("Abs", Item::Int(v)) => Item::Int(Extent::from(v.value()?.checked_abs()?)),
            ("Reciprocal", Item::Real(v)) => Item::Real(1.0 / v),
            ("Not", Item::Bool(v)) => Item::Bool(!v),
            ("Identity", item) => item.clone(),
            ("Relu", Item::Real(v)) if *v <= 0.0 => Item::Real(0.0),
            ("Relu", Item::Real(v)) => Item::Real(*v),
            _ => return None,
        })
    };
    let items = known.iter().map(compute).collect::<Option<Vec<_>>>()?;
    Some((element, x.shape.clone(), items))
}

/// Converts known elements to another element type.
pub fn converted(x: &Value, to: ElementType) -> Option<Vec<Item>> {
    let known = x.known.as_ref()?.iter();
    known.map(|item| fitted(to, cast(to, item)?)).collect()
}

fn cast(element: ElementType, item: &Item) -> Option<Item> {
    let bool = element == ElementType::Bool;
    let real = element.real().is_some();
    Some(match item {
        Item::Int(v) if real => {
            #[expect(clippy::cast_precision_loss, reason = "rounds to nearest")]
            let value = v.value()? as f64;
            Item::Real(value)
        }
        Item::Int(v) if bool => Item::Bool(v.value()? != 0),
        Item::Int(_) => item.clone(),
        Item::Bool(v) if real => Item::Real(f64::from(u8::from(*v))),
        Item::Bool(v) if !bool => Item::Int(Extent::from(i64::from(*v))),
        Item::Bool(_) => item.clone(),
        Item::Real(v) if bool => Item::Bool(*v != 0.0),
        Item::Real(_) if real => item.clone(),
        Item::Real(v) => {
            // The conversion is limited to exact ints below 2^53.
            if v.is_nan() || v.abs() >= 9.0e15 {
                return None;
            }
            #[expect(clippy::cast_possible_truncation, reason = "in range")]
            let value = v.trunc() as i64;
            Item::Int(Extent::from(value))
        }
    })
}

/// The parameters of a binary operation.
struct Context<'c> {
    operator: &'c str,
    bounds: &'c Bounds,
    /// Whether a remainder has the sign of the dividend instead of the divisor.
    by_dividend: bool,
}

impl Context<'_> {
    /// The quotient, rounded towards zero, if the signs are known.
    fn quotient(&self, a: &Extent, b: &Extent) -> Option<Extent> {
        if let (Some(a), Some(b)) = (a.value(), b.value()) {
            return a.checked_div(b).map(Extent::from);
        }
        let positive = b.value().is_none_or(|b| b > 0) && b.is_natural(self.bounds);
        (positive && a.is_natural(self.bounds)).then(|| a.over(b))?
    }

    /// The remainder with the sign of the divisor, or of the dividend.
    fn remainder(&self, a: &Extent, b: &Extent) -> Option<Extent> {
        match (a.value(), b.value()) {
            (Some(a), Some(b)) if self.by_dividend => a.checked_rem(b).map(Extent::from),
            (Some(a), Some(b)) => {
                let remainder = a.checked_rem(b)?;
                let turned = remainder != 0 && (remainder < 0) != (b < 0);
                Some(Extent::from(if turned { remainder + b } else { remainder }))
            }
            (None, Some(b)) if b > 0 && (!self.by_dividend || a.is_natural(self.bounds)) => {
                let b = Extent::from(b);
                a.minus(&a.over(&b)?.times(&b)?)
            }
            _ => None,
        }
    }

    /// Whether `a < b`; `None` if the bounds do not decide it.
    fn less(&self, a: &Extent, b: &Extent) -> Option<bool> {
        match a.minus(b)?.range(self.bounds) {
            (_, Some(high)) if high < 0 => Some(true),
            (Some(low), _) if low >= 0 => Some(false),
            _ => None,
        }
    }

    fn equal(&self, a: &Extent, b: &Extent) -> Option<bool> {
        match a.minus(b)?.range(self.bounds) {
            (Some(0), Some(0)) => Some(true),
            (_, Some(high)) if high < 0 => Some(false),
            (Some(low), _) if low > 0 => Some(false),
            _ => None,
        }
    }
}

fn binary(context: &Context, x: &Value, y: &Value) -> Option<Folded> {
    let operator = context.operator;
    let compares = matches!(operator, "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual");
    let shape = broadcast(&x.shape, &y.shape).ok()?;
    let (a, b) = (spread(x, &shape)?, spread(y, &shape)?);
    let compute = |(a, b): (Item, Item)| -> Option<Item> {
        Some(match (a, b) {
            (Item::Int(a), Item::Int(b)) => match operator {
                "Add" => Item::Int(a.plus(&b)?),
                "Sub" => Item::Int(a.minus(&b)?),
                "Mul" => Item::Int(a.times(&b)?),
                "Div" => Item::Int(context.quotient(&a, &b)?),
                "Mod" => Item::Int(context.remainder(&a, &b)?),
                "Max" => Item::Int(a.larger(&b, context.bounds)?),
                "Min" => Item::Int(a.smaller(&b, context.bounds)?),
                "Equal" => Item::Bool(context.equal(&a, &b)?),
                "Less" => Item::Bool(context.less(&a, &b)?),
                "Greater" => Item::Bool(context.less(&b, &a)?),
                "LessOrEqual" => Item::Bool(!context.less(&b, &a)?),
                "GreaterOrEqual" => Item::Bool(!context.less(&a, &b)?),
                _ => return None,
            },
            (Item::Real(a), Item::Real(b)) => match operator {
                "Add" => Item::Real(a + b),
                "Sub" => Item::Real(a - b),
                "Mul" => Item::Real(a * b),
                "Div" => Item::Real(a / b),
                // Other powers depend on the platform's math library.
                "Pow" if a > 0.0 && b == 0.5 => Item::Real(a.sqrt()),
                "Pow" if b == 1.0 => Item::Real(a),
                "Pow" if b == 2.0 => Item::Real(a * a),
                "Equal" => Item::Bool(a == b),
                "Less" => Item::Bool(a < b),
                "Greater" => Item::Bool(a > b),
                _ => return None,
            },
            (Item::Bool(a), Item::Bool(b)) => match operator {
                "And" => Item::Bool(a && b),
                "Or" => Item::Bool(a || b),
                "Xor" => Item::Bool(a != b),
                "Equal" => Item::Bool(a == b),
                _ => return None,
            },
            _ => return None,
        })
    };
    let items = a.into_iter().zip(b).map(compute).collect::<Option<Vec<_>>>()?;
    Some((if compares { ElementType::Bool } else { x.element }, shape, items))
}

fn select(c: &Value, x: &Value, y: &Value) -> Option<Folded> {
    let shape = broadcast(&c.shape, &broadcast(&x.shape, &y.shape).ok()?).ok()?;
    let (c, a, b) = (spread(c, &shape)?, spread(x, &shape)?, spread(y, &shape)?);
    let items = c.into_iter().zip(a.into_iter().zip(b)).map(|(c, (a, b))| match c {
        Item::Bool(c) => Some(if c { a } else { b }),
        _ => None,
    });
    Some((x.element, shape, items.collect::<Option<Vec<_>>>()?))
}

/// The extents as numbers, if all are static.
pub fn static_shape(shape: &[Extent]) -> Option<Vec<usize>> {
    shape.iter().map(|e| usize::try_from(e.value()?).ok()).collect()
}

/// The elements of a value that is broadcast to a shape.
fn spread(x: &Value, shape: &[Extent]) -> Option<Vec<Item>> {
    let rank = x.rank();
    let from = static_shape(&x.shape)?;
    let skipped = shape.len().checked_sub(rank)?;
    moved(x, shape, |index| {
        let index = index.get(skipped..)?.iter().zip(&from);
        Some(index.map(|(i, extent)| if *extent == 1 { 0 } else { *i }).collect())
    })
}

/// The elements of a result of this shape; `source` maps each index of the result to an index of the operand.
pub fn moved(
    x: &Value,
    shape: &[Extent],
    source: impl Fn(&[usize]) -> Option<Vec<usize>>,
) -> Option<Vec<Item>> {
    let known = x.known.as_ref()?;
    let (from, to) = (static_shape(&x.shape)?, static_shape(shape)?);
    let count = to.iter().try_fold(1usize, |p, e| p.checked_mul(*e)).filter(|c| *c <= MAX_KNOWN)?;
    let mut items = Vec::with_capacity(count);
    let mut index = vec![0; to.len()];
    for _ in 0..count {
        let position = source(&index)?;
        let mut offset = 0;
        for (i, extent) in position.iter().zip(&from) {
            if i >= extent {
                return None;
            }
            offset = offset * extent + i;
        }
        items.push(known.get(offset)?.clone());
        for (i, extent) in index.iter_mut().zip(&to).rev() {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
    }
    Some(items)
}
