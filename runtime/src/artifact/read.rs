// SPDX-License-Identifier: Apache-2.0
//! Bytes → artifact; an inconsistent file is an error.

use super::write::{MAGIC, VERSION};
use super::{ArenaLayout, Artifact, Check, ELEMENTS, LARGEST, PackPlace, Port, PortExtent, Target};

/// Why bytes are not a compiled model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// The bytes begin with another magic number.
    #[error("this is not a compiled model (its first bytes are not SKRIPTM)")]
    Magic,
    /// A compiled model in another version of the file format.
    #[error(
        "compiled model of format {found}; this program reads format {VERSION}: compile the model again"
    )]
    Version {
        /// The version of the bytes.
        found: u32,
    },
    /// The checksum does not match: the bytes were changed.
    #[error("compiled model is damaged: its checksum differs")]
    Checksum,
    /// The bytes are truncated.
    #[error("compiled model ends early: {what} at byte {at}")]
    Truncated {
        /// The part of the format.
        what: &'static str,
        /// The offset of the byte.
        at: usize,
    },
    /// The bytes are inconsistent.
    #[error("compiled model is invalid: {what} at byte {at}")]
    Invalid {
        /// The part of the format.
        what: &'static str,
        /// The offset of the byte.
        at: usize,
    },
}

const SUM: usize = 32;
/// The maximum rank.
const MOST_DIMENSIONS: usize = 64;

impl Artifact {
    /// Reads an artifact from the bytes of [`Artifact::to_bytes`].
    ///
    /// # Errors
    /// [`ArtifactError`] for other bytes: wrong magic, version or checksum, truncated, or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Artifact, ArtifactError> {
        let mut file = Reader { bytes, at: 0 };
        if file.take(MAGIC.len(), "magic").ok() != Some(MAGIC.as_slice()) {
            return Err(ArtifactError::Magic);
        }
        let found = file.u32("version")?;
        if found != VERSION {
            return Err(ArtifactError::Version { found });
        }
        let length = file.u64("length")?;
        let header = file.at;
        let body = usize::try_from(length)
            .ok()
            .filter(|n| {
                header.checked_add(*n).and_then(|e| e.checked_add(SUM)) == Some(bytes.len())
            })
            .ok_or(ArtifactError::Truncated {
                what: "body",
                at: header,
            })?;
        let (content, sum) = bytes
            .split_at_checked(header + body)
            .ok_or(ArtifactError::Checksum)?;
        if blake3::hash(content).as_bytes() != sum {
            return Err(ArtifactError::Checksum);
        }
        let mut reader = Reader {
            bytes: content,
            at: header,
        };
        let artifact = reader.artifact()?;
        if reader.at != content.len() {
            return Err(reader.invalid("bytes after the object"));
        }
        Ok(artifact)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn invalid(&self, what: &'static str) -> ArtifactError {
        ArtifactError::Invalid { what, at: self.at }
    }

    fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], ArtifactError> {
        let end = self.at.checked_add(n);
        let slice = end.and_then(|end| self.bytes.get(self.at..end));
        let slice = slice.ok_or(ArtifactError::Truncated { what, at: self.at })?;
        self.at += n;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ArtifactError> {
        let at = self.at;
        let slice = self.take(N, what)?;
        slice
            .try_into()
            .map_err(|_| ArtifactError::Truncated { what, at })
    }

    fn u8(&mut self, what: &'static str) -> Result<u8, ArtifactError> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, ArtifactError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, ArtifactError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    fn string(&mut self, what: &'static str) -> Result<String, ArtifactError> {
        let n = self.u32(what)?;
        let n = usize::try_from(n).map_err(|_| self.invalid(what))?;
        let bytes = self.take(n, what)?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.invalid(what))?;
        Ok(text.to_owned())
    }

    /// A count and its items. Memory grows with the items that are read, not with the stated count.
    fn list<T>(
        &mut self,
        what: &'static str,
        item: impl Fn(&mut Self) -> Result<T, ArtifactError>,
    ) -> Result<Vec<T>, ArtifactError> {
        let n = self.u32(what)?;
        let mut items = Vec::new();
        for _ in 0..n {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn port(&mut self) -> Result<Port, ArtifactError> {
        let name = self.string("port name")?;
        let aliases = self.list("aliases", |r| r.string("alias"))?;
        let element = self.u8("element type")?;
        let element = ELEMENTS.get(usize::from(element)).copied();
        let element = element.ok_or_else(|| self.invalid("element type"))?;
        let shape = self.list("extents", |r| {
            let tag = r.u8("extent")?;
            let n = r.u64("extent")?;
            match tag {
                0 => Ok(PortExtent::Fixed(n)),
                1 => Ok(PortExtent::Dynamic(n)),
                _ => Err(r.invalid("extent")),
            }
        })?;
        if shape.len() > MOST_DIMENSIONS {
            return Err(self.invalid("rank"));
        }
        let pack = match self.u8("pack")? {
            0 => None,
            1 => {
                let name = self.string("pack name")?;
                let (position, length) = (self.u32("pack position")?, self.u32("pack length")?);
                if position >= length {
                    return Err(self.invalid("pack position"));
                }
                Some(PackPlace {
                    name,
                    position,
                    length,
                })
            }
            _ => return Err(self.invalid("pack")),
        };
        let port = Port {
            name,
            aliases,
            element,
            shape,
            pack,
        };
        if port.byte_bound().is_none() {
            return Err(self.invalid("tensor size"));
        }
        Ok(port)
    }

    fn artifact(&mut self) -> Result<Artifact, ArtifactError> {
        let target = Target {
            triple: self.string("triple")?,
            cpu: self.string("cpu")?,
            features: self.string("features")?,
        };
        let entry = self.string("entry")?;
        if entry.is_empty() || entry.contains('\0') {
            return Err(self.invalid("entry symbol"));
        }
        let arena = ArenaLayout {
            size: self.u64("arena size")?,
            alignment: self.u64("arena alignment")?,
        };
        if arena.size > LARGEST || !arena.alignment.is_power_of_two() || arena.alignment > 1 << 21 {
            return Err(self.invalid("arena"));
        }
        let prepared = self.u64("prepared size")?;
        if prepared > LARGEST {
            return Err(self.invalid("prepared size"));
        }
        let inputs = self.list("inputs", Self::port)?;
        let variables = self.list("variables", Self::port)?;
        let outputs = self.list("outputs", Self::port)?;
        let updates = self.list("updates", |r| Ok((r.u32("update")?, r.u32("update")?)))?;
        let fits = |n: u32, list: &[Port]| usize::try_from(n).is_ok_and(|n| n < list.len());
        if !updates
            .iter()
            .all(|(v, o)| fits(*v, &variables) && fits(*o, &outputs))
        {
            return Err(self.invalid("updates"));
        }
        let checks = self.list("checks", |r| {
            Ok(Check {
                code: r.string("check")?,
                message: r.string("check")?,
                trace: r.list("trace", |r| r.string("trace"))?,
            })
        })?;
        let length = self.u64("object")?;
        let length = usize::try_from(length).map_err(|_| self.invalid("object"))?;
        let object = self.take(length, "object")?.to_vec();
        Ok(Artifact {
            target,
            entry,
            arena,
            prepared,
            inputs,
            variables,
            outputs,
            updates,
            checks,
            object,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;

    fn sample() -> Artifact {
        Artifact {
            target: Target {
                triple: "x86_64-unknown-linux-gnu".into(),
                cpu: "x86-64".into(),
                features: "+sse2".into(),
            },
            entry: "skript_entry".into(),
            arena: ArenaLayout {
                size: 128,
                alignment: 64,
            },
            prepared: 0,
            inputs: vec![Port {
                name: "x".into(),
                aliases: vec!["main.G.x".into()],
                element: ElementType::F32,
                shape: vec![PortExtent::Fixed(2), PortExtent::Dynamic(7)],
                pack: Some(PackPlace {
                    name: "xs".into(),
                    position: 1,
                    length: 2,
                }),
            }],
            variables: vec![],
            outputs: vec![],
            updates: vec![],
            checks: vec![Check {
                code: "SK9204".into(),
                message: "extent {0} differs from {1}".into(),
                trace: vec!["main.sknd:3:4-3:9: f".into()],
            }],
            object: vec![1, 2, 3],
        }
    }

    /// A body with a correct checksum.
    fn sealed(mut file: Vec<u8>) -> Vec<u8> {
        file.truncate(file.len() - 32);
        let sum = blake3::hash(&file);
        file.extend(sum.as_bytes());
        file
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = sample().to_bytes();
        assert_eq!(&bytes[..8], b"SKRIPTM\n");
        assert_eq!(Artifact::from_bytes(&bytes), Ok(sample()));
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_noticed() {
        let bytes = sample().to_bytes();
        for n in 0..bytes.len() {
            assert!(Artifact::from_bytes(&bytes[..n]).is_err(), "cut at {n}");
            let mut flipped = bytes.clone();
            flipped[n] ^= 0x41;
            assert!(Artifact::from_bytes(&flipped).is_err(), "flipped {n}");
        }
    }

    #[test]
    fn a_lie_with_a_right_checksum_never_panics() {
        let bytes = sample().to_bytes();
        let mut refused = 0;
        for n in 20..bytes.len() - 32 {
            for value in [0, 1, 0x7f, 0xff] {
                let mut lie = bytes.clone();
                lie[n] = value;
                refused += usize::from(Artifact::from_bytes(&sealed(lie)).is_err());
            }
        }
        assert!(refused > 50, "{refused}");
    }

    #[test]
    fn sizes_beyond_memory_are_refused() {
        let mut artifact = sample();
        artifact.inputs[0].shape = vec![PortExtent::Fixed(1 << 40), PortExtent::Fixed(1 << 40)];
        let error = Artifact::from_bytes(&artifact.to_bytes()).unwrap_err();
        assert!(error.to_string().contains("tensor size"), "{error}");
        let mut artifact = sample();
        artifact.arena.alignment = 48;
        assert!(Artifact::from_bytes(&artifact.to_bytes()).is_err());
    }
}
