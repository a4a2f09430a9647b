use crate::diagnostics::Code;

/// The tensor must exist in the graph and the operator must have one input and one output (2.14).
pub static QUANTIZATION: Code = Code {
    id: "SK1450",
    title: "a quantization entry does not fit",
    explanation: "The tensor must exist in the graph and the operator must have one input and one output (2.14).\n\
        \n    nothing: quant.linear{…};\n    # rather\n    x: quant.linear{…};\n",
};

pub(super) use QUANTIZATION as CODE_ENTRY;
