use crate::diagnostics::Code;

/// Values, indices and conditions of a formula must have the types that the outputs and tensors ask for (2.12).
pub static FORMULA: Code = Code {
    id: "SK1251",
    title: "a formula cannot be brought into its normal form",
    explanation: "Values, indices and conditions of a formula must have the types that the outputs and tensors ask for (2.12).\n\
        \n    y[i,] = x[i,] && true, i < n;   # y: real[n]\n    # rather\n    y[i,] = x[i,], i < n;\n",
};

pub(super) use FORMULA as CODE_ENTRY;
