use crate::diagnostics::Code;

/// Graph attributes and types are given by name, with a value of the declared type (chapter 3).
pub static GRAPH_PARAMETER: Code = Code {
    id: "SK3002",
    title: "a value given for the graph does not fit",
    explanation: "Graph attributes and types are given by name, with a value of the declared type (chapter 3).\n\
        \n    --attrib batch=x\n    # rather\n    --attrib batch=4\n",
};

pub(super) use GRAPH_PARAMETER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires_and_near_miss() {
        let given = |name: &str| {
            let text = "graph G { @attrib { n: int = 2; } @input { x: real[n]; } @output { y: real[n]; } \
                        @compose { y = x; } }";
            let mut options = crate::compose::ComposeOptions::default();
            let value = crate::model::AttributeValue::Int(3);
            options.attributes.insert(name.to_string(), value);
            composed_with(text, &options, &Default::default())
        };
        let found = given("m").unwrap_err();
        assert!(found.iter().all(|d| d.code.id == GRAPH_PARAMETER.id));
        assert!(given("n").is_ok());
    }
}
