// SPDX-License-Identifier: Apache-2.0
//! Names of the attributes that the project adds to operations, functions and arguments.
//!
//! The attributes of an operation's own definition are named where the operation has its typed form.

/// Of a module: the alignment of its arena.
pub(crate) const ARENA_ALIGNMENT: &str = "skript.arena_alignment";
/// Of a module: the bytes of its arena.
pub(crate) const ARENA_SIZE: &str = "skript.arena_size";
/// Of an argument or a result of the entry: the upper bounds of its extents.
pub(crate) const BOUNDS: &str = "skript.bounds";
/// Of a view of the arena with dynamic extents: the bytes that it has at most.
pub(crate) const BYTES: &str = "skript.bytes";
/// Of a module: its numbered checks, each with its code, message and trace.
pub(crate) const CHECKS: &str = "skript.checks";
/// Of an argument of the entry: it is the context of a run.
pub(crate) const CONTEXT: &str = "skript.context";
/// Of a launch: the iterations of its threads are checked before it.
pub(crate) const COUNTED: &str = "skript.counted";
/// Of an argument or a result that is an extent: the dimension.
pub const DIMENSION: &str = "skript.dimension";
/// Of the function that callers of the module call.
pub const ENTRY: &str = "skript.entry";
/// Of an argument: it holds the extents of the argument of this position.
pub(crate) const EXTENTS: &str = "skript.extents";
/// Of an operation that divides by any divisors, beside one for those whose reciprocals give the quotients.
pub(crate) const GENERAL: &str = "skript.general";
/// Of an argument: it receives the extents of a result.
pub(crate) const RESULT_EXTENTS: &str = "skript.result_extents";
/// Of an argument or a result that is an extent: the name of the tensor.
pub const EXTENT_OF: &str = "skript.extent_of";
/// Of an intrinsic on padded tensors: pairs of a tensor and a dimension. For each, in this order, a `tensor<i64>` at the
/// end of `ins` has the extent. Inputs are numbered from 0, destinations after them.
pub const FILLED: &str = "skript.filled";
/// Of an invocation that the inliner keeps.
pub(crate) const KEEP: &str = "skript.keep";
/// Of an argument or a result of the entry: the name of the tensor.
pub const NAME: &str = "skript.name";
/// Of a function that holds a part of the entry.
pub(crate) const PART: &str = "skript.part";
/// Of an operation in place of a payload until the payload is inserted: the number of the region.
pub const PAYLOAD: &str = "skript.payload";
/// Of a kernel whose plan was chosen: its key, the number of the plan, how many there are, and the plan.
pub(crate) const PLAN: &str = "skript.plan";
/// Of a module: the bytes of the memory that its preparation fills.
pub(crate) const PREPARED_SIZE: &str = "skript.prepared_size";
/// Of a module: the positions of the entry's arguments that its preparation reads and the entry does not.
pub(crate) const PREPARED_ARGUMENTS: &str = "skript.prepared_arguments";
/// Of a function that prepares variables: the positions of the entry's arguments that are its arguments.
pub(crate) const PREPARES: &str = "skript.prepares";
/// Of the entry: the quantization of its tensors.
pub(crate) const QUANTIZATION: &str = "skript.quantization";
/// Of a buffer of a tensor: the number of the formula that reads it. Bufferization knows no other readers than
/// `bufferization.to_buffer`: if `cse` merged two of them, it would allow writes to the tensor between them.
pub(crate) const READER: &str = "skript.reader";
/// Of a `gpu.launch`, and of its kernel: the blocks that a processor of NVIDIA's has registers for, at least.
pub(crate) const RESIDENT: &str = "nvvm.minctasm";
/// Of an argument or a result of the entry: input, variable or output.
pub const ROLE: &str = "skript.role";
/// The role of a variable, and of a result that is its new value.
pub(crate) const VARIABLE: &str = "variable";
/// Of a formula that writes several elements of a tensor in one step. It holds, by destination, the first destination that
/// is the same tensor. Such destinations have one operand, and one result for all.
pub(crate) const SAME_TENSOR: &str = "skript.same_tensor";
/// Of a formula whose results only checks use.
pub const SEARCH: &str = "skript.search";
/// Of an argument: its index among the pointers that the caller passes.
pub(crate) const SLOT: &str = "skript.slot";
/// Of the argument that is the table of pointers.
pub(crate) const TABLE: &str = "skript.table";
/// Of a function whose last two arguments are a range of independent steps. Its calls compute all steps, from 0.
pub(crate) const STEPS: &str = "skript.steps";
/// Of a copy from the stack whose stores pass the cache.
pub(crate) const STREAM: &str = "skript.stream";
/// Of a parallel loop: it is a kernel of its own, however short it is, in a loop of the host over the parts of a long loop.
pub(crate) const SPLIT: &str = "skript.split";
/// Of an argument that is a variable: calls of the entry give it new values.
pub(crate) const UPDATED: &str = "skript.updated";
/// Of a parallel loop: the operations on scalars of one iteration. Without it they are counted in the body.
pub(crate) const WORK: &str = "skript.work";
