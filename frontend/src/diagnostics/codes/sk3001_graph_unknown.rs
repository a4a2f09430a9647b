use crate::diagnostics::Code;

/// The main module must hold a graph of that name (2.15).
pub static GRAPH_UNKNOWN: Code = Code {
    id: "SK3001",
    title: "the graph that was asked for does not exist",
    explanation: "The main module must hold a graph of that name (2.15).\n\
        \n    --graph=Foo without graph Foo\n    # rather\n    --graph=G\n",
};

pub(super) use GRAPH_UNKNOWN as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires_and_near_miss() {
        let asked = |name: &str| {
            let options = crate::compose::ComposeOptions {
                graph: Some(name.to_string()),
                ..Default::default()
            };
            composed_with(&with_symbols(""), &options, &Default::default())
        };
        let found = asked("Other").unwrap_err();
        assert!(found.iter().all(|d| d.code.id == GRAPH_UNKNOWN.id));
        assert!(asked("G").is_ok());
    }
}
