use crate::diagnostics::Code;

/// The main module must hold a graph of that name (2.15).
pub static GRAPH_UNKNOWN: Code = Code {
    id: "SK3001",
    title: "the graph that was asked for does not exist",
    explanation: "The main module must hold a graph of that name (2.15).\n\
        \n    --graph=Foo without graph Foo\n    # rather\n    --graph=G\n",
};

pub(super) use GRAPH_UNKNOWN as CODE_ENTRY;
