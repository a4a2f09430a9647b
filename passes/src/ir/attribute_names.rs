// SPDX-License-Identifier: Apache-2.0
//! Names of the attributes that the project adds to operations, functions and arguments.
//!
//! Names of attributes in the definition of an operation are next to its typed form.

/// On an argument: no other argument refers to its memory.
pub(crate) const NOALIAS: &str = "llvm.noalias";

/// On a module: the alignment of its arena.
pub(crate) const ARENA_ALIGNMENT: &str = "skript.arena_alignment";
/// On a module: the size of its arena in bytes.
pub(crate) const ARENA_SIZE: &str = "skript.arena_size";
/// On an argument or a result of the entry: the upper bounds of its extents.
pub(crate) const BOUNDS: &str = "skript.bounds";
/// On a view of the arena with dynamic extents: its maximum size in bytes.
pub(crate) const BYTES: &str = "skript.bytes";
/// On a module: its numbered checks, each with code, message and trace.
pub(crate) const CHECKS: &str = "skript.checks";
/// On the argument of the entry that is the context of a run.
pub(crate) const CONTEXT: &str = "skript.context";
/// On a launch: the iterations of its threads are checked before the launch.
pub(crate) const COUNTED: &str = "skript.counted";
/// On an argument or a result that is an extent: the dimension.
pub const DIMENSION: &str = "skript.dimension";
/// On the function that users of the module call.
pub const ENTRY: &str = "skript.entry";
/// On an argument: it holds the extents of the argument at this position.
pub(crate) const EXTENTS: &str = "skript.extents";
/// On a division by arbitrary divisors, if another operation handles divisors whose reciprocals give exact quotients.
pub(crate) const GENERAL: &str = "skript.general";
/// On an argument: it receives the extents of a result.
pub(crate) const RESULT_EXTENTS: &str = "skript.result_extents";
/// On an argument or a result that is an extent: the name of the tensor.
pub const EXTENT_OF: &str = "skript.extent_of";
/// On an intrinsic on padded tensors: pairs of a tensor and a dimension. For each pair, in this order, a `tensor<i64>` at
/// the end of `ins` is the extent. Inputs are numbered from 0, followed by destinations.
pub const FILLED: &str = "skript.filled";
/// On an invocation that the inliner keeps.
pub(crate) const KEEP: &str = "skript.keep";
/// On an argument or a result of the entry: the name of the tensor.
pub const NAME: &str = "skript.name";
/// On a function that was outlined from the entry.
pub(crate) const PART: &str = "skript.part";
/// On the placeholder of a payload: the number of the region that is inserted for it.
pub const PAYLOAD: &str = "skript.payload";
/// On a kernel with a selected plan: its key, the number of the plan, the number of plans, and the plan.
pub(crate) const PLAN: &str = "skript.plan";
/// On a check: it also fails if another thread stops the call.
pub(crate) const POLLS: &str = "skript.polls";
/// On a module: the size in bytes of the memory that its preparation fills.
pub(crate) const PREPARED_SIZE: &str = "skript.prepared_size";
/// On a module: the positions of the entry's arguments that its preparation reads and the entry does not.
pub(crate) const PREPARED_ARGUMENTS: &str = "skript.prepared_arguments";
/// On a function that prepares variables: the positions of the entry's arguments that are its arguments.
pub(crate) const PREPARES: &str = "skript.prepares";
/// On the entry: the quantizations of its tensors.
pub(crate) const QUANTIZATION: &str = "skript.quantization";
/// On a `bufferization.to_buffer`: the number of the formula that reads the buffer. Bufferization recognizes only
/// `bufferization.to_buffer` as a reader: if `cse` merged two of them, it would allow writes to the tensor between them.
pub(crate) const READER: &str = "skript.reader";
/// On a `gpu.launch` and its kernel: minimum number of resident blocks per SM (`.minnctapersm`).
pub(crate) const RESIDENT: &str = "nvvm.minctasm";
/// On an argument or a result of the entry: input, variable or output.
pub const ROLE: &str = "skript.role";
/// The role of a variable, and of a result that is its new value.
pub(crate) const VARIABLE: &str = "variable";
/// On a formula that writes several elements of a tensor in one step: for each destination, the first destination with
/// the same tensor. Such destinations share one operand and one result.
pub(crate) const SAME_TENSOR: &str = "skript.same_tensor";
/// On a formula whose results only checks use.
pub const SEARCH: &str = "skript.search";
/// On an `scf.if` that replaces the position of an optimum if another element is strictly better.
pub(crate) const SELECTS: &str = "skript.selects";
/// On an argument: its index among the pointers that the caller passes.
pub(crate) const SLOT: &str = "skript.slot";
/// On the argument that is the table of pointers.
pub(crate) const TABLE: &str = "skript.table";
/// On a function whose last two arguments are a range of independent steps. Its calls compute all steps, from 0.
pub(crate) const STEPS: &str = "skript.steps";
/// On a function that unpacks weights. Calls compute them again, because the results occupy several times as many bytes.
pub(crate) const UNPACKS: &str = "skript.unpacks";
/// On a copy from the stack that uses non-temporal stores.
pub(crate) const STREAM: &str = "skript.stream";
/// On a parallel loop inside a host loop over the slices of a longer loop, which becomes a kernel even if it is short.
pub(crate) const SPLIT: &str = "skript.split";
/// On an argument that is a variable: calls of the entry update it.
pub(crate) const UPDATED: &str = "skript.updated";
/// On a parallel loop: the number of scalar operations of an iteration. Without it, the operations of the body are counted.
pub(crate) const WORK: &str = "skript.work";
