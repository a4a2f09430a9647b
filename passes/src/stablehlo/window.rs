//! Windows that slide: `convolution` and `reduce_window`.
//!
//! A dimension read at `s·k + d·r + o`, k an index of the output and r one that is reduced, is a window of stride s and
//! dilation d; it runs backwards where d is negative. Read at `⌊(s·k + d·r + o) / b⌋`, and only where b divides evenly, it
//! slides over elements that stand b apart. What the guard skips outside of the tensor and between its elements is
//! padding; where it compares places of a dimension with a number, as an extent that only a run knows, those that do not
//! count hold a filler.

use super::access::{Run, run, slice};
use super::cast;
use super::error::ExportError;
use super::evaluate::{Evaluator, element, elementwise, uncast};
use super::field::Field;
use super::guards::Conjunct;
use super::shift::Shift;
use super::tensors::Tensors;
use super::write::identity;
use crate::mlir::copy::operation_name;
use crate::mlir::{attributes, types};
use crate::structure::{Affine, Guard, Term, TermId};
use melior::Error;
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, Value, ValueLike};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_semantics::Scalar;

/// A dimension that a window slides along.
#[derive(Clone, Debug)]
struct Window {
    kept: usize,
    /// `None`: it is one element long.
    reduced: Option<usize>,
    stride: i64,
    /// Positive.
    dilation: i64,
    /// Whether the first element of the kernel meets the last one of the window.
    reversed: bool,
    /// How far apart the elements stand that it slides over.
    base: i64,
    /// Borders to add.
    low: i64,
    high: i64,
}

impl Window {
    /// How many elements it meets.
    fn length(&self, domain: &[i64]) -> i64 {
        let extent = self.reduced.and_then(|i| domain.get(i).copied());
        extent.unwrap_or(1)
    }
}

/// What a dimension of the prepared tensor is.
#[derive(Clone, Debug)]
enum Dimension {
    Index(usize),
    Window(Window),
}

/// A tensor read by windows: sliced, and one dimension for each index and each window.
pub struct Windowed<'c, 'a> {
    pub value: Value<'c, 'a>,
    dimensions: Vec<Dimension>,
    /// By conjunct of the guard.
    pub skipped: Vec<Skipped>,
}

/// What became of a conjunct of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It says that reads stay inside, or meet elements: padding.
    ByBorder,
    /// It says which places of a dimension count: the others hold the filler.
    ByFiller,
    /// It says something else.
    Not,
}

