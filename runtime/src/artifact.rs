// SPDX-License-Identifier: Apache-2.0
//! A compiled model, which consists of object code and its interface, and its file format.
//!
//! # File format, version 8
//! All integers are little endian; a string is a `u32` length and UTF-8; a list is a `u32` count and its items.
//! ```text
//! 8  magic "SKRIPTM\n"
//! 4  version (8)
//! 8  length of the body
//! n  body: target (triple, cpu, features: strings), entry: string, arena size: u64, arena alignment: u64,
//!          prepared: u64, inputs, variables, outputs: lists of ports, unread: list of (u32 variable),
//!          updates: list of (u32 variable, u32 output), checks: list of (code: string, message: string, trace: list of
//!          strings), weights: u8 0 none | 1 embedded, kernels: u8 0 none | 1 + language, code: u64 length and bytes, and
//!          names: list of strings; object: u64 length and bytes
//! 32 BLAKE3 of all the above
//! ```
//! Embedded weights follow: the bytes that `skript_prepare` computed, then each variable that is not in `unread`. Each array
//! begins at a multiple of 64 bytes, after zeros, and the file ends with the last array. The weights have no checksum, because
//! the file is mapped and read on demand. The interface determines every length.
//!
//! A port is name: string, aliases: list of strings, element: u8, imported: u8 0, or 1 and element: u8, extents: list of (u8
//! 0 fixed | 1 dynamic, u64), pack: u8 0, or 1 and (name: string, position: u32, length: u32). Equal artifacts have equal
//! bytes.

mod check_message;
mod embedded;
mod kernels;
mod read;
mod write;

pub use embedded::Embedded;
pub use kernels::{Kernels, Language};
pub use read::ArtifactError;
use skript_tensor::ElementType;
pub use write::VERSION;

/// Object code with its interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The target that the code was compiled for.
    pub target: Target,
    /// Symbol of the entry, `int32_t (void *const *tensors, uint8_t *arena, struct skript_context *context)`.
    pub entry: String,
    /// The memory that the entry works in.
    pub arena: ArenaLayout,
    /// The size in bytes of the array that `skript_prepare`, `void (void *const *tensors)`, fills; 0 if nothing is
    /// prepared. Its pointer is the last of the tensors.
    pub prepared: u64,
    /// The inputs in the order of the graph; packs are flattened.
    pub inputs: Vec<Port>,
    /// The variables in the order of the graph; packs are flattened.
    pub variables: Vec<Port>,
    /// The variables that `skript_prepare` reads and the entry does not.
    pub unread: Vec<u32>,
    /// The graph's outputs, then the new values of updated variables.
    pub outputs: Vec<Port>,
    /// Pairs (variable, output): the output holds the variable's new value.
    pub updates: Vec<(u32, u32)>,
    /// Run-time checks; status n refers to check n − 1, and so does −n, if another thread stopped the call there.
    pub checks: Vec<Check>,
    /// A relocatable object file, ELF.
    pub object: Vec<u8>,
    /// Kernels that the object launches on a GPU.
    pub kernels: Option<Kernels>,
    /// The values of the variables, if the artifact contains them.
    pub embedded: Option<Embedded>,
}

impl Artifact {
    /// Inputs, variables, outputs.
    pub(crate) fn ports(&self) -> impl Iterator<Item = &Port> {
        let ports = self.inputs.iter().chain(&self.variables);
        ports.chain(&self.outputs)
    }

    /// Adds the names and element types that inputs and outputs have in the imported model.
    pub fn add_import<'n>(
        &mut self,
        inputs: impl IntoIterator<Item = (&'n str, &'n str, Option<ElementType>)>,
        outputs: impl IntoIterator<Item = (&'n str, &'n str, ElementType)>,
    ) {
        let count = self.outputs.len().saturating_sub(self.updates.len());
        let (graph_outputs, _) = self.outputs.split_at_mut(count);
        add_import(&mut self.inputs, graph_outputs, inputs, outputs);
    }

    /// Whether the entry reads a variable, or a call updates it.
    pub(crate) fn is_read(&self, variable: usize) -> bool {
        let is_variable = |n: u32| usize::try_from(n) == Ok(variable);
        !self.unread.iter().any(|n| is_variable(*n)) || self.updates.iter().any(|(n, _)| is_variable(*n))
    }

    /// The number of pointers that the entry receives, without that of the prepared variables: one per tensor, and one
    /// to the extents of each dynamic tensor.
    pub(crate) fn pointer_count(&self) -> usize {
        let dynamic = self.ports().filter(|port| port.is_dynamic());
        self.ports().count() + dynamic.count()
    }
}

