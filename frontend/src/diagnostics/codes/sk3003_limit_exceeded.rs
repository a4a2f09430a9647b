use crate::diagnostics::Code;

/// Limits keep a document from exhausting time and memory.
pub static LIMIT_EXCEEDED: Code = Code {
    id: "SK3003",
    title: "the model is larger than a limit",
    explanation: "Limits keep a document from exhausting time and memory.\n\
        \n    unroll..(100000000) …\n    # rather\n    do..(100000000) …\n",
};

pub(super) use LIMIT_EXCEEDED as CODE_ENTRY;
