// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Graph attributes and types are set by name, to a value of the declared type (chapter 3).
pub static GRAPH_PARAMETER: Code = Code {
    id: "SK3002",
    title: "a value for the graph does not fit",
    explanation: "Graph attributes and types are set by name, to a value of the declared type (chapter 3).\n\
        \n    --attrib batch=x\n    # rather\n    --attrib batch=4\n",
};

pub(super) use GRAPH_PARAMETER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    use crate::diagnostics::Diagnostic;
    use crate::model::Model;

    fn given(name: &str) -> Result<Model, Vec<Diagnostic>> {
        let text = "graph G { @attrib { size: int = 2; } @input { x: real[size]; } @output { y: real[size]; } \
                    @compose { y = x; } }";
        let mut options = crate::compose::ComposeOptions::default();
        let value = crate::model::AttributeValue::Int(3);
        options.attributes.insert(name.to_string(), value);
        composed_with(text, &options, &Default::default())
    }

    #[test]
    fn fires() {
        let found = given("sise").unwrap_err();
        assert!(found.iter().all(|d| d.code.id == GRAPH_PARAMETER.id));
        assert_eq!(found[0].help.as_deref(), Some("did you mean `size`?"));
    }

    #[test]
    fn near_miss() {
        assert!(given("size").is_ok());
    }
}
