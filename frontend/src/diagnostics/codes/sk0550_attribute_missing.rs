use crate::diagnostics::Code;

/// Attributes that are not optional and have no default must be given; a default that is null counts as none (2.5).
pub static ATTRIBUTE_MISSING: Code = Code {
    id: "SK0550",
    title: "an attribute without default has no value",
    explanation: "Attributes that are not optional and have no default must be given; a default that is null counts as none (2.5).\n\
        \n    y = slice{begin=[0]}(x);   # 'end' is missing\n    # rather\n    y = slice{begin=[0], end=[2]}(x);\n",
};

pub(super) use ATTRIBUTE_MISSING as CODE_ENTRY;
