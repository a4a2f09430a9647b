// SPDX-License-Identifier: Apache-2.0
//! `fft`: for each dimension a sum over a table of roots of unity.
//!
//! Needs n² products along a dimension of n elements: intended for tests and short signals.

use super::generic::{Port, dims, filled_with, generic};
use super::operation::{Found, Tensor};
use crate::import::element::{Element, Float};
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;
use std::f64::consts::TAU;

/// The kind of a transform along one dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Complex to complex.
    Whole,
    /// Real to the first half of a symmetric spectrum.
    Halved,
    /// The first half of a symmetric spectrum to real.
    Doubled,
}

pub(crate) fn transform<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let (operand, result) = (found.operand(0)?, found.result()?);
    let lengths = found.list("fft_length")?;
    let kind = found.op.attribute("fft_type")?.to_string();
    let backward = kind.contains("IFFT") || kind.contains("IRFFT");
    let ((Element::Complex(part), _) | (_, Element::Complex(part))) = (operand.element, result.element)
    else {
        return Err("has no complex elements".into());
    };
    let first = operand.rank().checked_sub(lengths.len());
    let first = first.ok_or("has more lengths than dimensions")?;
    let mut steps: Vec<(usize, i64, Step)> =
        (first..).zip(lengths).map(|(d, n)| (d, n, Step::Whole)).collect();
    // If one side is real, the last dimension is halved: real inputs are processed first, real outputs last.
    if let Some(last) = steps.last_mut() {
        last.2 = match (operand.element, result.element) {
            (Element::Float(_), _) => Step::Halved,
            (_, Element::Float(_)) => Step::Doubled,
            _ => Step::Whole,
        };
        if last.2 == Step::Halved {
            steps.rotate_right(1);
        }
    }
    let mut lines = Lines::default();
    let (mut value, mut tensor) = ("%0".to_owned(), operand.clone());
    for (number, (dimension, length, step)) in steps.into_iter().enumerate() {
        let made = Dimension { number, dimension, length, step, part, backward };
        (value, tensor) = made.transform(&mut lines, &value, &tensor);
    }
    if tensor != *result {
        return Err("has lengths that are not those of its dimensions".into());
    }
    Ok(found.splice(&lines, &[value])?.values)
}

/// The state of the transform of one dimension.
struct Dimension {
    /// Distinguishes the names of tables.
    number: usize,
    dimension: usize,
    length: i64,
    step: Step,
    part: Float,
    backward: bool,
}

impl Dimension {
    fn transform(&self, lines: &mut Lines, value: &str, tensor: &Tensor) -> (String, Tensor) {
        let (p, n) = (self.part.text(), self.length);
        let complex = Element::Complex(self.part);
        let mut result = tensor.clone();
        if let Some(extent) = result.extents.get_mut(self.dimension) {
            *extent = if self.step == Step::Halved { n / 2 + 1 } else { n };
        }
        result.element = match self.step {
            Step::Doubled => Element::Float(self.part),
            _ => complex,
        };
        let turn = if self.backward { TAU } else { -TAU } / n as f64;
        let scale = if self.backward { 1.0 / n as f64 } else { 1.0 };
        let angle = |m: i64| turn * m as f64;
        self.table(lines, "cosine", (0..n).map(|m| scale * angle(m).cos()));
        self.table(lines, "sine", (0..n).map(|m| scale * angle(m).sin()));
        let zero = lines.value(format!("arith.constant 0.0 : {p}"));
        let zero = match self.step {
            Step::Doubled => zero,
            _ => lines.value(format!("complex.create {zero}, {zero} : complex<{p}>")),
        };
        let start = filled_with(lines, &zero, &result);
        let rank = tensor.rank();
        let mut position = dims(0..rank);
        if let Some(own) = position.get_mut(self.dimension) {
            *own = format!("d{rank}");
        }
        if self.step == Step::Doubled {
            // Each element stands for two, except for the first and the middle one.
            let edge = |q: i64| q == 0 || 2 * q == n;
            let weights = (0..=n / 2).map(|q| if edge(q) { 1.0 } else { 2.0 });
            self.table(lines, "weight", weights);
        }
        let made = generic(
            lines,
            rank + 1,
            1,
            &[Port::new(value, tensor, position)],
            &[Port::new(&start, &result, dims(0..rank))],
            &self.term(rank),
        );
        (made.concat(), result)
    }

    /// A constant that bodies see under this name.
    fn table(&self, lines: &mut Lines, name: &str, numbers: impl Iterator<Item = f64>) {
        let numbers: Vec<String> = numbers.map(|x| format!("{x:?}")).collect();
        lines.line(format!(
            "%{name}{} = arith.constant dense<[{}]> : {}",
            self.number,
            numbers.join(", "),
            self.type_of(numbers.len() as i64)
        ));
    }

    fn type_of(&self, count: i64) -> String {
        format!("tensor<{count}x{}>", self.part.text())
    }

    /// Adds the product of an element and a root to the sum.
    fn term(&self, rank: usize) -> String {
        let p = self.part.text();
        let c = format!("complex<{p}>");
        let mut body = Lines::default();
        let to = body.value(format!("linalg.index {} : index", self.dimension));
        let from = body.value(format!("linalg.index {rank} : index"));
        let length = body.value(format!("arith.constant {} : index", self.length));
        let product = body.value(format!("arith.muli {to}, {from} : index"));
        let root = body.value(format!("arith.remui {product}, {length} : index"));
        let read = |body: &mut Lines, name: &str, at: &str, count: i64| {
            let table = self.type_of(count);
            body.value(format!("tensor.extract %{name}{}[{at}] : {table}", self.number))
        };
        let cosine = read(&mut body, "cosine", &root, self.length);
        let sine = read(&mut body, "sine", &root, self.length);
        let op =
            |body: &mut Lines, op: &str, x: &str, y: &str| body.value(format!("arith.{op} {x}, {y} : {p}"));
        if self.step == Step::Halved {
            let re = op(&mut body, "mulf", "%i0", &cosine);
            let im = op(&mut body, "mulf", "%i0", &sine);
            let term = body.value(format!("complex.create {re}, {im} : {c}"));
            let sum = body.value(format!("complex.add %o0, {term} : {c}"));
            body.line(format!("linalg.yield {sum} : {c}"));
            return body.text().to_owned();
        }
        let re = body.value(format!("complex.re %i0 : {c}"));
        let im = body.value(format!("complex.im %i0 : {c}"));
        let first = op(&mut body, "mulf", &re, &cosine);
        let second = op(&mut body, "mulf", &im, &sine);
        let real = op(&mut body, "subf", &first, &second);
        if self.step == Step::Doubled {
            let weight = read(&mut body, "weight", &from, self.length / 2 + 1);
            let term = op(&mut body, "mulf", &real, &weight);
            let sum = op(&mut body, "addf", "%o0", &term);
            body.line(format!("linalg.yield {sum} : {p}"));
            return body.text().to_owned();
        }
        let first = op(&mut body, "mulf", &re, &sine);
        let second = op(&mut body, "mulf", &im, &cosine);
        let imaginary = op(&mut body, "addf", &first, &second);
        let term = body.value(format!("complex.create {real}, {imaginary} : {c}"));
        let sum = body.value(format!("complex.add %o0, {term} : {c}"));
        body.line(format!("linalg.yield {sum} : {c}"));
        body.text().to_owned()
    }
}
