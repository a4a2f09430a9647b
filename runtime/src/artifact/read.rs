// SPDX-License-Identifier: Apache-2.0
//! Deserializes artifacts; inconsistent files are errors.

use super::embedded::ALIGNMENT;
use super::write::{MAGIC, VERSION};
use super::{
    ArenaLayout, Artifact, Check, Embedded, Kernels, LARGEST, Language, PackPlace, Port, PortExtent, Target,
};
use skript_host::RegularFile;
use skript_tensor::ElementType;
use skript_tensor::map::MappedFile;
use std::path::Path;

/// Why bytes are not a compiled model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// The file cannot be read.
    #[error("{0}")]
    File(String),
    /// The bytes begin with another magic number.
    #[error("this is not a compiled model (its first bytes are not SKRIPTM)")]
    Magic,
    /// A compiled model in another version of the file format.
    #[error("compiled model of format {found}; this program reads format {VERSION}: compile the model again")]
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
/// The maximum size of the body, which holds code and no weights: 1 GiB.
const MOST_BODY: u64 = 1 << 30;
/// The maximum rank.
const MOST_DIMENSIONS: usize = 64;

impl Artifact {
    /// Reads an artifact from a file. Embedded weights stay in it, mapped.
    ///
    /// # Errors
    /// [`ArtifactError::File`], and those of [`Artifact::from_bytes`].
    pub fn open(path: &Path) -> Result<Artifact, ArtifactError> {
        let file = RegularFile::open(path).map_err(|e| ArtifactError::File(e.to_string()))?;
        let file = MappedFile::map(path, file);
        let file = file.map_err(|e| ArtifactError::File(e.to_string()))?;
        let (artifact, weights) = Artifact::parse(file.bytes())?;
        let artifact = artifact.with_weights(weights, || Some(file.clone()))?;
        let intact = file.intact();
        intact.map_err(|e| ArtifactError::File(e.to_string()))?;
        Ok(artifact)
    }

