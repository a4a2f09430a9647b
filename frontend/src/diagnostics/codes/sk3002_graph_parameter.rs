use crate::diagnostics::Code;

/// Graph attributes and types are given by name, with a value of the declared type (chapter 3).
pub static GRAPH_PARAMETER: Code = Code {
    id: "SK3002",
    title: "a value given for the graph does not fit",
    explanation: "Graph attributes and types are given by name, with a value of the declared type (chapter 3).\n\
        \n    --attrib batch=x\n    # rather\n    --attrib batch=4\n",
};

pub(super) use GRAPH_PARAMETER as CODE_ENTRY;
