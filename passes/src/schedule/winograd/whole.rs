// SPDX-License-Identifier: Apache-2.0
//! The function that computes a window in tiles, block after block.

use super::text::{Source, flat};
use crate::ir::ops;

impl Source<'_> {
    /// Calls the functions that transform the input, multiply, and transform the products, for each block. `steps` are those of the
    /// products' function, if it has any; `weights` the elements of the transformed weights.
    pub(super) fn whole(&self, names: &[String; 3], steps: Option<i64>, weights: i64) -> String {
        let shape = self.shape;
        let [input, product, output] = names;
        let kind = |n: usize| self.signature.arrays.get(n).cloned().unwrap_or_default();
        let image = kind(shape.window.image);
        let (inputs, products) = (flat(shape.inputs()), flat(shape.products()));
        let mut outputs = Vec::new();
        for position in self.output_arrays() {
            outputs.push((format!("%m{position}"), kind(position)));
        }
        for (position, capture) in self.body.captures.iter().enumerate() {
            outputs.push((format!("%x{position}"), capture.clone()));
        }
        let list = |separator: &str| {
            let all = outputs.iter().map(|(name, kind)| match separator {
                "name" => name.clone(),
                "type" => kind.clone(),
                _ => format!("{name}: {kind}"),
            });
            all.collect::<Vec<_>>().join(", ")
        };
        let (names, types, arguments) = (list("name"), list("type"), list("both"));
        let vectors = |channels: i64, lanes: i64| shape.rows * (channels / lanes);
        let input_steps = vectors(shape.channels, shape.input_lanes);
        let output_steps = vectors(shape.filters, shape.output_lanes);
        let (constant, call) = (ops::arith::CONSTANT, ops::func::CALL);
        let multiply = match steps {
            None => {
                format!("{call} @{product}(%v, %u, %p) : ({inputs}, {}, {products}) -> ()", flat(weights))
            }
            Some(_) => format!(
                "{call} @{product}(%v, %u, %p, %zero, %steps) : ({inputs}, {}, {products}, index, index) -> ()",
                flat(weights)
            ),
        };
        format!(
            "func.func private @KERNEL(%image: {image}, {arguments}, %u: {}, %v: {inputs}, %p: {products}) attributes {{llvm.linkage = #llvm.linkage<internal>}} {{\n  \
             %zero = {constant} 0 : index\n  %all = {constant} {} : index\n  %rows = {constant} {} : index\n  \
             %inputs = {constant} {input_steps} : index\n  %steps = {constant} {} : index\n  %outputs = {constant} {output_steps} : index\n  \
             scf.for %first = %zero to %all step %rows {{\n    \
             {call} @{input}(%image, %v, %first, %zero, %inputs) : ({image}, {inputs}, index, index, index) -> ()\n    \
             {multiply}\n    \
             {call} @{output}({names}, %p, %first, %zero, %outputs) : ({types}, {products}, index, index, index) -> ()\n  \
             }}\n  return\n}}\n",
            flat(weights),
            shape.all_rows,
            shape.rows,
            steps.unwrap_or(0),
        )
    }
}
