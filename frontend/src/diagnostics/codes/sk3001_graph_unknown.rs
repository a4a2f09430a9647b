// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The main module must define a graph of that name (2.15).
pub static GRAPH_UNKNOWN: Code = Code {
    id: "SK3001",
    title: "the requested graph does not exist",
    explanation: "The main module must define a graph of that name (2.15).\n\
        \n    --graph=Foo without graph Foo\n    # rather\n    --graph=G\n",
};

pub(super) use GRAPH_UNKNOWN as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    use crate::diagnostics::Diagnostic;
    use crate::model::Model;

    fn asked(name: &str) -> Result<Model, Vec<Diagnostic>> {
        let text = with_symbols("").replace("graph G {", "graph Large {");
        let options = crate::compose::ComposeOptions {
            graph: Some(name.to_string()),
            ..Default::default()
        };
        composed_with(&text, &options, &Default::default())
    }

    #[test]
    fn fires() {
        let found = asked("Largw").unwrap_err();
        assert!(found.iter().all(|d| d.code.id == GRAPH_UNKNOWN.id));
        assert_eq!(found[0].help.as_deref(), Some("did you mean `Large`?"));
    }

    #[test]
    fn near_miss() {
        assert!(asked("Large").is_ok());
    }
}
