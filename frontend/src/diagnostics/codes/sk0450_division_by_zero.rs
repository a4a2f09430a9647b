use crate::diagnostics::Code;

/// A compile-time expression divides an int by zero, or raises zero to a negative power (2.4).
pub static DIVISION_BY_ZERO: Code = Code {
    id: "SK0450",
    title: "an integer is divided by zero",
    explanation: "A compile-time expression divides an int by zero, or raises zero to a negative power (2.4).\n\
        \n    n = 10 / (k - k);\n    # rather\n    n = 10 / k;     # with an assertion that k is not zero\n",
};

pub(super) use DIVISION_BY_ZERO as CODE_ENTRY;
