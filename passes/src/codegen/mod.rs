//! Memory plan, entry wrapper, LLVM IR and objects.
