// SPDX-License-Identifier: Apache-2.0
//! `skript-winograd`: computes windows of 3 × 3 with unit strides by Winograd's minimal filtering.
//!
//! A tile of 2 × 2 or 4 × 4 sums is `Aᵀ[(G g Gᵀ) ∘ (Bᵀ d B)]A` for the weights `g` and the elements `d` that the sums depend on. It takes
//! 2.25 or 4 times fewer multiplications. The transformed weights depend only on variables, so they are computed once. A block of rows of
//! tiles, which fits the cache, is transformed, multiplied by a kernel for matrix products, and transformed back. The last step also
//! computes the elementwise operations around the reduction. A model of cycles selects the tile, or keeps the reduction. If a condition
//! that is computed from the weights determines whether a predicate is needed, the original reduction is kept for the other case.
//!
//! Sums are rounded differently, and an infinity or NaN of the input affects all sums of its tile: `docs/numerics.md` has the error bounds.
//!
//! Requires: reductions over buffers of f32 with static extents; weights that are variables without updates, or computed from such
//! variables; and channels that fill vectors.

mod emit;
mod matrices;
mod shape;
mod transform;
mod whole;
mod window;

use super::body::{Body, Combine, Operand, Step};
use super::buffer_uses::sort_in_block;
use super::caller::branch_before;
use super::elementwise::Merged;
use super::kernel::kernel;
use super::nest::{Address, Loop, LoopKind, Nest};
use super::packing::Packing;
use super::plan::Plan;
use super::reading::{Reduction, read_apart};
use super::signature::Signature;
use super::target::{Target, joined};
use super::tiling::Steps;
use super::vectorize::{Functions, Prepared};
use crate::ir::effects::Effects;
use crate::ir::func::{self, call_before};
use crate::ir::operator::Operator;
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, erase, location, ops};
use emit::{Source, flat};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Location, Operation, Type, Value, ValueLike};
use shape::Shape;
use skript_dialect::{Dialect, Pass, PassError, PassOption, melior};
use skript_semantics::Scalar;
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
            return Err(PassError::from(format!("option tile is {tile}, but must be 0, 2 or 4")));
        }
        let target = Target::from_options(options)?;
        rewrite(root, target, tile, rewriter.context())
    },
};

