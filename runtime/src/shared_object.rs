// SPDX-License-Identifier: Apache-2.0
//! An artifact as C text: with its object code and a C compiler it becomes a self-contained shared object.
//!
//! The library of `runtime/c` is the same for every model; the generated tables describe the model. Callers include the
//! header.

use crate::artifact::{Artifact, Port, PortExtent};
use skript_tensor::weights::file_name;
use std::fmt::Write as _;

/// Maximum rank of a tensor in the C interface: `SKRIPT_MAX_RANK`.
pub const MAX_RANK: usize = 16;

/// The library's files by name: the files to compile and their includes.
pub const LIBRARY: &[(&str, &str)] = &[
    ("skript_model.h", HEADER),
    ("tables.h", include_str!("../c/tables.h")),
    ("model.c", include_str!("../c/model.c")),
    ("processor.c", include_str!("../c/processor.c")),
    ("x86_features.h", include_str!("../c/x86_features.h")),
    ("weights.c", include_str!("../c/weights.c")),
];

const HEADER: &str = include_str!("../c/skript_model.h");

/// The symbol of embedded weights.
const WEIGHTS: &str = "skript_weights";

/// Assembly text that defines the embedded weights, [`Embedded::data`](crate::artifact::Embedded::data), as the content of
/// a file.
pub fn weights(file: &str) -> String {
    format!(
        ".section .rodata\n.balign 64\n.globl {WEIGHTS}\n.hidden {WEIGHTS}\n{WEIGHTS}:\n.incbin \"{file}\"\n.byte 0\n\
         .section .note.GNU-stack,\"\",%progbits\n"
    )
}

/// Why an artifact cannot have a C interface.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SharedObjectError {
    /// A tensor has more dimensions than the C interface allows.
    #[error("`{name}` has rank {rank}, and tensors of the C interface have at most {MAX_RANK}")]
    Rank {
        /// The name in the graph.
        name: String,
        /// The number of dimensions.
        rank: usize,
    },
    /// The library reads a variable from a file with its name, but this name is not a valid file name.
    #[error("the name `{0}` of a variable is not a file name")]
    Name(String),
    /// A tensor has more bytes than [`crate::artifact::LARGEST`].
    #[error("`{0}` is too large")]
    Size(String),
    /// The new values of variables are not the last outputs.
    #[error("the artifact's updates do not follow its outputs")]
    Updates,
}

/// The header for callers: the C interface, with a comment that describes this model.
pub fn header(artifact: &Artifact, graph: &str) -> String {
    let mut text = format!("/* Graph {}:\n", in_comment(graph));
    let first = artifact.outputs.len().saturating_sub(artifact.updates.len());
    let (outputs, _) = artifact.outputs.split_at(first);
    let roles = [("input", &artifact.inputs[..]), ("variable", &artifact.variables[..]), ("output", outputs)];
    for (role, ports) in roles {
        for (n, port) in ports.iter().enumerate() {
            let extents = port.shape.iter().map(|e| match e {
                PortExtent::Fixed(n) => n.to_string(),
                PortExtent::Dynamic(n) => format!("<= {n}"),
            });
            let extents = extents.collect::<Vec<_>>().join(", ");
            let name = in_comment(&port.name);
            let _ = writeln!(text, " *   {role} {n}: {name}: {}[{extents}]", port.element);
        }
    }
    text.push_str(" */\n");
    text.push_str(HEADER);
    text
}

/// The tables of a model as a C file.
///
/// # Errors
/// [`SharedObjectError`] for models that the C interface cannot represent.
pub fn tables(artifact: &Artifact, graph: &str) -> Result<String, SharedObjectError> {
    let first =
        artifact.outputs.len().checked_sub(artifact.updates.len()).ok_or(SharedObjectError::Updates)?;
    let (outputs, updated) = artifact.outputs.split_at_checked(first).ok_or(SharedObjectError::Updates)?;
    let mut tables = Tables::default();
    tables.text.push_str("#include \"tables.h\"\n\n");
    for variable in &artifact.variables {
        let mut names = std::iter::once(&variable.name).chain(&variable.aliases);
        if let Some(name) = names.find(|name| file_name(name).is_err()) {
            return Err(SharedObjectError::Name(name.clone()));
        }
    }
    for (name, ports) in
        [("inputs", &artifact.inputs[..]), ("variables", &artifact.variables[..]), ("outputs", outputs)]
    {
        let rows = ports.iter().map(|p| tables.port(p)).collect::<Result<Vec<_>, _>>()?;
        tables.array("skript_port", name, &rows);
    }
    let mut updates = Vec::new();
    for (position, port) in updated.iter().enumerate() {
        let output = u32::try_from(first + position).map_err(|_| SharedObjectError::Updates)?;
        let update = artifact.updates.iter().find(|(_, o)| *o == output);
        let (variable, _) = update.ok_or(SharedObjectError::Updates)?;
        let port = tables.port(port)?;
        updates.push(format!("{{{variable}, {port}}}"));
    }
    tables.array("struct skript_update", "updates", &updates);
    let aliases: Vec<String> = artifact.variables.iter().map(|v| tables.strings(&v.aliases)).collect();
    tables.array("char *const *const", "aliases", &aliases);
    let checks: Vec<String> = artifact
        .checks
        .iter()
        .map(|check| {
            let trace = tables.strings(&check.trace);
            let (code, message) = (literal(&check.code), literal(&check.message));
            format!("{{{code}, {message}, {trace}}}")
        })
        .collect();
    tables.array("struct skript_check", "checks", &checks);
    let enabled = artifact.target.features.split(',').filter_map(|f| f.strip_prefix('+'));
    let features = tables.strings(&enabled.map(str::to_owned).collect::<Vec<_>>());
    let offsets = artifact.embedded.as_ref().map(|e| e.offsets(artifact));
    let (embedded, offsets) = match offsets {
        None => ("0", "0"),
        Some(offsets) => {
            let offset = |offset: &Option<usize>| offset.map_or("-1".to_owned(), |n| n.to_string());
            let offsets: Vec<String> = offsets.iter().map(offset).collect();
            tables.array("int64_t", "offsets", &offsets);
            let declaration = format!("extern const uint8_t {WEIGHTS}[];\n");
            tables.text.push_str(&declaration);
            (WEIGHTS, "offsets")
        }
    };
    let prepare = match artifact.prepared {
        0 => "0",
        _ => {
            tables.text.push_str("void skript_prepare(void *const *tensors);\n");
            "skript_prepare"
        }
    };
    let _ = write!(
        tables.text,
        "const struct skript_tables skript_tables = {{\n\
         {}, {}u, {}u, {}u, {prepare},\n\
         {{inputs, variables, outputs}}, {{{}, {}, {first}}},\n\
         aliases, updates, {}, checks, {}, {features}, {embedded}, {offsets},\n}};\n",
        literal(graph),
        artifact.arena.size,
        artifact.arena.alignment,
        artifact.prepared,
        artifact.inputs.len(),
        artifact.variables.len(),
        updates.len(),
        checks.len(),
    );
    Ok(tables.text)
}

