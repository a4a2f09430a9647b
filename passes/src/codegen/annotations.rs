// SPDX-License-Identifier: Apache-2.0
//! `skript-annotate-loops`: forbids LLVM to unroll or vectorize loops where that is slow or wrong, and has it interleave long steps.
//!
//! LLVM unrolls short loops, so a long chain of small tensors becomes one block; several passes of LLVM take time that
//! grows with the square of its length. Functions with many loops, and outlined functions, are therefore not unrolled; nor are
//! loops with large bodies, such as those of kernels, whose tiles are unrolled already.
//!
//! LLVM's vectorizer (22) treats a division in a branch whose operands do not change in the loop as if the first lane
//! alone decided whether it is executed: if this lane does not take the branch, the other lanes have no quotient. Loops
//! with divisions in branches are therefore not vectorized. Division by a constant is never in a branch for LLVM.
//!
//! In a step of many operations each waits for the one before it, such as those of a polynomial. LLVM interleaves short steps only. Loops of
//! independent long steps are annotated so that it computes several vectors in a step.

use crate::error::CodegenError;
use crate::ir;
use crate::ir::ValueKey;
use crate::ir::attribute_names;
use crate::ir::llvm::{ConditionalBranch, Division};
use crate::ir::ops;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{BlockRef, OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::{Pass, PassOption};
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// The pass `skript-annotate-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-annotate-loops",
    summary: "forbid LLVM to unroll or vectorize loops where that is slow or wrong, and interleave long steps",
    anchor: Some(ops::builtin::MODULE),
    options: &[PassOption {
        name: "interleave",
        summary: "how many vectors LLVM computes in a step of a loop with long steps; 1: what LLVM chooses",
        default: "1",
    }],
    run: |root, options, _| Ok(annotate_loops(root, options.get("interleave")?)?),
    ..Pass::NONE
};

/// With more loops than this LLVM shall unroll none of a function's.
const MOST_UNROLLED: usize = 64;

/// Operations of a loop that LLVM may unroll.
const LARGEST_UNROLLED: usize = 40;

/// Whether the blocks have many operations.
fn is_large(blocks: &[BlockRef]) -> bool {
    let operations = blocks.iter().map(|block| ir::operations(*block).len());
    operations.sum::<usize>() > LARGEST_UNROLLED
}

/// Fewer operations are a step that LLVM interleaves as it sees fit.
const SHORTEST_INTERLEAVED: usize = 12;

/// With fewer iterations, the vectors of a step would be more than a loop has.
const FEWEST_INTERLEAVED: i64 = 64;

/// The operations of each function of a module.
struct Sizes(HashMap<String, usize>);

impl Sizes {
    fn of(module: OperationRef) -> Self {
        let blocks = ir::blocks(module).into_iter();
        let operations = blocks.flat_map(ir::operations);
        let size = |function| -> usize {
            let blocks = ir::blocks(function).into_iter();
            blocks.map(|block| ir::operations(block).len()).sum()
        };
        Sizes(operations.filter_map(|op| Some((ir::func::symbol(op)?, size(op)))).collect())
    }

