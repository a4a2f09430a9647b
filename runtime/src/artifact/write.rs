// SPDX-License-Identifier: Apache-2.0
//! Serializes artifacts.

use super::embedded::ALIGNMENT;
use super::{Artifact, Embedded, Language, Port, PortExtent};
use skript_host::overwrite;
use skript_tensor::ElementType;
use std::path::Path;

pub(super) const MAGIC: &[u8; 8] = b"SKRIPTM\n";
/// The version of the file format.
pub const VERSION: u32 = 8;

impl Artifact {
    /// The artifact as the bytes of a file; equal artifacts have equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (mut bytes, weights) = self.to_parts();
        bytes.extend(weights);
        bytes
    }

    /// Writes the artifact to a file, which replaces one with the same name: running code may be mapped from that.
    ///
    /// # Errors
    /// The error of the system; an old file remains.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let (head, weights) = self.to_parts();
        overwrite(path, &[&head, weights])
    }

    /// Like [`Artifact::to_bytes`], without a copy of embedded weights: the bytes before them, and the weights.
    fn to_parts(&self) -> (Vec<u8>, &[u8]) {
        let mut body = Vec::with_capacity(self.object.len() + 4096);
        for text in [&self.target.triple, &self.target.cpu, &self.target.features, &self.entry] {
            string(&mut body, text);
        }
        body.extend(self.arena.size.to_le_bytes());
        body.extend(self.arena.alignment.to_le_bytes());
        body.extend(self.prepared.to_le_bytes());
        for ports in [&self.inputs, &self.variables, &self.outputs] {
            count(&mut body, ports.len());
            ports.iter().for_each(|p| port(&mut body, p));
        }
        count(&mut body, self.unread.len());
        for variable in &self.unread {
            body.extend(variable.to_le_bytes());
        }
        count(&mut body, self.updates.len());
        for (variable, output) in &self.updates {
            body.extend(variable.to_le_bytes());
            body.extend(output.to_le_bytes());
        }
        count(&mut body, self.checks.len());
        for check in &self.checks {
            string(&mut body, &check.code);
            string(&mut body, &check.message);
            strings(&mut body, &check.trace);
        }
        body.push(self.embedded.is_some().into());
        match &self.kernels {
            None => body.push(0),
            Some(kernels) => {
                let Some((code, _)) = (1..).zip(Language::ALL).find(|(_, l)| *l == kernels.language) else {
                    unreachable!("all languages have a code")
                };
                body.push(code);
                long(&mut body, &kernels.code);
                strings(&mut body, &kernels.names);
            }
        }
        long(&mut body, &self.object);

        let mut file = Vec::with_capacity(body.len() + 128);
        file.extend(MAGIC);
        file.extend(VERSION.to_le_bytes());
        file.extend((body.len() as u64).to_le_bytes());
        file.extend(body);
        let sum = blake3::hash(&file);
        file.extend(sum.as_bytes());
        if self.embedded.is_some() {
            file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        }
        (file, self.embedded.as_ref().map_or(&[][..], Embedded::data))
    }
}

/// Writes the length of a list. Lists in memory have fewer than 2³² items; the reader would reject a longer list.
fn count(body: &mut Vec<u8>, n: usize) {
    body.extend(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
}

fn long(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as u64).to_le_bytes());
    body.extend(bytes);
}

fn string(body: &mut Vec<u8>, text: &str) {
    count(body, text.len());
    body.extend(text.as_bytes());
}

fn strings(body: &mut Vec<u8>, texts: &[String]) {
    count(body, texts.len());
    texts.iter().for_each(|t| string(body, t));
}

fn port(body: &mut Vec<u8>, port: &Port) {
    string(body, &port.name);
    strings(body, &port.aliases);
    body.push(port.element.code());
    body.push(port.imported.is_some().into());
    body.extend(port.imported.map(ElementType::code));
    count(body, port.shape.len());
    for extent in &port.shape {
        let (tag, n) = match extent {
            PortExtent::Fixed(n) => (0, n),
            PortExtent::Dynamic(n) => (1, n),
        };
        body.push(tag);
        body.extend(n.to_le_bytes());
    }
    match &port.pack {
        None => body.push(0),
        Some(pack) => {
            body.push(1);
            string(body, &pack.name);
            body.extend(pack.position.to_le_bytes());
            body.extend(pack.length.to_le_bytes());
        }
    }
}
