use crate::diagnostics::Code;

/// The number of results, and the lengths of result packs, must agree with what stands left of `=` (2.10).
pub static RESULTS_MISMATCH: Code = Code {
    id: "SK1050",
    title: "the results do not fit the left-hand side",
    explanation: "The number of results, and the lengths of result packs, must agree with what stands left of `=` (2.10).\n\
        \n    a, b = op(x);   # op has one output\n    # rather\n    a = op(x);\n",
};

pub(super) use RESULTS_MISMATCH as CODE_ENTRY;
