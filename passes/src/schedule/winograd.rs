// SPDX-License-Identifier: Apache-2.0
//! `skript-winograd`: computes windows of 3 × 3 with unit strides by Winograd's minimal filtering.
//!
//! A tile of 2 × 2 or 4 × 4 sums is `Aᵀ[(G g Gᵀ) ∘ (Bᵀ d B)]A` for the weights `g` and the elements `d` that the sums depend on: 2.25 or
//! 4 times fewer multiplications. The transformed weights depend on variables alone, so they are computed once. A block of rows of
//! tiles, which stays in the cache, is transformed, multiplied by a kernel as other products are, and transformed back; this step
//! computes the elementwise operations around the reduction as well. A model of cycles selects the tile, or leaves the reduction.
//! Where a condition, computed from the weights, decides whether a predicate is needed, the reduction stays for the other case.
//!
//! Sums round differently, and an infinity or NaN of the input reaches all sums of its tile: `docs/numerics.md` has the bounds.
//!
//! Requires: reductions over buffers of f32 with static extents, weights that are variables without updates or computed from such, and
//! channels that fill vectors.

mod matrices;
mod shape;
mod text;
mod transform;
mod whole;
mod window;

use super::body::{Body, Combine, Operand, Step};
use super::caller::{array_before, branch_before, index_before};
use super::elementwise::Merged;
use super::kernel::kernel;
use super::nest::{Address, Loop, LoopKind, Nest};
use super::packing::Packing;
use super::plan::Plan;
use super::reading::{Reduction, read};
use super::signature::Signature;
use super::target::{Target, joined};
use super::tiling::Steps;
use super::vectorize::{Functions, Prepared};
use crate::ir::effects::Effects;
use crate::ir::func::{self, call_before};
use crate::ir::memref::may_overlap;
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, append_functions, erase, location, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Location, Value, ValueLike};
use shape::Shape;
use skript_dialect::{Dialect, Pass, PassError, PassOption, melior};
use skript_semantics::Scalar;
use text::{Source, flat};
use window::Window;

/// The pass `skript-winograd`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-winograd",
    summary: "compute windows of 3 × 3 by Winograd's minimal filtering",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[
        Dialect::Arith,
        Dialect::Func,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Ub,
        Dialect::Vector,
    ],
    options: &OPTIONS,
    run: |root, options, rewriter| {
        let tile: i64 = options.get("tile")?;
        if ![0, 2, 4].contains(&tile) {
            return Err(PassError::from(format!("option tile is {tile}, which is none of 0, 2 and 4")));
        }
        let target = Target::of(options)?;
        rewrite(root, target, tile, rewriter.context())
    },
};

const OPTIONS: [PassOption; 14] = joined(
    Target::OPTIONS,
    [PassOption {
        name: "tile",
        summary: "extent of a tile of sums, 2 or 4; 0 selects the fastest, or none",
        default: "0",
    }],
);

fn rewrite<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    target: Target,
    tile: i64,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    let mut effects = Effects::new(func::functions(root));
    let mut functions = Functions::of(root);
    let constants = Prepared::of(root);
    for op in named(root, ops::linalg::GENERIC) {
        if let Some(tiled) = Tiled::of(op, target, tile, &constants, &mut effects) {
            tiled.apply(&mut functions, context)?;
        }
    }
    append_functions(root, &functions.text())?;
    Ok(())
}

/// A reduction in tiles.
struct Tiled<'c, 'a> {
    op: OperationRef<'c, 'a>,
    merged: Merged<'c, 'a>,
    /// The condition that no point needs a predicate.
    condition: Option<Value<'c, 'a>>,
    shape: Shape,
    product: Product,
    /// What the transformed weights are computed before.
    anchor: OperationRef<'c, 'a>,
}

