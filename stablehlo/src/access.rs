// SPDX-License-Identifier: Apache-2.0
//! Reads of a formula as slices, pads and gathers.
//!
//! A dimension whose subscript has indices that no other dimension has, `c·i + o` or a mixed-radix number of several,
//! is sliced; it is padded if guarded points may be out of bounds. A dimension whose subscript depends on one index is
//! concatenated from slices if few suffice. Dimensions that share indices, or that use an index twice, are combined to
//! one ([`shared_indices`](super::shared_indices)). All others are gathered, at positions that are fields.

use super::constants::filler;
use super::field::{Field, union};
use super::rearrange::rearranged;
use super::shared_indices::straightened;
use super::tensors::Tensors;
use melior::Error;
use melior::ir::{Attribute, Value};
use skript_dialect::melior;
use skript_passes::ir::{attributes, types};
use skript_passes::structure::{Affine, Placement, Positions};

/// One subscript: its value at each point, and its affine form, or all its values if it depends on one index only.
#[derive(Clone)]
pub(crate) struct Subscript<'c, 'a> {
    pub(crate) field: Field<'c, 'a>,
    pub form: Option<Affine>,
    pub known: Option<Positions>,
    /// Whether it depends on data.
    pub(crate) is_data: bool,
}

impl<'c, 'a> Subscript<'c, 'a> {
    /// The values of an affine form with linear terms.
    pub(crate) fn affine<'s>(form: Affine, domain: &[i64], at: &'s Tensors<'c, 'a>) -> Result<Self, Error>
    where
        'c: 'a,
    {
        let mut field = Field::scalar(at.integer(form.offset())?);
        for (index, coefficient) in form.as_linear().ok_or(Error::OperationBuild)? {
            let extent = domain.get(index).copied().ok_or(Error::OperationBuild)?;
            let own = Field { value: at.iota(extent)?, indices: vec![index] };
            let factor = Field::scalar(at.integer(coefficient)?);
            let own = Field::combined("multiply", &[own, factor], domain, at)?;
            field = Field::combined("add", &[field, own], domain, at)?;
        }
        Ok(Subscript { field, form: Some(form), known: None, is_data: false })
    }

    /// A subscript without a known form.
    pub(crate) fn data(field: Field<'c, 'a>) -> Self {
        Subscript { field, form: None, known: None, is_data: true }
    }
}

/// The kind of the gathers, if there were any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gathered {
    #[default]
    Nothing,
    /// At subscripts that depend on indices alone.
    Known,
    /// At subscripts that depend on data.
    Data,
}

/// How a dimension is read.
pub(crate) struct Run {
    /// Outermost first; empty for one position.
    pub indices: Vec<usize>,
    offset: i64,
    step: i64,
    count: i64,
    reversed: bool,
}

impl Run {
    /// A dimension that is read in full and in order.
    fn whole(positions: &Positions) -> Self {
        Run {
            indices: vec![positions.index],
            offset: 0,
            step: 1,
            count: positions.positions.len() as i64,
            reversed: false,
        }
    }

    fn last(&self) -> i64 {
        self.offset + self.step * (self.count - 1)
    }

    /// Whether a position is out of bounds for a dimension of this extent.
    pub(crate) fn leaves(&self, extent: i64) -> bool {
        self.offset < 0 || self.last() >= extent
    }
}

/// The elements read, and whether a gather was needed.
pub(crate) struct Read<'c, 'a> {
    pub(crate) field: Field<'c, 'a>,
    pub(crate) gathered: Gathered,
}

/// The elements at the subscripts, at each point of a domain. Elements out of bounds are unspecified.
pub(crate) fn read<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    subscripts: &[Subscript<'c, 'a>],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Read<'c, 'a>, Error> {
    let extents = at.extents(tensor)?;
    let element = at.element(tensor)?;
    let plain = |field| Read { field, gathered: Gathered::Nothing };
    if extents.is_empty() {
        return Ok(plain(Field::scalar(tensor)));
    }
    let indices = union(subscripts.iter().map(|s| &s.field));
    if extents.contains(&0) {
        let shape: Vec<i64> = indices.iter().filter_map(|i| domain.get(*i).copied()).collect();
        let value = at.splat(filler(element), &shape, element)?;
        return Ok(plain(Field { value, indices }));
    }
    let mut tensor = tensor;
    let mut runs = runs(subscripts, domain);
    let within = |(run, extent): (&Option<Run>, &i64)| {
        let run = run.as_ref();
        run.is_some_and(|run| !run.leaves(*extent))
    };
    if indices.is_empty() && !runs.iter().zip(&extents).all(within) {
        let starts: Vec<_> = subscripts.iter().map(|s| s.field.value).collect();
        let one = at.dynamic_slice(tensor, &starts, &vec![1; extents.len()])?;
        return Ok(plain(Field::scalar(at.reshape(one, &[])?)));
    }
    if runs.iter().any(Option::is_none)
        && let Some((rows, addresses)) = straightened(tensor, subscripts, domain, at)?
    {
        return read(rows, &addresses, domain, at);
    }
    for (dimension, (run, subscript)) in runs.iter_mut().zip(subscripts).enumerate() {
        let alone = subscript.known.as_ref().filter(|known| {
            let users = subscripts.iter().map(|s| s.field.indices.contains(&known.index));
            users.filter(|uses| *uses).count() == 1
        });
        if run.is_none()
            && let Some(known) = alone
            && let Some(row) = rearranged(tensor, dimension, &known.positions, at)?
        {
            tensor = row;
            *run = Some(Run::whole(known));
        }
    }
    let sliced = slice(tensor, &runs, at)?;
    if runs.iter().all(Option::is_some) {
        let labels: Vec<usize> = runs.iter().flatten().flat_map(|r| r.indices.clone()).collect();
        let shape = shape(&labels, domain);
        let value = at.reshape(sliced, &shape)?;
        return Ok(plain(Field::labelled(value, &labels, at)?));
    }
    let field = gather(sliced, subscripts, &runs, domain, at)?;
    let is_data = subscripts.iter().zip(&runs).any(|(s, r)| r.is_none() && s.is_data);
    Ok(Read { field, gathered: if is_data { Gathered::Data } else { Gathered::Known } })
}