const OPTIONS: [PassOption; 14] = joined(
    Target::OPTIONS,
    [PassOption {
        name: "tile",
        summary: "extent of a tile of sums, 2 or 4; 0: select the fastest tile, or do not use tiles",
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
    let mut functions = Functions::new(root);
    let constants = Prepared::new(root);
    for op in named(root, ops::linalg::GENERIC) {
        if let Some(tiled) = Tiled::new(op, target, tile, &constants, &mut effects) {
            tiled.apply(&mut functions, context)?;
        }
    }
    functions.append(root);
    Ok(())
}

/// A reduction in tiles.
struct Tiled<'c, 'a> {
    op: OperationRef<'c, 'a>,
    merged: Merged<'c, 'a>,
    /// The condition under which no point needs a predicate.
    condition: Option<Value<'c, 'a>>,
    shape: Shape,
    product: Product<'c>,
    /// The operation before which the transformed weights are computed.
    anchor: OperationRef<'c, 'a>,
}

impl<'c: 'a, 'a> Tiled<'c, 'a> {
    fn new(
        op: OperationRef<'c, 'a>,
        target: Target,
        tile: i64,
        constants: &Prepared<'c, 'a>,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<Self> {
        let reduction = read_apart(op)?;
        let mut bare = reduction.clone();
        open(&mut bare);
        Window::from_reduction(&bare)?;
        let mut merged = Merged::around(op, reduction, effects);
        let condition = open(&mut merged.reduction);
        merged.reduction.fix_offsets()?;
        let reduction = &merged.reduction;
        let window = || Window::from_reduction(reduction);
        let shape = Shape::best(window, &reduction.nest, target, tile)?;
        let weights = *reduction.arrays.get(shape.window.filter)?;
        let anchor = constants.anchor(weights, op)?;
        let product = Product::new(&shape, target, op.location(), ir::context::of(op))?;
        Some(Tiled { op, condition, shape, product, anchor, merged })
    }

    fn apply(self, functions: &mut Functions<'c>, context: &'c melior::Context) -> Result<(), PassError> {
        let location = self.location(context);
        let (reduction, shape, product) = (&self.merged.reduction, &self.shape, self.product);
        let (nest, body, signature) = (&reduction.nest, &reduction.body, &reduction.signature);
        let source = Source { shape, nest, body, signature, location };
        let array = |n: usize| reduction.arrays.get(n).copied().ok_or("a reduction without an array");
        let call = |anchor: OperationRef<'c, 'a>, name: &str, arguments: &[Value<'c, 'a>]| {
            call_before(anchor, name, arguments, location)
        };
        let before = Builder::at(self.anchor);
        let filter = functions.add("winograd_filter", source.filter(&product.packing));
        let weights = before.alloc(flat(context, product.weights), &[]);
        let range = [before.idx(0), before.idx(product.packing.steps())];
        let arguments = [&[array(shape.window.filter)?, weights][..], &range].concat();
        call(self.anchor, &filter, &arguments)?;

        let last = self.merged.last;
        let at = Builder::at(last);
        let inputs = at.alloc(flat(context, shape.inputs()), &[]);
        let products = at.alloc(flat(context, shape.products()), &[]);
        let names = [
            functions.add("winograd_input", source.input()),
            functions.add("kernel", product.function),
            functions.add("winograd_output", source.output()),
        ];
        let whole = functions.add("winograd", source.whole(&names, product.steps, product.weights));
        let mut arguments = vec![array(shape.window.image)?];
        for position in source.output_arrays() {
            arguments.push(array(position)?);
        }
        arguments.extend(&reduction.captured);
        arguments.extend([weights, inputs, products]);
        match self.condition {
            None => call(last, &whole, &arguments)?,
            Some(condition) => {
                let [then, otherwise] = branch_before(last, condition, location);
                call(then, &whole, &arguments)?;
                keep(&self.merged, condition, otherwise, context)?;
            }
        }
        self.merged.others.iter().copied().for_each(erase);
        erase(last);
        Ok(())
    }

    /// The fused location of the computed operations.
    fn location(&self, context: &'c melior::Context) -> Location<'c> {
        let others = self.merged.others.iter().map(|op| op.location());
        let all: Vec<Location> =
            [self.op.location()].into_iter().chain(others).chain([self.merged.last.location()]).collect();
        let (outputs, window) = (self.shape.filtering.outputs, matrices::WINDOW);
        let remark = format!("Winograd F({outputs}, {window})");
        location::fused(context, &all, Some(&remark))
    }
}

/// Copies the original operations to the branch where the condition is false.
fn keep<'c: 'a, 'a>(
    merged: &Merged<'c, 'a>,
    condition: Value<'c, 'a>,
    end: OperationRef<'c, 'a>,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    let to = Builder::before(context, end)?;
    let mut copier = Copier::new();
    let no = to.constant(Scalar::Bool(false), condition.r#type())?;
    copier.set(condition, no);
    let mut all = merged.others.clone();
    all.push(merged.last);
    sort_in_block(&mut all);
    for op in all {
        copier.copy(op, &to, &mut |_, _, _| Ok(false))?;
    }
    Ok(())
}

/// Replaces the payload by the payload without a predicate. Returns the condition under which no point needs the predicate.
fn open<'c, 'a>(reduction: &mut Reduction<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (body, _, condition) = reduction.body.cases()?;
    let condition = *reduction.captured.get(condition)?;
    reduction.body = body;
    reduction.body.skips = None;
    Some(condition)
}

/// The kernel that multiplies transformed elements: a matrix product for each position in a tile.
struct Product<'c> {
    function: Operation<'c>,
    packing: Packing<'c>,
    /// Number of elements of the transformed weights.
    weights: i64,
    steps: Option<i64>,
}

impl<'c> Product<'c> {
    fn new(shape: &Shape, target: Target, location: Location<'c>, context: &'c Context) -> Option<Self> {
        let (products, tiles) = (shape.filtering.products(), shape.tiles());
        let (channels, filters) = (shape.channels, shape.filters);
        let new_loop = |extent: i64, kind: LoopKind| Loop { extent, kind, dimension: None, source: None };
        let address = |strides: [i64; 4]| Address::with_strides(strides.to_vec());
        let mut nest = Nest {
            loops: vec![
                new_loop(products, LoopKind::Parallel),
                new_loop(tiles, LoopKind::Parallel),
                new_loop(filters, LoopKind::Parallel),
                new_loop(channels, LoopKind::Reduction),
            ],
            operands: vec![
                address([tiles * channels, channels, 0, 1]),
                address([filters * channels, 0, channels, 1]),
                address([tiles * filters, filters, 1, 0]),
            ],
            output: 2,
            constants: vec![1],
            ..Nest::default()
        };
        let spans = [shape.inputs(), products * channels * filters, shape.products()];
        let mut signature = Signature {
            arrays: spans.iter().map(|span| flat(context, *span)).collect(),
            elements: vec![Type::float32(context); spans.len()],
            windows: spans.iter().map(|span| (0, *span)).collect(),
        };
        let plan = Plan::new(&nest, target.vectors(32), &[]).filter(|plan| plan.packed == Some(1))?;
        let packing = Packing::new(&nest, &plan, &signature)?;
        packing.apply(&mut nest, &mut signature);
        let (_, weights) = *signature.windows.get(1)?;
        let steps = match plan.steps(&nest) {
            None => None,
            Some(Steps::Static(steps)) => Some(steps),
            Some(Steps::Dynamic { .. }) => return None,
        };
        let function = kernel(&nest, &plan, &sum_of_products(context)?, &signature, location);
        Some(Product { function, packing, weights, steps })
    }
}

/// The payload of a matrix product.
fn sum_of_products(context: &Context) -> Option<Body<'_>> {
    let element = Type::float32(context);
    let product = Step::Apply {
        operator: Operator::fast(context, ops::arith::MULF, "contract"),
        operands: vec![Operand::Input(0), Operand::Input(1)],
        operand_elements: vec![element; 2],
        element,
    };
    let combine =
        Combine::from_operator(Operator::fast(context, ops::arith::ADDF, "reassoc,contract"), element)?;
    Some(Body {
        steps: vec![Step::Constant(combine.identity), product],
        start: Operand::Step(0),
        finish: Operand::Reduced,
        accumulator: element,
        value: Operand::Step(1),
        predicate: None,
        skips: None,
        combine,
        captures: Vec::new(),
    })
}
