// SPDX-License-Identifier: Apache-2.0
//! Kernels of operators that the language cannot express, by qualified name. No other table names operators.
//!
//! A kernel is plain Rust over tensors, independent of models and MLIR, so that every engine can call it.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
mod boxes;
pub mod compiled;
pub mod description;
pub mod random;
pub mod resample;
mod search;
mod selection;
pub mod sharing;
mod suppression;
pub mod user;

use skript_semantics::{Scalar, ScalarKind, real};
use skript_tensor::{ElementType, Tensor, TensorError};
use std::sync::Arc;
use user::UserKernel;

/// The implementation of an intrinsic: computes all outputs of one invocation.
pub enum Kernel {
    /// A function of this crate.
    Own(Function),
    /// A function of a user's library.
    User(Arc<UserKernel>),
}

type Function = fn(&Call<'_>) -> Result<Vec<Tensor>, KernelError>;

impl Kernel {
    /// Computes all outputs.
    ///
    /// # Errors
    /// [`KernelError`]: attributes or inputs that the operator does not support.
    pub fn run(&self, call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
        match self {
            Kernel::Own(function) => function(call),
            Kernel::User(kernel) => kernel.run(call),
        }
    }
}

/// The intrinsics of the standard library and of imported models, for selecting other implementations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intrinsic {
    /// The largest elements along an axis, and their indices.
    LargestElements,
    /// Non-maximum suppression of boxes.
    SuppressedBoxes,
    /// The positions of elements that are not zero.
    NonzeroPositions,
    /// Cubic interpolation to another size.
    CubicResize,
    /// Cubic interpolation at the points of a grid.
    CubicSample,
    /// The maximum over a region of interest, divided into bins.
    RegionMaximum,
    /// The mean over a region of interest, divided into bins.
    RegionMean,
    /// Random reals, uniformly distributed.
    Uniform,
    /// Random reals, normally distributed.
    Normal,
    /// Random truth values.
    Bernoulli,
}

impl Intrinsic {
    /// The intrinsic with a qualified name.
    pub fn named(name: &str) -> Option<Self> {
        find(name).map(|row| row.intrinsic)
    }

    /// Whether it draws random numbers.
    fn is_random(self) -> bool {
        matches!(self, Self::Uniform | Self::Normal | Self::Bernoulli)
    }
}

struct Row {
    name: &'static str,
    intrinsic: Intrinsic,
    kernel: Function,
}

const fn row(name: &'static str, intrinsic: Intrinsic, kernel: Function) -> Row {
    Row { name, intrinsic, kernel }
}

static TABLE: [Row; 11] = {
    use Intrinsic as I;
    [
        row("algo.top_k", I::LargestElements, search::largest),
        row("onnx.top_k", I::LargestElements, search::largest),
        row("algo.nonmax_suppress", I::SuppressedBoxes, suppression::suppress),
        row("layout.nonzero", I::NonzeroPositions, search::positions),
        row("image.cubic_resize", I::CubicResize, resample::cubic),
        row("image._cubic_grid_sample", I::CubicSample, resample::cubic_at),
        row("image.max_roi_pool", I::RegionMaximum, boxes::region_maximum),
        row("image.avg_roi_pool", I::RegionMean, boxes::region_mean),
        row("rand.uniform", I::Uniform, random::uniform),
        row("rand.normal", I::Normal, random::normal),
        row("rand.bernoulli", I::Bernoulli, random::bernoulli),
    ]
};

/// The names of all intrinsics.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.name)
}

/// The kernel of an operator, if it is an intrinsic or a user has bound one to it ([`user::bind`]).
pub fn kernel(name: &str) -> Option<Kernel> {
    let standard = find(name).map(|row| Kernel::Own(row.kernel));
    standard.or_else(|| user::find(name).map(Kernel::User))
}

/// The largest position that an intrinsic may return if its inputs have at most these extents; `None` if it returns no
/// positions. `axis` is the intrinsic's attribute `axis`.
pub fn largest_position(name: &str, axis: Option<i64>, shapes: &[Vec<u64>]) -> Option<u64> {
    let shape = |input: usize| shapes.get(input).map_or(&[][..], Vec::as_slice);
    let extent = match Intrinsic::named(name)? {
        Intrinsic::LargestElements => {
            let axis = self::axis(axis?, shape(0).len())?;
            shape(0).get(axis).copied()
        }
        Intrinsic::NonzeroPositions => shape(0).iter().max().copied(),
        // Rows of batch, class and box: the extents of the scores.
        Intrinsic::SuppressedBoxes => shape(1).iter().max().copied(),
        _ => None,
    };
    extent?.checked_sub(1)
}

/// Whether an operator is an intrinsic that draws random numbers: its invocations must not be removed or merged.
pub fn is_random(name: &str) -> bool {
    Intrinsic::named(name).is_some_and(Intrinsic::is_random)
}

fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

/// The value of an operator's attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An optional attribute without a value.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `real`.
    Real(f64),
    /// A `str`.
    Str(String),
    /// A pack; packs of packs nest.
    List(Vec<Value>),
    /// A value that depends on dynamic extents, where no run-time value is passed to the kernel.
    Unknown,
}

/// The type of an output, with the extents that are known before the kernel runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The storage type that the kernel writes.
    pub element: ElementType,
    /// The shape; `None` if the kernel determines it.
    pub shape: Option<Vec<u64>>,
    /// The shape, or its upper bound.
    pub bound: Vec<u64>,
}

