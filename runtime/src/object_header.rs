// SPDX-License-Identifier: Apache-2.0
//! The C header of an object file, for programs that call the code without this project's runtime, in their own memory.

use crate::artifact::{Artifact, Port, PortExtent};
use crate::shared_object::{in_comment, literal};
use object::read::elf::{ElfFile32, ElfFile64};
use object::{Endianness, ObjectSymbol as _};
use std::fmt::Write as _;

/// The declarations that all models share.
const DECLARATIONS: &str = include_str!("../c/skript_object.h");

/// The symbols that an object file uses and does not define, in order; `None` if it is not an ELF object.
pub fn undefined(object: &[u8]) -> Option<Vec<String>> {
    let mut names = match ElfFile64::<Endianness>::parse(object) {
        Ok(file) => names(&file),
        Err(_) => names(&ElfFile32::<Endianness>::parse(object).ok()?),
    };
    names.sort();
    names.dedup();
    Some(names)
}

fn names<'d>(file: &impl object::Object<'d>) -> Vec<String> {
    let undefined = file.symbols().filter(|symbol| symbol.is_undefined());
    let named = undefined.filter_map(|symbol| Some(symbol.name().ok()?.to_owned()));
    named.filter(|name| !name.is_empty()).collect()
}

/// The header of an artifact's object file.
pub fn object_header(artifact: &Artifact, graph: &str) -> String {
    let target = &artifact.target;
    let mut text = format!(
        "/* Graph {}: object code for {} ({}).\n",
        in_comment(graph),
        in_comment(&target.triple),
        in_comment(&target.cpu)
    );
    match undefined(&artifact.object) {
        None => {}
        Some(called) if called.is_empty() => text.push_str(" * It calls no other functions.\n"),
        Some(called) => {
            let _ = writeln!(text, " * It calls: {}.", called.join(", "));
        }
    }
    text.push_str(" * The table of pointers:\n");
    let mut tensors = String::new();
    let graph_outputs = artifact.outputs.len().saturating_sub(artifact.updates.len());
    let (outputs, updates) = artifact.outputs.split_at(graph_outputs);
    let roles = [
        ("INPUT", &artifact.inputs[..]),
        ("VARIABLE", &artifact.variables[..]),
        ("OUTPUT", outputs),
        ("UPDATE", updates),
    ];
    let mut slot = 0;
    for (role, ports) in roles {
        for port in ports {
            let _ = writeln!(text, " *   [{slot}] {}", described(role, port));
            let _ = write!(tensors, " \\\n  {}", row(role, port));
            slot += 1;
        }
    }
    for port in artifact.ports().filter(|port| port.is_dynamic()) {
        let name = in_comment(&port.name);
        let _ = writeln!(text, " *   [{slot}] extents of {name}: int64_t[{}]", port.shape.len());
        slot += 1;
    }
    if artifact.prepared > 0 {
        let _ = writeln!(text, " *   [{slot}] what skript_prepare computes: SKRIPT_PREPARED_BYTES bytes");
        slot += 1;
    }
    let _ = write!(
        text,
        " */\n#ifndef SKRIPT_OBJECT_H\n#define SKRIPT_OBJECT_H\n\n\
         #define SKRIPT_ARENA_BYTES {}u\n#define SKRIPT_ARENA_ALIGNMENT {}u\n#define SKRIPT_PREPARED_BYTES {}u\n\
         #define SKRIPT_POINTERS {slot}\n#define SKRIPT_TENSORS(X){tensors}\n\n{DECLARATIONS}\n#endif\n",
        artifact.arena.size, artifact.arena.alignment, artifact.prepared,
    );
    text
}

fn described(role: &str, port: &Port) -> String {
    let extents = port.shape.iter().map(|extent| match extent {
        PortExtent::Fixed(n) => n.to_string(),
        PortExtent::Dynamic(n) => format!("<= {n}"),
    });
    let extents = extents.collect::<Vec<_>>().join(", ");
    let (role, name) = (role.to_lowercase(), in_comment(&port.name));
    format!("{role} {name}: {}[{extents}]", port.element)
}

/// A row of the macro `SKRIPT_TENSORS`.
fn row(role: &str, port: &Port) -> String {
    let list = |items: Vec<String>| {
        if items.is_empty() {
            "SKRIPT_LIST(0)".to_owned()
        } else {
            format!("SKRIPT_LIST({})", items.join(", "))
        }
    };
    let bounds = port.shape.iter().map(|extent| extent.bound().to_string());
    let dynamic = port.shape.iter().map(|extent| match extent {
        PortExtent::Fixed(_) => "0".to_owned(),
        PortExtent::Dynamic(_) => "1".to_owned(),
    });
    format!(
        "X(SKRIPT_{role}, {}, {}, {}, {}, {}, {}, {}u)",
        literal(&port.name),
        port.element.code(),
        port.element.size(),
        port.shape.len(),
        list(bounds.collect()),
        list(dynamic.collect()),
        port.byte_bound().unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{ArenaLayout, Target};
    use skript_tensor::ElementType;

    fn port(name: &str, shape: &[PortExtent]) -> Port {
        Port {
            name: name.to_owned(),
            aliases: Vec::new(),
            element: ElementType::F32,
            imported: None,
            shape: shape.to_vec(),
            pack: None,
        }
    }

    #[test]
    fn slots_follow_the_order_of_the_entry() {
        let artifact = Artifact {
            target: Target::default(),
            entry: "skript_entry".to_owned(),
            arena: ArenaLayout { size: 64, alignment: 32 },
            prepared: 16,
            inputs: vec![port("x", &[PortExtent::Dynamic(4)])],
            variables: vec![port("w", &[])],
            unread: Vec::new(),
            outputs: vec![port("y", &[PortExtent::Fixed(2)]), port("w", &[])],
            updates: vec![(0, 1)],
            checks: Vec::new(),
            object: Vec::new(),
            kernels: None,
            embedded: None,
        };
        let text = object_header(&artifact, "g */ #error");
        for line in [
            "/* Graph g * / #error: object code",
            " *   [0] input x: f32[<= 4]\n",
            " *   [2] output y: f32[2]\n",
            " *   [3] update w: f32[]\n",
            " *   [4] extents of x: int64_t[1]\n",
            " *   [5] what skript_prepare computes",
            "#define SKRIPT_POINTERS 6\n",
            "X(SKRIPT_VARIABLE, \"w\", 3, 4, 0, SKRIPT_LIST(0), SKRIPT_LIST(0), 4u)",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
