use crate::diagnostics::Code;

/// Chained invocations are limited; operators that invoke themselves unconditionally never end (2.10).
pub static ENDLESS_RECURSION: Code = Code {
    id: "SK1052",
    title: "operators invoke each other without end",
    explanation: "Chained invocations are limited; operators that invoke themselves unconditionally never end (2.10).\n\
        \n    operator f { … @compose { y = f(x); } }\n    # rather\n    operator f { … @compose { y = g(x); } }\n",
};

pub(super) use ENDLESS_RECURSION as CODE_ENTRY;