impl<'c: 'a, 'a> Tiled<'c, 'a> {
    fn of(
        op: OperationRef<'c, 'a>,
        target: Target,
        tile: i64,
        constants: &Prepared<'c, 'a>,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<Self> {
        let reduction = read(op)?;
        let output = reduction.output()?;
        let inputs = reduction.arrays.get(..reduction.nest.output)?;
        if inputs.iter().any(|input| may_overlap(*input, output)) {
            return None;
        }
        let mut bare = reduction.clone();
        open(&mut bare);
        Window::of(&bare)?;
        let mut merged = Merged::of(op, reduction, effects);
        let condition = open(&mut merged.reduction);
        merged.reduction.fix_offsets()?;
        let own = &merged.reduction;
        let window = || Window::of(own);
        let shape = Shape::best(window, &own.nest, target, tile)?;
        let weights = *own.arrays.get(shape.window.filter)?;
        let anchor = constants.anchor(weights, op)?;
        let product = Product::of(&shape, target)?;
        Some(Tiled { op, condition, shape, product, anchor, merged })
    }

    fn apply(&self, functions: &mut Functions, context: &'c melior::Context) -> Result<(), PassError> {
        let (own, shape, product) = (&self.merged.reduction, &self.shape, &self.product);
        let source = Source { shape, nest: &own.nest, body: &own.body, signature: &own.signature };
        let location = self.location(context);
        let array = |n: usize| own.arrays.get(n).copied().ok_or("a reduction without an array");
        let call = |anchor: OperationRef<'c, 'a>, name: &str, arguments: &[Value<'c, 'a>]| {
            call_before(anchor, name, arguments, location)
        };
        let filter = functions.name("winograd_filter", &source.filter(&product.packing));
        let weights = array_before(self.anchor, &flat(product.weights), None)?;
        let range = [index_before(self.anchor, 0)?, index_before(self.anchor, product.packing.steps())?];
        let arguments = [&[array(shape.window.filter)?, weights][..], &range].concat();
        call(self.anchor, &filter, &arguments)?;

        let last = self.merged.last;
        let inputs = array_before(last, &flat(shape.inputs()), None)?;
        let products = array_before(last, &flat(shape.products()), None)?;
        let names = [
            functions.name("winograd_input", &source.input()),
            functions.name("kernel", &product.text),
            functions.name("winograd_output", &source.output()),
        ];
        let whole = functions.name("winograd", &source.whole(&names, product.steps, product.weights));
        let mut arguments = vec![array(shape.window.image)?];
        for position in source.output_arrays() {
            arguments.push(array(position)?);
        }
        arguments.extend(&own.captured);
        arguments.extend([weights, inputs, products]);
        match self.condition {
            None => call(last, &whole, &arguments)?,
            Some(condition) => {
                let [then, otherwise] = branch_before(last, condition, location)?;
                call(then, &whole, &arguments)?;
                self.keep(condition, otherwise, context)?;
            }
        }
        self.merged.others.iter().copied().for_each(erase);
        erase(last);
        Ok(())
    }

    /// Copies the operations to where the condition is false.
    fn keep(
        &self,
        condition: Value<'c, 'a>,
        end: OperationRef<'c, 'a>,
        context: &'c melior::Context,
    ) -> Result<(), PassError> {
        let to = Builder::before(context, end)?;
        let mut copier = Copier::new();
        let no = to.constant(Scalar::Bool(false), condition.r#type())?;
        copier.set(condition, no);
        let mut all = self.merged.others.clone();
        all.push(self.merged.last);
        all.sort_by(|a, b| match ir::is_before(*a, *b) {
            true => std::cmp::Ordering::Less,
            false if a == b => std::cmp::Ordering::Equal,
            false => std::cmp::Ordering::Greater,
        });
        for op in all {
            copier.copy(op, &to, &mut |_, _, _| Ok(false))?;
        }
        Ok(())
    }

    /// That of the operations which are computed.
    fn location(&self, context: &'c melior::Context) -> Location<'c> {
        let others = self.merged.others.iter().map(|op| op.location());
        let all: Vec<Location> =
            [self.op.location()].into_iter().chain(others).chain([self.merged.last.location()]).collect();
        let (outputs, window) = (self.shape.filtering.outputs, matrices::WINDOW);
        let remark = format!("Winograd F({outputs}, {window})");
        location::fused(context, &all, Some(&remark))
    }
}

/// Makes the payload that of points that need no predicate; returns the condition for that.
fn open<'c, 'a>(reduction: &mut Reduction<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (body, _, condition) = reduction.body.cases()?;
    let condition = *reduction.captured.get(condition)?;
    reduction.body = body;
    reduction.body.skips = None;
    Some(condition)
}

/// The products of transformed elements: for each position in a tile, a matrix product.
struct Product {
    text: String,
    packing: Packing,
    /// Elements of the transformed weights.
    weights: i64,
    steps: Option<i64>,
}

impl Product {
    fn of(shape: &Shape, target: Target) -> Option<Product> {
        let (products, tiles) = (shape.filtering.products(), shape.tiles());
        let (channels, filters) = (shape.channels, shape.filters);
        let own = |extent: i64, kind: LoopKind| Loop { extent, kind, dimension: None, source: None };
        let address = |strides: [i64; 4]| Address::with_strides(strides.to_vec());
        let mut nest = Nest {
            loops: vec![
                own(products, LoopKind::Parallel),
                own(tiles, LoopKind::Parallel),
                own(filters, LoopKind::Parallel),
                own(channels, LoopKind::Reduction),
            ],
            operands: vec![
                address([tiles * channels, channels, 0, 1]),
                address([filters * channels, 0, channels, 1]),
                address([tiles * filters, filters, 1, 0]),
            ],
            output: 2,
            constants: vec![1],
            repeats: Vec::new(),
            skipped: Vec::new(),
            tested: Vec::new(),
            keeps_order: false,
            dot: None,
        };
        let spans = [shape.inputs(), products * channels * filters, shape.products()];
        let mut signature = Signature {
            arrays: spans.iter().map(|span| flat(*span)).collect(),
            elements: vec!["f32".to_owned(); spans.len()],
            windows: spans.iter().map(|span| (0, *span)).collect(),
        };
        let plan = Plan::of(&nest, target.vectors(32), &[]).filter(|plan| plan.packed == Some(1))?;
        let packing = Packing::of(&nest, &plan, &signature)?;
        packing.apply(&mut nest, &mut signature);
        let (_, weights) = *signature.windows.get(1)?;
        let steps = match plan.steps(&nest) {
            None => None,
            Some(Steps::Static(steps)) => Some(steps),
            Some(Steps::Dynamic { .. }) => return None,
        };
        let text = kernel("KERNEL", &nest, &plan, &sum_of_products()?, &signature);
        Some(Product { text, packing, weights, steps })
    }
}

/// The payload of a matrix product.
fn sum_of_products() -> Option<Body> {
    let element = "f32".to_owned();
    let product = Step::Apply {
        name: ops::arith::MULF.to_owned(),
        attributes: "fastmath = #arith.fastmath<contract>".to_owned(),
        operands: vec![Operand::Input(0), Operand::Input(1)],
        operand_elements: vec![element.clone(), element.clone()],
        element: element.clone(),
    };
    let zero = Step::Constant { attribute: "0.0 : f32".to_owned(), element: element.clone() };
    let fast = "fastmath = #arith.fastmath<reassoc,contract>";
    Some(Body {
        steps: vec![zero, product],
        start: Operand::Step(0),
        finish: Operand::Reduced,
        accumulator: element.clone(),
        value: Operand::Step(1),
        predicate: None,
        skips: None,
        combine: Combine::of(ops::arith::ADDF, fast, &element)?,
        captures: Vec::new(),
    })
}