impl<'c: 'a, 'a> Windowed<'c, 'a> {
    /// `value` as an access with windows; `None` if it is none. Places that the guard skips hold `filler`.
    pub fn of(
        evaluator: &Evaluator<'_, 'c, 'a>,
        value: Value<'c, 'a>,
        reduced: &[usize],
        guards: &[Conjunct<'c, 'a>],
        filler: Scalar,
    ) -> Result<Option<Self>, ExportError> {
        let (reading, at) = (evaluator.reading, &evaluator.at);
        let nest = &reading.nest;
        let read = uncast(value);
        let Ok(result) = OperationResult::try_from(read) else {
            return Ok(None);
        };
        let owner = result.owner();
        if operation_name(owner) != "skript.access" {
            return Ok(None);
        }
        let Some(Term::Access { subscripts, .. }) =
            reading.find(read).and_then(|t| nest.terms.get(t))
        else {
            return Ok(None);
        };
        let tensor = evaluator.outside.get(owner.operand(0)?)?;
        let mut tensor = cast::width(tensor, element(value.r#type(), at), at)?;
        let (mut forms, mut places) = (Vec::new(), Vec::new());
        for (operand, subscript) in owner.operands().skip(1).enumerate() {
            let Some(place) = evaluator.place(subscript)? else {
                return Ok(None);
            };
            let (mut within, mut first) = (vec![place.form.clone()], None);
            if !place.is_affine() {
                let shift = Shift::of(forms.len(), &place, &nest.extents, at)?;
                let Some((shift, parts)) = shift else {
                    return Ok(None);
                };
                tensor = shift.cut(tensor, at)?;
                (within, first) = (parts, shift.first());
            }
            for form in within {
                places.push(Along {
                    term: subscripts.get(operand).copied(),
                    form: form.clone(),
                    first,
                });
                forms.push(form);
            }
        }
        let extents = at.extents(tensor)?;
        let whole = Guard::of(nest);
        let Some(bounds) = bounds(&whole, &forms, &extents, &nest.extents) else {
            return Ok(None);
        };
        let Some(parts) = parts(&forms, &extents, &nest.extents, reduced) else {
            return Ok(None);
        };
        let mut skipped = Vec::new();
        for conjunct in guards {
            let own = Guard::all(nest, reading.find(conjunct.value));
            let is_border =
                own.others.is_empty() && own.constraints.iter().all(|c| bounds.contains(c));
            skipped.push(if is_border {
                Skipped::ByBorder
            } else if let Some((dimension, counts)) =
                counted(conjunct, &places, &extents, evaluator)?
            {
                tensor = filled(tensor, dimension, counts, filler, at)?;
                Skipped::ByFiller
            } else {
                Skipped::Not
            });
        }
        let (value, dimensions) = prepare(tensor, parts, &extents, &nest.extents, at)?;
        Ok(Some(Windowed {
            value,
            dimensions,
            skipped,
        }))
    }

    fn extent(domain: &[i64], index: usize) -> i64 {
        domain.get(index).copied().unwrap_or(1)
    }

    /// Dimensions that satisfy a condition on their index, and those indices.
    fn indices(&self, wanted: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<usize>) {
        self.dimensions
            .iter()
            .enumerate()
            .filter_map(|(d, dimension)| match dimension {
                Dimension::Index(index) if wanted(*index) => Some((d, *index)),
                _ => None,
            })
            .unzip()
    }

    fn windows(&self) -> impl Iterator<Item = (usize, &Window)> {
        self.dimensions
            .iter()
            .enumerate()
            .filter_map(|(d, dimension)| match dimension {
                Dimension::Window(window) => Some((d, window)),
                Dimension::Index(_) => None,
            })
    }

    /// Whether zeros stand around the elements, or between them.
    pub fn has_border(&self) -> bool {
        self.windows()
            .any(|(_, w)| w.low > 0 || w.high > 0 || w.base > 1)
    }

    /// `Σ self · kernel` over `reduced`. `None` where the factors' indices do not fit a convolution.
    pub fn convolve(
        &self,
        kernel: &Field<'c, 'a>,
        reduced: &[usize],
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Result<Option<Field<'c, 'a>>, Error> {
        let in_kernel = |i: usize| kernel.indices.contains(&i);
        let is_reduced = |i: usize| reduced.contains(&i);
        let offsets: Vec<usize> = self.windows().filter_map(|(_, w)| w.reduced).collect();
        let spatial: Vec<usize> = self.windows().map(|(_, w)| w.kept).collect();
        let (batch_at, batch) = self.indices(|i| !is_reduced(i) && !in_kernel(i));
        let (group_at, group) = self.indices(|i| !is_reduced(i) && in_kernel(i));
        let (feature_at, feature) = self.indices(|i| is_reduced(i) && in_kernel(i));
        let (alone, _) = self.indices(|i| is_reduced(i) && !in_kernel(i));
        let covered = reduced
            .iter()
            .all(|i| offsets.contains(i) || feature.contains(i));
        let fits = offsets.iter().all(|i| in_kernel(*i)) && !spatial.iter().any(|i| in_kernel(*i));
        if !alone.is_empty() || !covered || !fits {
            return Ok(None);
        }
        let own: Vec<usize> = kernel
            .indices
            .iter()
            .copied()
            .filter(|i| !group.contains(i) && !feature.contains(i) && !offsets.contains(i))
            .collect();
        let count =
            |list: &[usize]| -> i64 { list.iter().map(|i| Self::extent(domain, *i)).product() };

        let mut order = batch_at;
        order.extend(group_at);
        order.extend(feature_at);
        order.extend(self.windows().map(|(d, _)| d));
        let input = at.transpose(self.value, &order)?;
        let mut shape = vec![count(&batch), count(&group) * count(&feature)];
        let extents = at.extents(self.value)?;
        shape.extend(self.windows().filter_map(|(d, _)| extents.get(d).copied()));
        let input = at.reshape(input, &shape)?;

        let mut order = group.clone();
        order.extend(&own);
        order.extend(&feature);
        order.extend(&offsets);
        let weights = kernel.over(&order, domain, at)?;
        let first = order.len() - offsets.len();
        let slid = self.windows().filter(|(_, w)| w.reduced.is_some());
        let backwards = slid.enumerate().filter(|(_, (_, w))| w.reversed);
        let backwards: Vec<i64> = backwards.map(|(n, _)| (first + n) as i64).collect();
        let weights = at.reverse(weights, &backwards)?;
        let mut shape = vec![count(&group) * count(&own), count(&feature)];
        shape.extend(self.windows().map(|(_, w)| w.length(domain)));
        let weights = at.reshape(weights, &shape)?;

        let mut result = vec![count(&batch), count(&group) * count(&own)];
        result.extend(spatial.iter().map(|i| Self::extent(domain, *i)));
        let value = self.convolution(input, weights, count(&group), &result, at)?;
        let mut labels = batch;
        labels.extend(group);
        labels.extend(own);
        labels.extend(spatial);
        let shape: Vec<i64> = labels.iter().map(|i| Self::extent(domain, *i)).collect();
        let value = at.reshape(value, &shape)?;
        Field::labelled(value, &labels, at).map(Some)
    }

    fn convolution(
        &self,
        input: Value<'c, 'a>,
        weights: Value<'c, 'a>,
        groups: i64,
        result: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let context = at.at.context;
        let parse = |text: &str| Attribute::parse(context, text).ok_or(Error::OperationBuild);
        let list =
            |of: fn(&Window) -> i64| -> Vec<i64> { self.windows().map(|(_, w)| of(w)).collect() };
        let numbers: Vec<String> = (0..self.windows().count()).map(|n| n.to_string()).collect();
        let numbers = numbers.join(", ");
        let layout =
            format!("#stablehlo.conv<[b, f, {numbers}]x[o, i, {numbers}]->[b, f, {numbers}]>");
        let borders: Vec<i64> = self.windows().flat_map(|(_, w)| [w.low, w.high]).collect();
        let mut parameters = vec![
            (
                "window_strides",
                attributes::i64s(context, &list(|w| w.stride)),
            ),
            ("padding", padding(&borders, at)),
            (
                "rhs_dilation",
                attributes::i64s(context, &list(|w| w.dilation)),
            ),
            ("dimension_numbers", parse(&layout)?),
            ("feature_group_count", attributes::i64(context, groups)),
            ("batch_group_count", attributes::i64(context, 1)),
            (
                "precision_config",
                parse("[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]")?,
            ),
        ];
        let bases = list(|w| w.base);
        if bases.iter().any(|b| *b != 1) {
            parameters.push(("lhs_dilation", attributes::i64s(context, &bases)));
        }
        let result = types::tensor(result, at.element(input)?);
        at.op("convolution", &[input, weights], &parameters, result)
    }

    /// The combination over `reduced`. `None` if one of them does not occur.
    pub fn reduce(
        &self,
        kind: Accumulation,
        reduced: &[usize],
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Result<Option<Field<'c, 'a>>, Error> {
        let Some(combiner) = Tensors::combiner(kind) else {
            return Ok(None);
        };
        let (alone, alone_indices) = self.indices(|i| reduced.contains(&i));
        let slid: Vec<usize> = self.windows().filter_map(|(_, w)| w.reduced).collect();
        if !reduced
            .iter()
            .all(|i| slid.contains(i) || alone_indices.contains(i))
        {
            return Ok(None);
        }
        let element = at.element(self.value)?;
        let neutral = identity(kind, element);
        let context = at.at.context;
        let mut sizes = Vec::new();
        let (mut strides, mut dilations, mut borders) = (Vec::new(), Vec::new(), Vec::new());
        let mut bases = Vec::new();
        let mut extents = at.extents(self.value)?;
        let mut labels = Vec::new();
        for (dimension, extent) in self.dimensions.iter().zip(&mut extents) {
            match dimension {
                Dimension::Index(index) => {
                    labels.push(*index);
                    sizes.push(1);
                    strides.push(1);
                    dilations.push(1);
                    bases.push(1);
                    borders.extend([0, 0]);
                }
                Dimension::Window(window) => {
                    labels.push(window.kept);
                    sizes.push(window.length(domain));
                    strides.push(window.stride);
                    dilations.push(window.dilation);
                    bases.push(window.base);
                    borders.extend([window.low, window.high]);
                    *extent = Self::extent(domain, window.kept);
                }
            }
        }
        let init = at.splat(neutral, &[], element)?;
        let region = at.combination(combiner, element)?;
        let mut parameters = vec![
            ("window_dimensions", attributes::i64s(context, &sizes)),
            ("window_strides", attributes::i64s(context, &strides)),
            ("window_dilations", attributes::i64s(context, &dilations)),
            ("padding", padding(&borders, at)),
        ];
        if bases.iter().any(|b| *b != 1) {
            parameters.push(("base_dilations", attributes::i64s(context, &bases)));
        }
        let op = at.at.create(
            "stablehlo.reduce_window",
            &[self.value, init],
            &parameters,
            &[types::tensor(&extents, element)],
            vec![region],
        )?;
        let dimensions: Vec<i64> = alone.iter().map(|d| *d as i64).collect();
        let value = at.reduce(op.result(0)?.into(), combiner, neutral, &dimensions)?;
        labels.retain(|i| !alone_indices.contains(i));
        Field::labelled(value, &labels, at).map(Some)
    }
}

/// Rows of two.
fn padding<'c: 'a, 'a>(borders: &[i64], at: &Tensors<'c, 'a>) -> Attribute<'c> {
    let rows = (borders.len() / 2) as i64;
    DenseElementsAttribute::i64_values(types::tensor(&[rows, 2], at.int()), borders).into()
}

/// What a guard may say of subscripts for padding to skip the same: that they stay inside of the tensor, and meet elements.
/// `None`: reads between elements are not all skipped.
fn bounds(whole: &Guard, forms: &[Affine], extents: &[i64], domain: &[i64]) -> Option<Vec<Affine>> {
    let mut bounds = Vec::new();
    for (form, extent) in forms.iter().zip(extents) {
        let last = extent.checked_sub(1).map(Affine::constant);
        bounds.extend(last.and_then(|last| last.sub(form)));
        bounds.push(form.clone());
        if let Some((dividend, base)) = form.as_quotient() {
            let evenly = dividend
                .modulo(base, domain)
                .and_then(|rest| rest.scale(-1))
                .filter(|evenly| whole.constraints.contains(evenly))?;
            bounds.push(evenly);
        }
    }
    Some(bounds)
}

/// Where a dimension is read.
struct Along<'c, 'a> {
    term: Option<TermId>,
    /// From the first place on.
    form: Affine,
    /// `None`: it is the tensor's.
    first: Option<Value<'c, 'a>>,
}

/// The dimension whose places a conjunct compares with one number, and which of them it lets count.
fn counted<'c: 'a, 'a>(
    conjunct: &Conjunct<'c, 'a>,
    places: &[Along<'c, 'a>],
    extents: &[i64],
    evaluator: &Evaluator<'_, 'c, 'a>,
) -> Result<Option<(usize, Value<'c, 'a>)>, ExportError> {
    let (reading, at) = (evaluator.reading, &evaluator.at);
    let Ok(result) = OperationResult::try_from(conjunct.value) else {
        return Ok(None);
    };
    let owner = result.owner();
    if owner.operands().count() != 2 {
        return Ok(None);
    }
    let operands = [owner.operand(0)?, owner.operand(1)?];
    for (place, limit) in [(0, 1), (1, 0)] {
        let (Some(subscript), Some(limit)) = (operands.get(place), operands.get(limit)) else {
            continue;
        };
        let term = reading.find(*subscript);
        let form = term.and_then(|t| reading.nest.affine(t));
        let is_place = |own: &Along<'c, 'a>| match own.first {
            None => form.as_ref() == Some(&own.form),
            Some(_) => own
                .term
                .zip(term)
                .is_some_and(|(x, y)| reading.nest.same(x, y)),
        };
        let dimension = places.iter().position(is_place);
        let limit = evaluator.field(*limit)?;
        let (Some(dimension), true) = (dimension, limit.indices.is_empty()) else {
            continue;
        };
        let extent = extents.get(dimension).copied().unwrap_or(1);
        let limit = at.broadcast(limit.value, &[], &[extent])?;
        let mut own = at.iota(extent)?;
        if let Some(first) = places.get(dimension).and_then(|place| place.first) {
            let first = at.broadcast(first, &[], &[extent])?;
            own = at.same("add", &[own, first])?;
        }
        let mut sides = [own, limit];
        if place == 1 {
            sides.reverse();
        }
        let name = operation_name(owner);
        return Ok(elementwise(owner, &name, &sides, at)?.map(|counts| (dimension, counts)));
    }
    Ok(None)
}

/// The tensor with the filler at those places of a dimension that do not count.
fn filled<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    counts: Value<'c, 'a>,
    filler: Scalar,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let extents = at.extents(tensor)?;
    let counts = at.broadcast(counts, &[dimension as i64], &extents)?;
    let filler = at.splat(filler, &extents, at.element(tensor)?)?;
    at.select(counts, tensor, filler)
}

enum Part {
    Run(Run),
    /// With the place of the first read, and of the last.
    Window(Window, i64, i64),
}

/// By dimension; at least one window. `None` if a dimension is neither run nor window, or indices are shared.
fn parts(
    forms: &[Affine],
    extents: &[i64],
    domain: &[i64],
    reduced: &[usize],
) -> Option<Vec<Part>> {
    let mut seen = Vec::new();
    let mut parts = Vec::new();
    for (form, extent) in forms.iter().zip(extents) {
        for index in form.indices() {
            if seen.contains(&index) {
                return None;
            }
            seen.push(index);
        }
        let part = match run(form, domain) {
            Some(run) if !run.leaves(*extent) => Part::Run(run),
            // A border would be taken for elements, or it is no run.
            _ => window(form, *extent, domain, reduced)?,
        };
        parts.push(part);
    }
    let slides = parts.iter().any(|p| matches!(p, Part::Window(..)));
    slides.then_some(parts)
}

fn window(form: &Affine, extent: i64, domain: &[i64], reduced: &[usize]) -> Option<Part> {
    let (form, base) = form.as_quotient().unwrap_or_else(|| (form.clone(), 1));
    let linear = form.as_linear()?;
    let is_reduced = |index: &usize| reduced.contains(index);
    let (kept, stride, slid, step) = match linear.as_slice() {
        [(kept, stride)] if base > 1 && !is_reduced(kept) => (*kept, *stride, None, 1),
        [(kept, stride), (slid, step)] | [(slid, step), (kept, stride)]
            if !is_reduced(kept) && is_reduced(slid) =>
        {
            (*kept, *stride, Some(*slid), *step)
        }
        _ => return None,
    };
    if stride <= 0 || step == 0 {
        return None;
    }
    let dilation = step.checked_abs()?;
    let length = slid.map_or(Some(1), |slid| domain.get(slid).copied())?;
    let length = dilation.checked_mul(length - 1)?;
    let reach = stride
        .checked_mul(domain.get(kept)? - 1)?
        .checked_add(length)?;
    let reversed = step < 0;
    let begin = form
        .offset()
        .checked_sub(if reversed { length } else { 0 })?;
    let last = begin.checked_add(reach)?;
    // The elements that some window meets.
    let start = begin.checked_add(base - 1)?.div_euclid(base).max(0);
    let limit = last.div_euclid(base).checked_add(1)?.min(extent);
    if start >= limit {
        return None;
    }
    let window = Window {
        kept,
        reduced: slid,
        stride,
        dilation,
        reversed,
        base,
        low: start.checked_mul(base)?.checked_sub(begin)?,
        high: last.checked_sub((limit - 1).checked_mul(base)?)?,
    };
    Some(Part::Window(window, start, limit))
}

fn prepare<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    parts: Vec<Part>,
    extents: &[i64],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<(Value<'c, 'a>, Vec<Dimension>), Error> {
    let (mut starts, mut limits) = (Vec::new(), Vec::new());
    for (part, extent) in parts.iter().zip(extents) {
        let (start, limit) = match part {
            Part::Run(_) => (0, *extent),
            Part::Window(_, begin, end) => (*begin, *end),
        };
        starts.push(start);
        limits.push(limit);
    }
    let cut = at.slice(tensor, &starts, &limits, &vec![1; extents.len()])?;
    let mut dimensions = Vec::new();
    let mut shape = Vec::new();
    let mut runs = Vec::new();
    for ((part, start), limit) in parts.into_iter().zip(starts).zip(limits) {
        match part {
            Part::Run(run) => {
                for index in &run.indices {
                    shape.push(domain.get(*index).copied().unwrap_or(1));
                    dimensions.push(Dimension::Index(*index));
                }
                runs.push(Some(run));
            }
            Part::Window(window, ..) => {
                shape.push(limit - start);
                dimensions.push(Dimension::Window(window));
                runs.push(None);
            }
        }
    }
    let sliced = slice(cut, &runs, at)?;
    Ok((at.reshape(sliced, &shape)?, dimensions))
}
