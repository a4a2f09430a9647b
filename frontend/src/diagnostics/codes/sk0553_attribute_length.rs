use crate::diagnostics::Code;

/// The declared length of a pack must equal the length of the value (2.5, 2.6.1).
pub static ATTRIBUTE_LENGTH: Code = Code {
    id: "SK0553",
    title: "a pack has another length than declared",
    explanation: "The declared length of a pack must equal the length of the value (2.5, 2.6.1).\n\
        \n    a: int..(2) given as [1, 2, 3]\n    # rather\n    a: int..(2) given as [1, 2]\n",
};

pub(super) use ATTRIBUTE_LENGTH as CODE_ENTRY;
