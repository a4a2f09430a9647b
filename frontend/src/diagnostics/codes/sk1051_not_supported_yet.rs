use crate::diagnostics::Code;

/// The language has it, this compiler does not yet.
pub static NOT_SUPPORTED_YET: Code = Code {
    id: "SK1051",
    title: "this construct cannot be composed yet",
    explanation: "The language has it, this compiler does not yet.\n",
};

pub(super) use NOT_SUPPORTED_YET as CODE_ENTRY;