fn shape(labels: &[usize], domain: &[i64]) -> Vec<i64> {
    labels.iter().filter_map(|i| domain.get(*i).copied()).collect()
}

/// The slice of each dimension; `None` if it is gathered.
fn runs(subscripts: &[Subscript<'_, '_>], domain: &[i64]) -> Vec<Option<Run>> {
    subscripts
        .iter()
        .enumerate()
        .map(|(position, subscript)| {
            let run = run(subscript.form.as_ref()?, domain)?;
            let shared = subscripts.iter().enumerate().any(|(other, s)| {
                other != position && run.indices.iter().any(|i| s.field.indices.contains(i))
            });
            (!shared).then_some(run)
        })
        .collect()
}

/// The strided slice of a dimension that an affine subscript reads; `None` if its positions are not a slice.
pub(crate) fn run(form: &Affine, domain: &[i64]) -> Option<Run> {
    if let Some([(index, step @ i64::MIN..0)]) = form.as_linear().as_deref() {
        let count = *domain.get(*index)?;
        let step = step.checked_neg()?;
        return Some(Run {
            indices: vec![*index],
            offset: form.offset().checked_sub(step.checked_mul(count - 1)?)?,
            step,
            count,
            reversed: true,
        });
    }
    match Placement::of(&[Some(form.clone())], domain) {
        Placement::Block(slots) => slots.into_iter().next().map(|slot| Run {
            indices: slot.indices,
            offset: slot.offset,
            step: slot.step,
            count: slot.count,
            reversed: false,
        }),
        Placement::Overlapping | Placement::Indirect => None,
    }
}

/// The slices of dimensions; the full dimension for those without.
pub(crate) fn slice<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    runs: &[Option<Run>],
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let extents = at.extents(tensor)?;
    let (mut low, mut high) = (vec![0; extents.len()], vec![0; extents.len()]);
    let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    let mut reversed = Vec::new();
    for (dimension, (run, extent)) in runs.iter().zip(&extents).enumerate() {
        let Some(run) = run else {
            starts.push(0);
            limits.push(*extent);
            strides.push(1);
            continue;
        };
        let last = run.last();
        let (below, beyond) = ((-run.offset).max(0), (last + 1 - extent).max(0));
        if let (Some(low), Some(high)) = (low.get_mut(dimension), high.get_mut(dimension)) {
            (*low, *high) = (below, beyond);
        }
        starts.push(run.offset + below);
        limits.push(last + 1 + below);
        strides.push(run.step);
        if run.reversed {
            reversed.push(dimension as i64);
        }
    }
    let none = vec![0; extents.len()];
    let padded = at.pad(tensor, filler(at.element(tensor)?), &low, &high, &none)?;
    let sliced = at.slice(padded, &starts, &limits, &strides)?;
    at.reverse(sliced, &reversed)
}

/// Gathers positions from fields in the dimensions without a slice; the others are full slices.
fn gather<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    subscripts: &[Subscript<'c, 'a>],
    runs: &[Option<Run>],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
    let extents = at.extents(tensor)?;
    let mut addresses = Vec::new();
    let mut gathered = Vec::new();
    let mut sizes = extents.clone();
    for (dimension, (subscript, run)) in subscripts.iter().zip(runs).enumerate() {
        if run.is_none() {
            addresses.push(&subscript.field);
            gathered.push(dimension as i64);
            if let Some(size) = sizes.get_mut(dimension) {
                *size = 1;
            }
        }
    }
    let outer = union(addresses.iter().copied());
    let mut labels = outer.clone();
    let indices = stack(&addresses, &outer, domain, at)?;
    let mut result = shape(&outer, domain);
    let mut offsets = Vec::new();
    for (run, extent) in runs.iter().zip(&extents) {
        if let Some(run) = run {
            offsets.push(result.len() as i64);
            result.push(*extent);
            labels.extend(&run.indices);
        }
    }
    let numbers = format!(
        "#stablehlo.gather<offset_dims = {offsets:?}, collapsed_slice_dims = {gathered:?}, start_index_map = \
         {gathered:?}, index_vector_dim = {}>",
        outer.len()
    );
    let context = at.at.context;
    let value = at.op(
        "gather",
        &[tensor, indices],
        &[
            ("dimension_numbers", Attribute::parse(context, &numbers).ok_or(Error::OperationBuild)?),
            ("slice_sizes", attributes::i64s(context, &sizes)),
            ("indices_are_sorted", attributes::boolean(context, false)),
        ],
        types::tensor(&result, at.element(tensor)?),
    )?;
    let value = at.reshape(value, &shape(&labels, domain))?;
    Field::labelled(value, &labels, at)
}

/// Stacks fields over the same indices along a new last dimension.
pub(crate) fn stack<'c: 'a, 'a>(
    fields: &[&Field<'c, 'a>],
    indices: &[usize],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let mut shape = shape(indices, domain);
    shape.push(1);
    let columns = fields
        .iter()
        .map(|field| {
            let value = field.over(indices, domain, at)?;
            at.reshape(value, &shape)
        })
        .collect::<Result<Vec<_>, Error>>()?;
    at.concatenate(&columns, indices.len())
}