    /// Reads an artifact from the bytes of [`Artifact::to_bytes`].
    ///
    /// # Errors
    /// [`ArtifactError`] for other bytes: wrong magic, version or checksum, truncated, or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Artifact, ArtifactError> {
        let (artifact, weights) = Artifact::parse(bytes)?;
        artifact.with_weights(weights, || MappedFile::filled(bytes.len(), |copy| copy.copy_from_slice(bytes)))
    }

    /// Adds the weights in a file from an offset on, if there are any.
    fn with_weights(
        mut self,
        start: Option<usize>,
        file: impl FnOnce() -> Option<MappedFile>,
    ) -> Result<Artifact, ArtifactError> {
        if let Some(at) = start {
            let embedded = file().and_then(|file| Embedded::within(&self, file, at));
            let what = "embedded weights";
            self.embedded = Some(embedded.ok_or(ArtifactError::Invalid { what, at })?);
        }
        Ok(self)
    }

    /// The artifact without embedded weights, and the offset of those.
    fn parse(bytes: &[u8]) -> Result<(Artifact, Option<usize>), ArtifactError> {
        let mut file = Reader { bytes, at: 0 };
        if file.take(MAGIC.len(), "magic").ok() != Some(MAGIC.as_slice()) {
            return Err(ArtifactError::Magic);
        }
        let version = file.u32("version")?;
        if version != VERSION {
            return Err(ArtifactError::Version { found: version });
        }
        let length = file.u64("length")?;
        let header = file.at;
        let truncated = ArtifactError::Truncated { what: "body", at: header };
        let body = usize::try_from(length).ok().filter(|_| length <= MOST_BODY);
        let end = body.and_then(|n| header.checked_add(n));
        let (content, rest) = end.and_then(|end| bytes.split_at_checked(end)).ok_or(truncated.clone())?;
        let (sum, after) = rest.split_at_checked(SUM).ok_or(truncated)?;
        if blake3::hash(content).as_bytes() != sum {
            return Err(ArtifactError::Checksum);
        }
        let mut reader = Reader { bytes: content, at: header };
        let (artifact, has_weights) = reader.artifact()?;
        if reader.at != content.len() {
            return Err(reader.invalid("bytes after the object"));
        }
        let end = content.len() + SUM;
        if has_weights {
            Ok((artifact, Some(end.next_multiple_of(ALIGNMENT))))
        } else if after.is_empty() {
            Ok((artifact, None))
        } else {
            Err(ArtifactError::Invalid { what: "bytes after the checksum", at: end })
        }
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
        slice.try_into().map_err(|_| ArtifactError::Truncated { what, at })
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

    fn element(&mut self) -> Result<ElementType, ArtifactError> {
        let code = self.u8("element type")?;
        ElementType::from_code(code.into()).ok_or_else(|| self.invalid("element type"))
    }

    fn port(&mut self) -> Result<Port, ArtifactError> {
        let name = self.string("port name")?;
        let aliases = self.list("aliases", |r| r.string("alias"))?;
        let element = self.element()?;
        let imported = match self.u8("imported element type")? {
            0 => None,
            1 => Some(self.element()?),
            _ => return Err(self.invalid("imported element type")),
        };
        if imported.is_some_and(|e| e == element || e.kind() != element.kind()) {
            return Err(self.invalid("imported element type"));
        }
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
                Some(PackPlace { name, position, length })
            }
            _ => return Err(self.invalid("pack")),
        };
        let port = Port { name, aliases, element, imported, shape, pack };
        if port.byte_bound().is_none() {
            return Err(self.invalid("tensor size"));
        }
        Ok(port)
    }

    /// A long length and as many bytes.
    fn long(&mut self, what: &'static str) -> Result<Vec<u8>, ArtifactError> {
        let length = self.u64(what)?;
        let length = usize::try_from(length).map_err(|_| self.invalid(what))?;
        Ok(self.take(length, what)?.to_vec())
    }

    fn kernels(&mut self) -> Result<Option<Kernels>, ArtifactError> {
        let Some(language) = self.u8("kernels")?.checked_sub(1) else {
            return Ok(None);
        };
        let language = Language::ALL.get(usize::from(language)).copied();
        Ok(Some(Kernels {
            language: language.ok_or_else(|| self.invalid("language of kernels"))?,
            code: self.long("kernels")?,
            names: self.list("kernels", |r| r.string("kernel"))?,
        }))
    }

    /// The artifact, and whether weights follow the artifact.
    fn artifact(&mut self) -> Result<(Artifact, bool), ArtifactError> {
        let target = Target {
            triple: self.string("triple")?,
            cpu: self.string("cpu")?,
            features: self.string("features")?,
        };
        let entry = self.string("entry")?;
        if entry.is_empty() || entry.contains('\0') {
            return Err(self.invalid("entry symbol"));
        }
        let arena = ArenaLayout { size: self.u64("arena size")?, alignment: self.u64("arena alignment")? };
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
        let unread = self.list("unread variables", |r| r.u32("unread variable"))?;
        let updates = self.list("updates", |r| Ok((r.u32("update")?, r.u32("update")?)))?;
        let fits = |n: u32, list: &[Port]| usize::try_from(n).is_ok_and(|n| n < list.len());
        if !unread.iter().all(|n| fits(*n, &variables)) {
            return Err(self.invalid("unread variables"));
        }
        if !updates.iter().all(|(v, o)| fits(*v, &variables) && fits(*o, &outputs)) {
            return Err(self.invalid("updates"));
        }
        let checks = self.list("checks", |r| {
            Ok(Check {
                code: r.string("check")?,
                message: r.string("check")?,
                trace: r.list("trace", |r| r.string("trace"))?,
            })
        })?;
        let has_weights = match self.u8("weights")? {
            0 => false,
            1 => true,
            _ => return Err(self.invalid("weights")),
        };
        let kernels = self.kernels()?;
        let object = self.long("object")?;
        let artifact = Artifact {
            target,
            entry,
            arena,
            prepared,
            inputs,
            variables,
            unread,
            outputs,
            updates,
            checks,
            object,
            kernels,
            embedded: None,
        };
        Ok((artifact, has_weights))
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use skript_tensor::Tensor;

    fn sample() -> Artifact {
        Artifact {
            target: Target {
                triple: "x86_64-unknown-linux-gnu".into(),
                cpu: "x86-64".into(),
                features: "+sse2".into(),
            },
            entry: "skript_entry".into(),
            arena: ArenaLayout { size: 128, alignment: 64 },
            prepared: 0,
            inputs: vec![Port {
                name: "x".into(),
                aliases: vec!["main.G.x".into()],
                element: ElementType::F32,
                imported: Some(ElementType::F16),
                shape: vec![PortExtent::Fixed(2), PortExtent::Dynamic(7)],
                pack: Some(PackPlace { name: "xs".into(), position: 1, length: 2 }),
            }],
            variables: vec![],
            unread: vec![],
            outputs: vec![],
            updates: vec![],
            checks: vec![Check {
                code: "SK9204".into(),
                message: "extent {0} differs from {1}".into(),
                trace: vec!["main.sknd:3:4-3:9: f".into()],
            }],
            object: vec![1, 2, 3],
            kernels: Some(Kernels {
                language: Language::SpirV,
                code: vec![4, 5],
                names: vec!["kernel_0".into()],
            }),
            embedded: None,
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
    fn imported_names_and_types_are_kept() {
        let mut artifact = sample();
        let mut port = artifact.inputs[0].clone();
        (port.name, port.imported, port.pack) = ("y".into(), None, None);
        artifact.outputs = vec![port.clone(), port];
        artifact.variables = artifact.outputs.clone();
        artifact.updates = vec![(0, 1)];
        let of = |element| [("y", "out/y", element), ("other", "z", ElementType::F16)];
        let inputs = [("xs", "in.1", Some(ElementType::F64)), ("xs", "xs", None)];
        artifact.add_import(inputs, of(ElementType::I32));
        // Its element type is of another kind.
        assert_eq!(artifact.outputs[0].imported, None);
        artifact.add_import([], of(ElementType::F64));
        assert_eq!(artifact.inputs[0].aliases, ["main.G.x", "in.1"]);
        assert_eq!(artifact.outputs[0].imported, Some(ElementType::F64));
        assert!(artifact.outputs[0].is_named("out/y") && artifact.outputs[0].is_named("y"));
        // The new value of a variable.
        assert_eq!(artifact.outputs[1].aliases, ["main.G.x"]);
        assert_eq!(Artifact::from_bytes(&artifact.to_bytes()), Ok(artifact));
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

    /// Two variables, of which the entry reads the second.
    fn with_weights() -> Artifact {
        let mut artifact = sample();
        let port = |name: &str, element| Port {
            name: name.into(),
            aliases: vec![],
            element,
            imported: None,
            shape: vec![PortExtent::Fixed(3)],
            pack: None,
        };
        artifact.prepared = 5;
        artifact.variables = vec![port("v", ElementType::F32), port("w", ElementType::Bool)];
        artifact.unread = vec![0];
        let v = Tensor::from_f32(&[3], &[1.0, 2.0, 3.0]).unwrap();
        let w = Tensor::from_bool(&[3], &[true, false, true]).unwrap();
        artifact.embedded = Embedded::new(&artifact, b"abcde", &[&v, &w]);
        assert!(artifact.embedded.is_some());
        artifact
    }

    #[test]
    fn embedded_weights_are_read_at_cache_lines() {
        let bytes = with_weights().to_bytes();
        let end = bytes.len();
        assert_eq!(bytes[end - 67..end - 62], *b"abcde");
        assert_eq!(bytes[end - 3..], [1, 0, 1]);
        assert_eq!((end - 3) % 64, 0);
        let artifact = Artifact::from_bytes(&bytes).unwrap();
        assert_eq!(artifact, with_weights());
        let embedded = artifact.embedded.as_ref().unwrap();
        assert_eq!(embedded.prepared().bytes(), b"abcde");
        assert_eq!(embedded.prepared().bytes().as_ptr().addr() % 64, 0);
        // Only the preparation reads the first variable.
        assert_eq!(embedded.variables()[0].as_f32(), Some(&[0.0; 3][..]));
        assert_eq!(embedded.variables()[1].bytes(), [1, 0, 1]);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.skm");
        std::fs::write(&path, &bytes).unwrap();
        let opened = Artifact::open(&path).unwrap();
        assert_eq!(opened, artifact);
        let (file, _) = opened.embedded.as_ref().unwrap().variables()[1].file().unwrap();
        assert!(file.version().is_some(), "mapped");
    }

    #[test]
    fn embedded_weights_of_another_length_are_refused() {
        let bytes = with_weights().to_bytes();
        for n in 0..bytes.len() {
            assert!(Artifact::from_bytes(&bytes[..n]).is_err(), "cut at {n}");
        }
        let longer = [&bytes[..], &[0]].concat();
        let error = Artifact::from_bytes(&longer).unwrap_err();
        assert!(error.to_string().contains("embedded weights"), "{error}");
        let longer = [&sample().to_bytes()[..], &[0]].concat();
        assert!(Artifact::from_bytes(&longer).is_err());
        // Elements that are neither 0 nor 1 in a bool tensor.
        let mut wrong = bytes.clone();
        *wrong.last_mut().unwrap() = 2;
        assert!(Artifact::from_bytes(&wrong).is_err());
    }

    /// Port sizes that contradict the weights.
    #[test]
    fn a_lie_about_embedded_weights_never_panics() {
        let bytes = with_weights().to_bytes();
        let head = sample().to_bytes().len();
        for n in 20..head.min(bytes.len()) {
            for value in [0, 1, 0x7f, 0xff] {
                let mut lie = bytes.clone();
                lie[n] = value;
                let length = u64::from_le_bytes(lie[12..20].try_into().unwrap());
                let end = 20 + usize::try_from(length).unwrap();
                let sum = blake3::hash(&lie[..end]);
                lie[end..end + 32].copy_from_slice(sum.as_bytes());
                let _ = Artifact::from_bytes(&lie);
            }
        }
        let mut artifact = with_weights();
        artifact.unread = vec![2];
        assert!(Artifact::from_bytes(&artifact.to_bytes()).is_err());
        artifact.unread = vec![0];
        artifact.variables[1].shape = vec![PortExtent::Dynamic(3)];
        assert!(Artifact::from_bytes(&artifact.to_bytes()).is_err());
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
