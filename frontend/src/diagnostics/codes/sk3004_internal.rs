use crate::diagnostics::Code;

/// The composer stopped where it should not have; the document may be right.
pub static INTERNAL: Code = Code {
    id: "SK3004",
    title: "the composer failed",
    explanation: "The composer stopped at something that it does not foresee. This is a defect of the compiler; a small\n\
        document that shows it helps to mend it.\n",
};

pub(super) use INTERNAL as CODE_ENTRY;
