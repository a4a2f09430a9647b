// SPDX-License-Identifier: Apache-2.0
//! Reads of a formula as slices, pads and gathers.
//!
//! A dimension is sliced if its subscript is `c·i + o` or a mixed-radix number of several indices, and no other
//! subscript contains these indices; it is padded if guarded points may be out of bounds. A dimension whose subscript
//! depends on one index is concatenated from slices if few slices suffice. Dimensions that share indices, or that use
//! an index twice, are combined to one dimension ([`shared_indices`](super::shared_indices)). All other dimensions are
//! gathered, at positions that are fields.
use super::constants::filler;
use super::field::{Field, union};
use super::rearrange::rearranged;
use super::shared_indices::straightened;
use super::tensors::{Tensors, shape};
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::{attributes, types};
use skript_passes::structure::{Affine, Placement, Positions};

/// A subscript: its value at each point, and its affine form, or all its values if it depends on a single index.
#[derive(Clone)]
pub(crate) struct Subscript<'c, 'a> {
    pub(crate) field: Field<'c, 'a>,
    pub form: Option<Affine>,
    pub known: Option<Positions>,
    /// Whether the subscript depends on data.
    pub(crate) is_data: bool,
}

impl<'c, 'a> Subscript<'c, 'a> {
    /// Computes the values of an affine form; `None` if its terms are not linear.
    pub(crate) fn affine(form: Affine, domain: &[i64], at: &Tensors<'c, 'a>) -> Option<Self>
    where
        'c: 'a,
    {
        let mut field = Field::scalar(at.integer(form.offset()));
        for (index, coefficient) in form.as_linear()? {
            let variable = Field { value: at.iota(domain[index]), indices: vec![index] };
            let factor = Field::scalar(at.integer(coefficient));
            let term = Field::combined("multiply", &[variable, factor], domain, at);
            field = Field::combined("add", &[field, term], domain, at);
        }
        Some(Subscript { field, form: Some(form), known: None, is_data: false })
    }

    /// An index, or `extent - 1 - index`.
    pub(crate) fn index(form: Affine, domain: &[i64], at: &Tensors<'c, 'a>) -> Self
    where
        'c: 'a,
    {
        Self::affine(form, domain, at)
            .unwrap_or_else(|| unreachable!("internal compiler error: an index has no linear form"))
    }

    /// A subscript without a known form.
    pub(crate) fn data(field: Field<'c, 'a>) -> Self {
        Subscript { field, form: None, known: None, is_data: true }
    }
}

/// The kind of the gathers, if a read needed any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gathered {
    #[default]
    Nothing,
    /// Gathers at subscripts that depend only on indices.
    Known,
    /// Gathers at subscripts that depend on data.
    Data,
}

