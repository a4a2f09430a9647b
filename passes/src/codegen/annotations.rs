// SPDX-License-Identifier: Apache-2.0
//! `skript-annotate-loops`: keeps LLVM from unrolling or vectorizing loops where that is slow or miscompiles, and interleaves
//! long iterations.
//!
//! LLVM unrolls short loops, so a long chain of small tensors becomes one block, and several LLVM passes are quadratic in
//! the length of a block. Loops are therefore not unrolled in functions with many loops, in outlined functions, or if their
//! bodies are large, such as those of kernels, whose tiles are unrolled already.
//!
//! The loop vectorizer of LLVM 22 miscompiles a division with loop-invariant operands in a branch: it computes the quotient only
//! if the first lane takes the branch, so the quotient of other lanes may be undefined. Loops with divisions in branches are
//! therefore not vectorized. LLVM speculates divisions by constants, so they are never in a branch.
//!
//! The loop vectorizer takes exponential time for a long function that is called with the same operands in each iteration, such
//! as the cosine of an element that a loop reads and writes in order. Loops with such calls are not vectorized either.
//!
//! A long iteration, such as the evaluation of a polynomial, is latency-bound, but LLVM interleaves only short iterations.
//! Loops of independent long iterations are annotated to compute several vectors in an iteration.