    /// The operations of a step, those of the functions that it calls among them; `None` if it calls a function that is declared alone, or
    /// computes vectors.
    fn of_step(&self, step: BlockRef) -> Option<usize> {
        let size = |op: OperationRef| match ir::name(op).as_str() {
            ops::llvm::CALL => self.0.get(&ir::func::callee(op)?).copied().filter(|size| *size > 0),
            ops::llvm::MLIR_CONSTANT | ops::llvm::GETELEMENTPTR => Some(0),
            _ if op.results().any(|result| result.r#type().is_vector()) => None,
            _ => Some(1),
        };
        ir::operations(step).into_iter().map(size).sum()
    }

    /// Whether a loop of these blocks, header first, has long steps that are independent of each other but for the counter, and enough of them.
    fn has_long_steps(&self, blocks: &[BlockRef]) -> bool {
        let &[header, step] = blocks else {
            return false;
        };
        let least = SHORTEST_INTERLEAVED;
        header.argument_count() == 1
            && self.of_step(step).is_some_and(|size| size >= least)
            && bound(header).is_none_or(|bound| bound >= FEWEST_INTERLEAVED)
    }
}

/// The constant that the counter of a loop is compared with.
fn bound(header: BlockRef) -> Option<i64> {
    let branch = ConditionalBranch::cast(header.terminator()?)?;
    let comparison = OperationResult::try_from(branch.condition().ok()?).ok()?.owner();
    let bound = OperationResult::try_from(ir::operand_at(comparison, 1)?).ok()?.owner();
    ir::typed::integer(bound, "value")
}

/// Annotates the loops of a module in the LLVM dialect: no unrolling in functions with many of them, no vectors where steps divide in branches,
/// and so many vectors in a step where steps are long.
///
/// # Errors
/// [`CodegenError::Module`] if LLVM's dialect does not know the attribute.
fn annotate_loops(module: OperationRef, interleave: i64) -> Result<(), CodegenError> {
    let sizes = Sizes::of(module);
    for block in ir::blocks(module) {
        for function in ir::operations(block) {
            let blocks = ir::blocks(function);
            let loops = loops(&blocks);
            let many = loops.len() > MOST_UNROLLED || function.has_attribute(attribute_names::PART);
            for (range, latch) in &loops {
                let body = blocks.get(range.clone()).unwrap_or_default();
                let is_scalar = divides_in_branches(body);
                let is_long = interleave > 1 && !is_scalar && sizes.has_long_steps(body);
                let hints = [
                    (is_scalar, "vectorize = <disable = true>".to_owned()),
                    (is_long, format!("interleave = <count = {interleave} : i32>")),
                    (many || is_large(body), "unroll = <disable = true>".to_owned()),
                ];
                let hints: Vec<String> =
                    hints.into_iter().filter_map(|(holds, hint)| holds.then_some(hint)).collect();
                if hints.is_empty() {
                    continue;
                }
                let annotation = format!("#llvm.loop_annotation<{}>", hints.join(", "));
                let annotation = ir::parse_attribute(function.context(), &annotation)?;
                ir::set_attribute(*latch, "loop_annotation", annotation);
            }
        }
    }
    Ok(())
}

/// The loops of a function: positions of their blocks, and the branch back to the header.
fn loops<'c, 'a>(blocks: &[BlockRef<'c, 'a>]) -> Vec<(RangeInclusive<usize>, OperationRef<'c, 'a>)> {
    let position: HashMap<usize, usize> =
        blocks.iter().enumerate().map(|(n, block)| (key(block), n)).collect();
    let mut found = Vec::new();
    for (n, block) in blocks.iter().enumerate() {
        let Some(last) = block.terminator().filter(|op| ir::name(*op) == ops::llvm::BR) else {
            continue;
        };
        let target = last.successor(0).ok();
        let target = target.and_then(|b| position.get(&key(&b)).copied());
        if let Some(target) = target.filter(|target| *target <= n) {
            found.push((target..=n, last));
        }
    }
    found
}

fn key(block: &BlockRef) -> usize {
    block.to_raw().ptr as usize
}

/// Whether a loop of these blocks, header first, has a division by a non-constant in a branch whose condition changes
/// in the loop.
fn divides_in_branches(blocks: &[BlockRef]) -> bool {
    let Some((_, steps)) = blocks.split_first() else {
        return false;
    };
    let mut branches = steps.iter().skip(1).flat_map(|b| ir::operations(*b));
    if !branches.any(divides) {
        return false;
    }
    let inside: HashSet<usize> = blocks.iter().map(key).collect();
    let mut known = HashMap::new();
    steps.iter().any(|block| {
        let choice = block.terminator().and_then(ConditionalBranch::cast);
        let flag = choice.and_then(|branch| branch.condition().ok());
        flag.is_some_and(|flag| !is_invariant(flag, &inside, &mut known))
    })
}

fn divides(op: OperationRef) -> bool {
    let division = Division::cast(op);
    division.is_some_and(|division| !division.divisor().is_ok_and(is_constant))
}

fn is_constant(value: Value) -> bool {
    let op = OperationResult::try_from(value).map(|result| result.owner());
    op.is_ok_and(|op| ir::name(op) == ops::llvm::MLIR_CONSTANT)
}

/// Whether a value is the same at all steps of a loop of these blocks: it is computed before, or of such values alone.
fn is_invariant<'c, 'a>(
    value: Value<'c, 'a>,
    inside: &HashSet<usize>,
    known: &mut HashMap<ValueKey, bool>,
) -> bool {
    let Ok(result) = OperationResult::try_from(value) else {
        // The counter of a loop, or another loop-carried value.
        let Some(argument) = crate::ir::argument(value) else {
            return false;
        };
        return !inside.contains(&key(&argument.owner()));
    };
    let op = result.owner();
    if !op.block().is_some_and(|block| inside.contains(&key(&block))) {
        return true;
    }
    if let Some(known) = known.get(&ValueKey::of(value)) {
        return *known;
    }
    let name = ir::name(op);
    let reads = [ops::llvm::LOAD, ops::llvm::CALL, ops::llvm::ALLOCA].contains(&name.as_str());
    let invariant = !reads && op.region_count() == 0 && op.operands().all(|o| is_invariant(o, inside, known));
    known.insert(ValueKey::of(value), invariant);
    invariant
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::Module;

    /// The attributes of the only loop, `y[i] = flag ? x % divisor : x`; the flag changes in the loop, or does not.
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
        annotate_loops(module.as_operation(), 1).unwrap();
        let printed = module.as_operation().to_string();
        let found = ["vectorize", "unroll"].into_iter();
        found.filter(|what| printed.contains(what)).collect()
    }

    #[test]
    fn a_step_that_may_divide_stays_alone() {
        assert_eq!(forbidden("%own", "%k"), ["vectorize"]);
    }

    #[test]
    fn divisions_that_all_steps_make_or_none_and_by_constants_are_free() {
        assert!(forbidden("%whole", "%k").is_empty());
        assert!(forbidden("%around", "%k").is_empty());
        assert!(forbidden("%own", "%seven").is_empty());
    }
}
