use crate::diagnostics::Code;

/// Inputs that are neither optional nor have a default must be given; there must not be more arguments than inputs (2.6).
pub static ARGUMENT_COUNT: Code = Code {
    id: "SK0653",
    title: "an invocation has too many or too few arguments",
    explanation: "Inputs that are neither optional nor have a default must be given; there must not be more arguments than inputs (2.6).\n\
        \n    y = add(x);\n    # rather\n    y = add(x, z);\n",
};

pub(super) use ARGUMENT_COUNT as CODE_ENTRY;