use crate::ir::llvm::{ConditionalBranch, Division};
use crate::ir::{self, ValueKey, attribute_names, attributes, ops};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::{Pass, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-annotate-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-annotate-loops",
    summary: "keep LLVM from unrolling or vectorizing loops where that is slow or miscompiles; interleave long iterations",
    anchor: Some(ops::builtin::MODULE),
    options: &[PassOption {
        name: "interleave",
        summary: "interleave count of loops with long iterations; 1: LLVM decides",
        default: "1",
    }],
    run: |root, options, _| {
        annotate_loops(root, options.get("interleave")?);
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of loops of a function whose loops LLVM may unroll.
const MAX_UNROLLED: usize = 64;

/// Maximum number of operations of a loop that LLVM may unroll.
const MAX_UNROLLED_SIZE: usize = 40;

/// Whether a loop with these blocks has too many operations to be unrolled.
fn is_large(blocks: &[BlockRef]) -> bool {
    let operations = blocks.iter().map(|block| ir::operations(*block).len());
    operations.sum::<usize>() > MAX_UNROLLED_SIZE
}

/// Minimum number of operations of a function that makes the vectorizer slow if its operands are uniform.
const MIN_UNIFORM_SIZE: usize = 32;

/// Minimum number of operations of a long iteration; LLVM decides how to interleave shorter iterations.
const MIN_INTERLEAVED_SIZE: usize = 12;

/// Minimum number of iterations of an interleaved loop: a shorter loop does not fill the interleaved vectors.
const MIN_INTERLEAVED: i64 = 64;

/// The number of operations of each function of a module.
struct Sizes(HashMap<String, usize>);

impl Sizes {
    fn new(module: OperationRef) -> Self {
        let functions = ir::children(module).into_iter();
        let size = |op: OperationRef| Some((ir::func::symbol(op)?, ir::children(op).len()));
        Sizes(functions.filter_map(size).collect())
    }

    /// Returns the number of operations of an iteration and of the functions that it calls; `None` if it calls a function
    /// without a body, or computes vectors.
    fn of_step(&self, step: BlockRef) -> Option<usize> {
        let size = |op: OperationRef| match ir::name(op).as_str() {
            ops::llvm::CALL => self.0.get(&ir::func::callee(op)?).copied().filter(|size| *size > 0),
            ops::llvm::MLIR_CONSTANT | ops::llvm::GETELEMENTPTR => Some(0),
            _ if op.results().any(|result| result.r#type().is_vector()) => None,
            _ => Some(1),
        };
        ir::operations(step).into_iter().map(size).sum()
    }

    /// Whether a loop with these blocks calls a long function with operands that are loop-invariant, or are elements at
    /// loop-invariant positions.
    fn has_uniform_calls(&self, blocks: &[BlockRef]) -> bool {
        let is_long = |op: &OperationRef| {
            let callee = ir::func::callee(*op).and_then(|callee| self.0.get(&callee).copied());
            ir::name(*op) == ops::llvm::CALL && callee.is_some_and(|size| size >= MIN_UNIFORM_SIZE)
        };
        let calls: Vec<_> = blocks.iter().flat_map(|block| ir::operations(*block)).filter(is_long).collect();
        let inside: HashSet<usize> = blocks.iter().map(key).collect();
        let mut known = Invariance { inside: &inside, follows_loads: true, known: HashMap::new() };
        calls.iter().any(|call| call.operands().all(|operand| known.holds(operand)))
    }

    /// Whether a loop with these blocks, header first, has enough long iterations, and carries no value except the counter.
    fn has_long_steps(&self, blocks: &[BlockRef]) -> bool {
        let &[header, step] = blocks else {
            return false;
        };
        header.argument_count() == 1
            && self.of_step(step).is_some_and(|size| size >= MIN_INTERLEAVED_SIZE)
            && bound(header).is_none_or(|bound| bound >= MIN_INTERLEAVED)
    }
}

/// Returns the constant that the counter of a loop is compared with.
fn bound(header: BlockRef) -> Option<i64> {
    let branch = ConditionalBranch::cast(header.terminator()?)?;
    let comparison = ir::defining_op(branch.condition().ok()?)?;
    let bound = ir::defining_op(ir::operand_at(comparison, 1)?)?;
    ir::typed::integer(bound, "value")
}

/// Annotates the loops of a module in the LLVM dialect.
fn annotate_loops(module: OperationRef, interleave: i64) {
    let sizes = Sizes::new(module);
    let interleaved = format!("interleave = <count = {interleave} : i32>");
    for function in ir::children(module) {
        let blocks = ir::blocks(function);
        let loops = loops(&blocks);
        let has_many = loops.len() > MAX_UNROLLED || function.has_attribute(attribute_names::PART);
        for (body, latch) in loops {
            let is_scalar = divides_in_branches(body) || sizes.has_uniform_calls(body);
            let is_long = interleave > 1 && !is_scalar && sizes.has_long_steps(body);
            let hints = [
                (is_scalar, "vectorize = <disable = true>"),
                (is_long, interleaved.as_str()),
                (has_many || is_large(body), "unroll = <disable = true>"),
            ];
            let hints: Vec<&str> =
                hints.into_iter().filter_map(|(holds, hint)| holds.then_some(hint)).collect();
            if !hints.is_empty() {
                let annotation = attributes::loop_annotation(ir::context::of(function), &hints);
                ir::set_attribute(latch, "loop_annotation", annotation);
            }
        }
    }
}

/// Returns the loops of a function: their blocks, header first, and the branch back to the header.
fn loops<'b, 'c, 'a>(blocks: &'b [BlockRef<'c, 'a>]) -> Vec<(&'b [BlockRef<'c, 'a>], OperationRef<'c, 'a>)> {
    let positions: HashMap<usize, usize> =
        blocks.iter().enumerate().map(|(n, block)| (key(block), n)).collect();
    let loop_ending_at = |n: usize, block: &BlockRef<'c, 'a>| {
        let latch = block.terminator().filter(|op| ir::name(*op) == ops::llvm::BR)?;
        let header = *positions.get(&key(&latch.successor(0).ok()?))?;
        (header <= n).then_some((blocks.get(header..=n)?, latch))
    };
    blocks.iter().enumerate().filter_map(|(n, block)| loop_ending_at(n, block)).collect()
}

fn key(block: &BlockRef) -> usize {
    block.to_raw().ptr as usize
}

/// Whether a loop with these blocks, header first, has a division by a non-constant in a branch whose condition is not
/// loop-invariant.
fn divides_in_branches(blocks: &[BlockRef]) -> bool {
    let Some((_, steps)) = blocks.split_first() else {
        return false;
    };
    let mut branches = steps.iter().skip(1).flat_map(|b| ir::operations(*b));
    if !branches.any(divides) {
        return false;
    }
    let inside: HashSet<usize> = blocks.iter().map(key).collect();
    let mut known = Invariance { inside: &inside, follows_loads: false, known: HashMap::new() };
    steps.iter().any(|block| {
        let choice = block.terminator().and_then(ConditionalBranch::cast);
        let flag = choice.and_then(|branch| branch.condition().ok());
        flag.is_some_and(|flag| !known.holds(flag))
    })
}

/// Whether an operation divides by a non-constant.
fn divides(op: OperationRef) -> bool {
    let is_constant = |value| ir::defined_by(value, ops::llvm::MLIR_CONSTANT).is_some();
    Division::cast(op).is_some_and(|division| !division.divisor().is_ok_and(is_constant))
}

/// The values that are invariant in a loop: they are defined outside, or computed from invariant values.
struct Invariance<'b> {
    /// The blocks of the loop.
    inside: &'b HashSet<usize>,
    /// Whether elements at invariant positions count as invariant, although the loop may write them.
    follows_loads: bool,
    known: HashMap<ValueKey, bool>,
}

impl Invariance<'_> {
    fn holds(&mut self, value: Value) -> bool {
        let Some(op) = ir::defining_op(value) else {
            // A block argument of the loop is its counter or another loop-carried value.
            return ir::argument(value)
                .is_some_and(|argument| !self.inside.contains(&key(&argument.owner())));
        };
        if !op.block().is_some_and(|block| self.inside.contains(&key(&block))) {
            return true;
        }
        if let Some(known) = self.known.get(&ValueKey::of(value)) {
            return *known;
        }
        let name = ir::name(op);
        let is_load = name == ops::llvm::LOAD;
        let reads =
            [ops::llvm::CALL, ops::llvm::ALLOCA].contains(&name.as_str()) || is_load && !self.follows_loads;
        let invariant = !reads && op.region_count() == 0 && op.operands().all(|o| self.holds(o));
        self.known.insert(ValueKey::of(value), invariant);
        invariant
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::Module;

    /// Returns the annotations of the only loop, `y[i] = flag ? x % divisor : x`. The flag may be loop-invariant.
    fn forbidden(flag: &str, divisor: &str) -> Vec<&'static str> {
        let text = format!(
            "llvm.func @f(%x: !llvm.ptr, %n: i64, %k: i64, %around: i1) {{
              %zero = llvm.mlir.constant(0 : i64) : i64
              %one = llvm.mlir.constant(1 : i64) : i64
              %seven = llvm.mlir.constant(7 : i64) : i64
              llvm.br ^head(%zero : i64)
            ^head(%i: i64):
              %more = llvm.icmp \"slt\" %i, %n : i64
              llvm.cond_br %more, ^step, ^end
            ^step:
              %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
              %v = llvm.load %at : !llvm.ptr -> i64
              %own = llvm.icmp \"sgt\" %v, %zero : i64
              %whole = llvm.icmp \"sgt\" %k, %one : i64
              llvm.cond_br {flag}, ^then, ^next(%v : i64)
            ^then:
              %r = llvm.srem %n, {divisor} : i64
              llvm.br ^next(%r : i64)
            ^next(%w: i64):
              llvm.store %w, %at : i64, !llvm.ptr
              %j = llvm.add %i, %one : i64
              llvm.br ^head(%j : i64)
            ^end:
              llvm.return
            }}"
        );
        let context = ir::new_context();
        let module = Module::parse(&context, &text).unwrap();
        annotate_loops(module.as_operation(), 1);
        let printed = module.as_operation().to_string();
        ["vectorize", "unroll"].into_iter().filter(|hint| printed.contains(hint)).collect()
    }

    #[test]
    fn a_loop_with_a_division_in_a_branch_is_not_vectorized() {
        assert_eq!(forbidden("%own", "%k"), ["vectorize"]);
    }

    #[test]
    fn divisions_under_invariant_conditions_and_by_constants_are_vectorized() {
        assert!(forbidden("%whole", "%k").is_empty());
        assert!(forbidden("%around", "%k").is_empty());
        assert!(forbidden("%own", "%seven").is_empty());
    }
}
