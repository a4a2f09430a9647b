use crate::diagnostics::Code;

/// All packs behind `for` must have one length, and a loop count must not exceed it (2.10.1).
pub static SCAN_LENGTHS: Code = Code {
    id: "SK1053",
    title: "packs that are scanned together have different lengths",
    explanation: "All packs behind `for` must have one length, and a loop count must not exceed it (2.10.1).\n\
        \n    for x : [a, b], y : [c] do …\n    # rather\n    for x : [a, b], y : [c, d] do …\n",
};

pub(super) use SCAN_LENGTHS as CODE_ENTRY;
