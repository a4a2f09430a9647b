use crate::diagnostics::Code;

/// A declared shape may have at most one part of unknown length, and an unknown name must stand in an affine expression (2.6.1).
pub static SHAPE_NOT_BOUND: Code = Code {
    id: "SK0656",
    title: "a shape cannot be bound to its names",
    explanation: "A declared shape may have at most one part of unknown length, and an unknown name must stand in an affine expression (2.6.1).\n\
        \n    x: real[s..,t..];\n    # rather\n    x: real[s..(r),t..];   # r is an attribute\n",
};

pub(super) use SHAPE_NOT_BOUND as CODE_ENTRY;