/// [`Artifact::add_import`] for the ports of a model that is not compiled yet; `results` has no updated variables.
pub fn add_import<'n>(
    operands: &mut [Port],
    results: &mut [Port],
    inputs: impl IntoIterator<Item = (&'n str, &'n str, Option<ElementType>)>,
    outputs: impl IntoIterator<Item = (&'n str, &'n str, ElementType)>,
) {
    for (name, there, element) in inputs {
        let ports = operands.iter_mut().filter(|port| port.group() == name);
        ports.for_each(|port| port.add_import(there, element));
    }
    for (name, there, element) in outputs {
        let ports = results.iter_mut().filter(|port| port.group() == name);
        ports.for_each(|port| port.add_import(there, Some(element)));
    }
}

/// The target of compiled code, in LLVM's terms.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Target {
    /// Architecture, vendor, system: `x86_64-unknown-linux-gnu`.
    pub triple: String,
    /// Name of the processor: `x86-64-v3`, `znver4`.
    pub cpu: String,
    /// The features: `+avx2,-sse4a,…`; features with `+` are required at run time.
    pub features: String,
}

/// The memory that a call works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaLayout {
    /// The size in bytes.
    pub size: u64,
    /// The alignment in bytes, a power of two.
    pub alignment: u64,
}

/// One tensor of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name in the graph; for an item of a pack, with its position.
    pub name: String,
    /// Other names of the same tensor.
    pub aliases: Vec<String>,
    /// Type of the elements.
    pub element: ElementType,
    /// Type of the elements in the imported model, if it differs; both are of the same kind.
    pub imported: Option<ElementType>,
    /// One extent for each dimension.
    pub shape: Vec<PortExtent>,
    /// The pack and the position, if it is an item of a pack.
    pub pack: Option<PackPlace>,
}

/// The size of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortExtent {
    /// Static: known when the model was compiled.
    Fixed(u64),
    /// Dynamic, with this upper bound.
    Dynamic(u64),
}

/// The position of a tensor in a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackPlace {
    /// The pack's name in the graph.
    pub name: String,
    /// The number of the item, from 0.
    pub position: u32,
    /// The number of items.
    pub length: u32,
}

/// The message of a failed run-time check. `{0}`, `{1:real}`, `{2:bool}`, … stand for recorded values, `{text}` for the
/// message of a kernel; in `{3?}yes{|}no{/}`, value 3 selects one of two texts, and `{{` is a brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Code of the diagnostic: `SK9203`.
    pub code: String,
    /// The text, with placeholders for values.
    pub message: String,
    /// The source position, then the operator calls that lead there, innermost first: `path:line:column-line:column:
    /// name`, without the end if a location has none.
    pub trace: Vec<String>,
}

/// The maximum size of an arena or a tensor in bytes: 1 TiB.
pub const LARGEST: u64 = 1 << 40;

impl PortExtent {
    /// The extent, or its upper bound.
    pub fn bound(self) -> u64 {
        match self {
            PortExtent::Fixed(n) | PortExtent::Dynamic(n) => n,
        }
    }
}

impl Port {
    /// The name in the graph; the name of the pack for an item of a pack.
    pub fn group(&self) -> &str {
        let pack = self.pack.as_ref();
        pack.map_or(&self.name, |pack| &pack.name)
    }

    fn add_import(&mut self, name: &str, element: Option<ElementType>) {
        if self.group() != name && !self.aliases.iter().any(|alias| alias == name) {
            self.aliases.push(name.to_owned());
        }
        let is_other = |e: &ElementType| *e != self.element && e.kind() == self.element.kind();
        self.imported = element.filter(is_other);
    }

    /// The element type of arrays that callers pass: the type in the imported model, if it differs.
    pub fn declared(&self) -> ElementType {
        self.imported.unwrap_or(self.element)
    }

    /// Whether the tensor has this name, in the graph or as an alias.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Whether some extent is dynamic.
    pub fn is_dynamic(&self) -> bool {
        self.shape.iter().any(|e| matches!(e, PortExtent::Dynamic(_)))
    }

    /// The size in bytes of the largest tensor that fits the port; `None` above [`LARGEST`].
    pub fn byte_bound(&self) -> Option<u64> {
        let mut bytes = self.element.size() as u64;
        let mut empty = false;
        for extent in &self.shape {
            if extent.bound() == 0 {
                empty = true;
                continue;
            }
            bytes = bytes.checked_mul(extent.bound()).filter(|b| *b <= LARGEST)?;
        }
        Some(if empty { 0 } else { bytes })
    }
}
