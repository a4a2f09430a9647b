use crate::diagnostics::Code;

/// Compile-time ints are 64-bit; a result beyond that range has no value.
pub static INTEGER_OVERFLOW: Code = Code {
    id: "SK0451",
    title: "an integer does not fit in 64 bits",
    explanation: "Compile-time ints are 64-bit; a result beyond that range has no value.\n\
        \n    n = 2 ** 64;\n    # rather\n    n = 2 ** 62;\n",
};

pub(super) use INTEGER_OVERFLOW as CODE_ENTRY;
