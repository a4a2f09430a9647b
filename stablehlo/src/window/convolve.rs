// SPDX-License-Identifier: Apache-2.0
//! Exports sums of products over windows as `convolution`.
use super::{Window, Windowed, padding};
use crate::field::Field;
use crate::tensors::{Tensors, shape};
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::{attributes, types};

impl<'c: 'a, 'a> Windowed<'c, 'a> {
    /// `Σ self · kernel` over `reduced`. `None` if the indices of the factors do not have the form of a convolution.
    pub(crate) fn convolve(
        &self,
        kernel: &Field<'c, 'a>,
        reduced: &[usize],
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Option<Field<'c, 'a>> {
        let in_kernel = |i: usize| kernel.indices.contains(&i);
        let is_reduced = |i: usize| reduced.contains(&i);
        let offsets: Vec<usize> = self.windows().filter_map(|(_, w)| w.reduced).collect();
        let spatial: Vec<usize> = self.windows().map(|(_, w)| w.kept).collect();
        let (batch_at, batch) = self.indices(|i| !is_reduced(i) && !in_kernel(i));
        let (group_at, group) = self.indices(|i| !is_reduced(i) && in_kernel(i));
        let (feature_at, feature) = self.indices(|i| is_reduced(i) && in_kernel(i));
        let (alone, _) = self.indices(|i| is_reduced(i) && !in_kernel(i));
        let covered = reduced.iter().all(|i| offsets.contains(i) || feature.contains(i));
        let fits = offsets.iter().all(|i| in_kernel(*i)) && !spatial.iter().any(|i| in_kernel(*i));
        if !alone.is_empty() || !covered || !fits {
            return None;
        }
        let kernel_only: Vec<usize> = kernel
            .indices
            .iter()
            .copied()
            .filter(|i| !group.contains(i) && !feature.contains(i) && !offsets.contains(i))
            .collect();
        let count = |list: &[usize]| -> i64 { list.iter().map(|i| domain[*i]).product() };

        let mut order = batch_at;
        order.extend(group_at);
        order.extend(feature_at);
        order.extend(self.windows().map(|(d, _)| d));
        let input = at.transpose(self.value, &order);
        let mut input_shape = vec![count(&batch), count(&group) * count(&feature)];
        let extents = at.extents(self.value);
        input_shape.extend(self.windows().filter_map(|(d, _)| extents.get(d).copied()));
        let input = at.reshape(input, &input_shape);

        let mut order = group.clone();
        order.extend(&kernel_only);
        order.extend(&feature);
        order.extend(&offsets);
        let weights = kernel.over(&order, domain, at);
        let first = order.len() - offsets.len();
        let slid = self.windows().filter(|(_, w)| w.reduced.is_some());
        let backwards = slid.enumerate().filter(|(_, (_, w))| w.reversed);
        let backwards: Vec<i64> = backwards.map(|(n, _)| (first + n) as i64).collect();
        let weights = at.reverse(weights, &backwards);
        let mut weights_shape = vec![count(&group) * count(&kernel_only), count(&feature)];
        weights_shape.extend(self.windows().map(|(_, w)| w.length(domain)));
        let weights = at.reshape(weights, &weights_shape);

        let mut result = vec![count(&batch), count(&group) * count(&kernel_only)];
        result.extend(shape(&spatial, domain));
        let value = self.convolution(input, weights, count(&group), &result, at);
        let mut labels = batch;
        labels.extend(group);
        labels.extend(kernel_only);
        labels.extend(spatial);
        let value = at.reshape(value, &shape(&labels, domain));
        Some(Field::labelled(value, &labels, at))
    }

    fn convolution(
        &self,
        input: Value<'c, 'a>,
        weights: Value<'c, 'a>,
        groups: i64,
        result: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Value<'c, 'a> {
        let context = at.at.context;
        let list =
            |field: fn(&Window) -> i64| -> Vec<i64> { self.windows().map(|(_, w)| field(w)).collect() };
        let numbers: Vec<String> = (0..self.windows().count()).map(|n| n.to_string()).collect();
        let numbers = numbers.join(", ");
        let layout = format!("#stablehlo.conv<[b, f, {numbers}]x[o, i, {numbers}]->[b, f, {numbers}]>");
        let borders: Vec<i64> = self.windows().flat_map(|(_, w)| [w.low, w.high]).collect();
        let mut parameters = vec![
            ("window_strides", attributes::i64s(context, &list(|w| w.stride))),
            ("padding", padding(&borders, at)),
            ("rhs_dilation", attributes::i64s(context, &list(|w| w.dilation))),
            ("dimension_numbers", at.attribute(&layout)),
            ("feature_group_count", attributes::i64(context, groups)),
            ("batch_group_count", attributes::i64(context, 1)),
            (
                "precision_config",
                at.attribute("[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"),
            ),
        ];
        let bases = list(|w| w.base);
        if bases.iter().any(|b| *b != 1) {
            parameters.push(("lhs_dilation", attributes::i64s(context, &bases)));
        }
        let result = types::tensor(result, at.element(input));
        at.op("convolution", &[input, weights], &parameters, result)
    }
}