/// The reason why a kernel failed.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Attributes or inputs that the operator does not support.
    #[error("{0}")]
    Invocation(String),
    /// The type of the output at this position must state the shape, but does not.
    #[error("the shape of output {0} is not known")]
    NoShape(usize),
    /// A tensor could not be built or read.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// One invocation of an intrinsic.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Names and values, in the order of the declaration.
    pub attributes: &'a [(String, Value)],
    /// The inputs; packs are flattened.
    pub inputs: &'a [&'a Tensor],
    /// The element types and extents of the results.
    pub outputs: &'a [Output],
    /// The stream of random numbers.
    pub seed: u64,
}

impl Call<'_> {
    fn attribute(&self, name: &str) -> Result<&Value, KernelError> {
        let attribute = self.attributes.iter().find(|a| a.0 == name);
        attribute.map(|a| &a.1).ok_or_else(|| self.wrong(format!("attribute {name} is missing")))
    }

    /// An int attribute.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn int(&self, name: &str) -> Result<i64, KernelError> {
        match self.attribute(name)? {
            Value::Int(i) => Ok(*i),
            other => Err(self.misfit(name, other, "int")),
        }
    }

    /// The error of an attribute whose value is not of this kind.
    fn misfit(&self, name: &str, value: &Value, kind: &str) -> KernelError {
        let is_unknown = match value {
            Value::List(items) => items.contains(&Value::Unknown),
            value => *value == Value::Unknown,
        };
        self.wrong(if is_unknown {
            format!("attribute {name} depends on dynamic extents; pass it a value, or fix the extents")
        } else {
            format!("attribute {name} is not of kind {kind}")
        })
    }

    /// A number attribute.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn real(&self, name: &str) -> Result<f64, KernelError> {
        let value = self.attribute(name)?;
        number(value).ok_or_else(|| self.misfit(name, value, "number"))
    }

    /// A number attribute that may be `~`.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn optional_real(&self, name: &str) -> Result<Option<f64>, KernelError> {
        match self.attribute(name)? {
            Value::Null => Ok(None),
            _ => self.real(name).map(Some),
        }
    }

    /// A bool attribute.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn bool(&self, name: &str) -> Result<bool, KernelError> {
        match self.attribute(name)? {
            Value::Bool(b) => Ok(*b),
            other => Err(self.misfit(name, other, "bool")),
        }
    }

    /// A string attribute.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn text(&self, name: &str) -> Result<&str, KernelError> {
        match self.attribute(name)? {
            Value::Str(s) => Ok(s),
            other => Err(self.misfit(name, other, "str")),
        }
    }

    /// A list of ints.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>, KernelError> {
        let value = self.attribute(name)?;
        let wrong = || self.misfit(name, value, "list of ints");
        match value {
            Value::List(items) => items
                .iter()
                .map(|i| match i {
                    Value::Int(i) => Some(*i),
                    _ => None,
                })
                .collect::<Option<_>>()
                .ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn input(&self, position: usize) -> Result<&Tensor, KernelError> {
        let input = self.inputs.get(position).copied();
        input.ok_or_else(|| self.wrong(format!("input {position} is missing")))
    }

    fn reals(&self, position: usize) -> Result<Vec<f64>, KernelError> {
        let input = self.input(position)?;
        if input.kind() != ScalarKind::Real {
            return Err(self.wrong(format!("input {position} is not real")));
        }
        Ok(input.scalars().map(Scalar::to_real).collect())
    }

    /// The result of one step, rounded to the type in which formulas compute on these inputs: f64 if an input is f64,
    /// otherwise f32.
    fn step(&self) -> impl Fn(f64) -> f64 + Copy + use<> {
        let is_double = self.is_double();
        move |x| if is_double { x } else { real::narrow(x) }
    }

    /// Whether an array is f64.
    fn is_double(&self) -> bool {
        let mut elements =
            (self.inputs.iter().map(|t| t.element())).chain(self.outputs.iter().map(|o| o.element));
        elements.any(|e| e == ElementType::F64)
    }

    /// An output: reals are rounded to its element type, ints wrap.
    fn result(
        &self,
        position: usize,
        shape: &[u64],
        values: impl Iterator<Item = Scalar>,
    ) -> Result<Tensor, KernelError> {
        Ok(Tensor::from_scalars(self.element(position)?, shape, values)?)
    }

    fn element(&self, position: usize) -> Result<ElementType, KernelError> {
        let output = self.outputs.get(position);
        let output = output.ok_or_else(|| self.wrong(format!("output {position} is missing")))?;
        Ok(output.element)
    }

    /// The extents of an input.
    fn shape(&self, position: usize) -> Result<Vec<usize>, KernelError> {
        self.extents(self.input(position)?.shape())
    }

    /// The extents that an output's type states.
    fn output(&self, position: usize) -> Result<Vec<u64>, KernelError> {
        let output = self.outputs.get(position);
        let output = output.ok_or_else(|| self.wrong(format!("output {position} is missing")))?;
        let shape = output.shape.clone();
        shape.ok_or(KernelError::NoShape(position))
    }

    fn extents(&self, shape: &[u64]) -> Result<Vec<usize>, KernelError> {
        let extents = shape.iter().map(|&n| usize::try_from(n).ok());
        extents.collect::<Option<_>>().ok_or_else(|| self.wrong("an extent is too large".to_string()))
    }

    fn wrong(&self, reason: String) -> KernelError {
        KernelError::Invocation(reason)
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Real(x) => Some(*x),
        Value::Int(i) => Some(*i as f64),
        _ => None,
    }
}

/// A dimension; negative dimensions count from the end.
pub fn axis(value: i64, rank: usize) -> Option<usize> {
    let shifted = if value < 0 { value.checked_add(i64::try_from(rank).ok()?)? } else { value };
    usize::try_from(shifted).ok().filter(|&a| a < rank)
}

/// An element of a slice; 0 out of bounds.
fn value_at(values: &[f64], position: usize) -> f64 {
    values.get(position).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
