use crate::diagnostics::Code;

/// Tensor packs go to packed inputs, single tensors to others, with the declared element type (2.6).
pub static ARGUMENT_KIND: Code = Code {
    id: "SK0654",
    title: "an argument does not fit the declared input",
    explanation: "Tensor packs go to packed inputs, single tensors to others, with the declared element type (2.6).\n\
        \n    y = sqrt(flags);   # a bool tensor\n    # rather\n    y = sqrt(values);\n",
};

pub(super) use ARGUMENT_KIND as CODE_ENTRY;