/// C text with arrays that are defined once.
#[derive(Default)]
struct Tables {
    text: String,
    named: usize,
}

impl Tables {
    /// Defines an array. An empty array gets an unused element, because C has no empty arrays.
    fn array(&mut self, element: &str, name: &str, items: &[String]) {
        let items = match items {
            [] => "{0}".to_owned(),
            _ => items.join(",\n  "),
        };
        let _ = writeln!(self.text, "static const {element} {name}[] = {{\n  {items}\n}};");
    }

    fn fresh(&mut self, element: &str, items: &[String]) -> String {
        self.named += 1;
        let name = format!("data_{}", self.named);
        self.array(element, &name, items);
        name
    }

    /// An array of strings that ends in NULL.
    fn strings(&mut self, items: &[String]) -> String {
        let mut all: Vec<String> = items.iter().map(|i| literal(i)).collect();
        all.push("0".to_owned());
        self.fresh("char *const", &all)
    }

    fn port(&mut self, port: &Port) -> Result<String, SharedObjectError> {
        let rank = port.shape.len();
        if rank > MAX_RANK {
            let name = port.name.clone();
            return Err(SharedObjectError::Rank { name, rank });
        }
        let bytes = port.byte_bound().ok_or_else(|| SharedObjectError::Size(port.name.clone()))?;
        let bounds: Vec<String> = port.shape.iter().map(|e| e.bound().to_string()).collect();
        let dynamic = port.shape.iter().map(|e| matches!(e, PortExtent::Dynamic(_)));
        let dynamic: Vec<String> = dynamic.map(|d| u8::from(d).to_string()).collect();
        let bounds = self.fresh("int64_t", &bounds);
        let dynamic = self.fresh("uint8_t", &dynamic);
        let (pack, position, length) = match &port.pack {
            None => ("0".to_owned(), 0, 0),
            Some(pack) => (literal(&pack.name), pack.position, pack.length),
        };
        // The enumeration of the header has the order of element types in files.
        let code = port.element.code();
        Ok(format!(
            "{{{}, (skript_type){code}, {rank}, {bounds}, {dynamic}, {bytes}u, {pack}, {position}, {length}}}",
            literal(&port.name),
        ))
    }
}

/// A string literal of C, in ASCII; an escape never runs into the next character.
pub fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(byte.into()),
            b' ' | b'_' | b'.' | b':' | b',' | b'-' | b'+' | b'=' | b'/' | b'{' | b'}' | b'(' | b')'
            | b'`' | b'\'' | b'[' | b']' | b'<' | b'>' | b'*' | b';' | b'!' => {
                out.push(byte.into());
            }
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

/// A text for a comment of C: on one line, without the delimiters of comments and without trigraphs.
pub fn in_comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_tensor::ElementType;

    #[test]
    fn no_name_leaves_its_literal_or_comment() {
        assert_eq!(literal("a\"b\\\n?\u{e9}"), r#""a\042b\134\012\077\303\251""#);
        assert_eq!(in_comment("x */ int y;\n"), "x * / int y; ");
    }

    #[test]
    fn the_header_has_the_order_of_element_types() {
        let after = HEADER.split("SKRIPT_BOOL,").nth(1).unwrap();
        let constants = after.split('}').next().unwrap().split("SKRIPT_").skip(1);
        let names = constants.map(|n| n.split([',', '\n']).next().unwrap().to_lowercase());
        let known: Vec<&str> = ElementType::ALL.iter().skip(1).map(|e| e.name()).collect();
        assert_eq!(names.collect::<Vec<_>>(), known);
        let definition = format!("#define SKRIPT_MAX_RANK {MAX_RANK}\n");
        assert!(HEADER.contains(&definition));
    }
}
