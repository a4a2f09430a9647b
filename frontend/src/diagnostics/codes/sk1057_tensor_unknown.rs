use crate::diagnostics::Code;

/// Names must be declared before they are used; every output must be assigned (2.10).
pub static TENSOR_UNKNOWN: Code = Code {
    id: "SK1057",
    title: "a tensor, output or operator is not known here",
    explanation: "Names must be declared before they are used; every output must be assigned (2.10).\n\
        \n    y = add(x, w);   # no w\n    # rather\n    y = add(x, x);\n",
};

pub(super) use TENSOR_UNKNOWN as CODE_ENTRY;