/// A strided slice of a dimension.
pub(crate) struct Run {
    /// The indices that enumerate the slice, outermost first; empty for one position.
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

/// The elements that were read, and the kind of gather.
pub(crate) struct Read<'c, 'a> {
    pub(crate) field: Field<'c, 'a>,
    pub(crate) gathered: Gathered,
}

/// Reads the elements at the subscripts for each point of a domain. Elements out of bounds are unspecified.
pub(crate) fn read<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    subscripts: &[Subscript<'c, 'a>],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Read<'c, 'a> {
    let extents = at.extents(tensor);
    let element = at.element(tensor);
    let plain = |field| Read { field, gathered: Gathered::Nothing };
    if extents.is_empty() {
        return plain(Field::scalar(tensor));
    }
    let indices = union(subscripts.iter().map(|s| &s.field));
    if extents.contains(&0) {
        let shape = shape(&indices, domain);
        let value = at.splat(filler(element), &shape, element);
        return plain(Field { value, indices });
    }
    let mut tensor = tensor;
    let mut runs = runs(subscripts, domain);
    let within = |(run, extent): (&Option<Run>, &i64)| {
        let run = run.as_ref();
        run.is_some_and(|run| !run.leaves(*extent))
    };
    if indices.is_empty() && !runs.iter().zip(&extents).all(within) {
        let starts: Vec<_> = subscripts.iter().map(|s| s.field.value).collect();
        let one = at.dynamic_slice(tensor, &starts, &vec![1; extents.len()]);
        return plain(Field::scalar(at.reshape(one, &[])));
    }
    if runs.iter().any(Option::is_none)
        && let Some((rows, addresses)) = straightened(tensor, subscripts, domain, at)
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
            && let Some(row) = rearranged(tensor, dimension, &known.positions, at)
        {
            tensor = row;
            *run = Some(Run::whole(known));
        }
    }
    let sliced = slice(tensor, &runs, at);
    if runs.iter().all(Option::is_some) {
        let labels: Vec<usize> = runs.iter().flatten().flat_map(|r| r.indices.clone()).collect();
        let shape = shape(&labels, domain);
        let value = at.reshape(sliced, &shape);
        return plain(Field::labelled(value, &labels, at));
    }
    let field = gather(sliced, subscripts, &runs, domain, at);
    let is_data = subscripts.iter().zip(&runs).any(|(s, r)| r.is_none() && s.is_data);
    Read { field, gathered: if is_data { Gathered::Data } else { Gathered::Known } }
}

/// The slice of each dimension; `None` for a dimension that is gathered.
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

/// The strided slice that an affine subscript reads; `None` if its positions are not a strided slice.
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
    match Placement::new(&[Some(form.clone())], domain) {
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

/// Slices a tensor; dimensions without a run are read in full.
pub(crate) fn slice<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    runs: &[Option<Run>],
    at: &Tensors<'c, 'a>,
) -> Value<'c, 'a> {
    let extents = at.extents(tensor);
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
        (low[dimension], high[dimension]) = (below, beyond);
        starts.push(run.offset + below);
        limits.push(last + 1 + below);
        strides.push(run.step);
        if run.reversed {
            reversed.push(dimension as i64);
        }
    }
    let none = vec![0; extents.len()];
    let padded = at.pad(tensor, filler(at.element(tensor)), &low, &high, &none);
    let sliced = at.slice(padded, &starts, &limits, &strides);
    at.reverse(sliced, &reversed)
}

/// Gathers in the dimensions without a run, at positions that are fields; the other dimensions are read in full.
fn gather<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    subscripts: &[Subscript<'c, 'a>],
    runs: &[Option<Run>],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Field<'c, 'a> {
    let extents = at.extents(tensor);
    let mut addresses = Vec::new();
    let mut gathered = Vec::new();
    let mut sizes = extents.clone();
    for (dimension, (subscript, run)) in subscripts.iter().zip(runs).enumerate() {
        if run.is_none() {
            addresses.push(&subscript.field);
            gathered.push(dimension as i64);
            sizes[dimension] = 1;
        }
    }
    let outer = union(addresses.iter().copied());
    let mut labels = outer.clone();
    let indices = stack(&addresses, &outer, domain, at);
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
            ("dimension_numbers", at.attribute(&numbers)),
            ("slice_sizes", attributes::i64s(context, &sizes)),
            ("indices_are_sorted", attributes::boolean(context, false)),
        ],
        types::tensor(&result, at.element(tensor)),
    );
    let value = at.reshape(value, &shape(&labels, domain));
    Field::labelled(value, &labels, at)
}

/// Stacks fields over the same indices along a new last dimension.
pub(crate) fn stack<'c: 'a, 'a>(
    fields: &[&Field<'c, 'a>],
    indices: &[usize],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Value<'c, 'a> {
    let mut shape = shape(indices, domain);
    shape.push(1);
    let columns = fields.iter().map(|field| at.reshape(field.over(indices, domain, at), &shape));
    at.concatenate(&columns.collect::<Vec<_>>(), indices.len())
}
