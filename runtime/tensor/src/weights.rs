// SPDX-License-Identifier: Apache-2.0
//! The variables of a model from its folder, a packed model, or a file with arrays.

use crate::archive::{self, Archive};
use crate::dat;
use crate::element::ElementType;
use crate::error::{Admits, TensorError};
use crate::gguf::Gguf;
use crate::held::HeldArrays;
use crate::map::MappedFile;
use crate::npz::Npz;
use crate::numbered_files::{numbered, numbered_in};
use crate::random::{self, Purpose};
use crate::safetensors::SafeTensors;
use crate::saved;
use crate::tensor::{self, Tensor};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A variable to load: its file is `<name>.dat`, or `<alias>.dat` for the first alias that exists.
#[derive(Clone, Debug)]
pub struct VariableRequest<'a> {
    /// The variable's full name in the model.
    pub name: &'a str,
    /// Aliases of the name in files.
    pub aliases: &'a [String],
    /// The requested type.
    pub element: ElementType,
    /// The extents, outermost first.
    pub shape: Vec<u64>,
}

/// How to fill a variable without a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingWeights {
    /// Missing variables are an error.
    Error,
    /// Missing variables are filled with zeros.
    Zero,
    /// [`random::fill`] with this seed.
    Random(u64),
}

/// Sources of variables, searched in order.
#[derive(Clone, Debug, Default)]
pub struct WeightStore {
    sources: Vec<Source>,
}

/// A folder or file of weights.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// `.dat` files, one for each variable. `newer` has the variables whose files have other names ([`saved`]).
    Folder {
        path: PathBuf,
        newer: BTreeSet<String>,
    },
    Packed(Archive),
    SafeTensors(SafeTensors),
    Npz(Npz),
    Gguf(Gguf),
    Held(HeldArrays),
    Arrays(Arc<HashMap<String, Tensor>>),
}

/// Whether a path has the extension of a file with arrays.
pub fn is_array_file(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    matches!(extension, Some("safetensors" | "npz" | "gguf"))
}

impl WeightStore {
    /// Whether there is no source.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// A folder of `.dat` files, then `<stem>.safetensors`, `<stem>.npz` and `<stem>.gguf` in it, if they exist. `max_bytes` bounds the
    /// unpacked size of a compressed array in bytes.
    ///
    /// # Errors
    /// [`TensorError`] if one of these files cannot be read.
    pub fn folder(folder: &Path, stem: &str, max_bytes: u64) -> Result<WeightStore, TensorError> {
        let newer = saved::pending(folder)?;
        let mut sources = vec![Source::Folder { path: folder.to_path_buf(), newer }];
        for extension in ["safetensors", "npz", "gguf"] {
            let path = folder.join(format!("{stem}.{extension}"));
            if path.exists() {
                sources.push(arrays(MappedFile::open_within(&path, folder)?, &path, max_bytes)?);
            }
        }
        Ok(WeightStore { sources })
    }

    /// The source that a path names: a file with arrays, a packed model, or else a folder. `max_bytes` bounds the unpacked
    /// size of a packed file, or of an array in a packed file.
    ///
    /// # Errors
    /// [`TensorError`] if it does not exist, or is a file that cannot be read.
    pub fn open(path: &Path, max_bytes: u64) -> Result<WeightStore, TensorError> {
        if is_array_file(path) && !path.is_dir() {
            return Ok(WeightStore { sources: vec![arrays(MappedFile::open(path)?, path, max_bytes)?] });
        }
        if archive::is_packed(path) && !path.is_dir() {
            return Archive::open(path, max_bytes).map(WeightStore::packed);
        }
        if path.as_os_str().is_empty() {
            return WeightStore::folder(Path::new("."), "main", max_bytes);
        }
        let metadata = std::fs::metadata(path).map_err(|e| TensorError::io(path, "read", e))?;
        if !metadata.is_dir() {
            let reason = "is neither a folder with weights nor a file with the extension .safetensors, .npz, .gguf or .tgz";
            return Err(TensorError::format(path, reason));
        }
        WeightStore::folder(path, "main", max_bytes)
    }

    /// The `.dat` files of a packed model.
    pub fn packed(archive: Archive) -> WeightStore {
        WeightStore { sources: vec![Source::Packed(archive)] }
    }

    /// Arrays of files in memory.
    pub fn held(arrays: HeldArrays) -> WeightStore {
        WeightStore { sources: vec![Source::Held(arrays)] }
    }

    /// Arrays in memory, by name.
    pub fn arrays(arrays: impl IntoIterator<Item = (String, Tensor)>) -> WeightStore {
        let shared = arrays.into_iter().map(|(name, tensor)| (name, tensor.into_shared()));
        WeightStore { sources: vec![Source::Arrays(Arc::new(shared.collect()))] }
    }

    /// The sources of `first`, then these.
    #[must_use]
    pub fn after(mut self, mut first: WeightStore) -> WeightStore {
        first.sources.append(&mut self.sources);
        first
    }

    /// The folders and files, in the order in which they are searched.
    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The array of this name in the first source that has it, in its stored type.
    ///
    /// # Errors
    /// [`TensorError`] if the array cannot be read.
    pub fn array(&self, name: &str) -> Result<Option<Tensor>, TensorError> {
        for source in &self.sources {
            if let Some(array) = source.get(name, &|_, _| Ok(()))? {
                return Ok(Some(array));
            }
        }
        Ok(None)
    }

    /// How to provide weights for a variable, for messages.
    fn expected(&self, name: &str) -> Result<PathBuf, TensorError> {
        let file = file_name(name)?;
        Ok(match self.sources.first() {
            None => file,
            Some(Source::Folder { path, .. }) => path.join(file),
            Some(Source::Packed(archive)) => archive.folder().join(file),
            Some(Source::SafeTensors(arrays)) => arrays.path().join(name),
            Some(Source::Npz(arrays)) => arrays.path().join(name),
            Some(Source::Gguf(arrays)) => arrays.path().join(name),
            Some(Source::Held(arrays)) => arrays.path().join(name),
            Some(Source::Arrays(_)) => PathBuf::from(name),
        })
    }
}

fn arrays(file: MappedFile, path: &Path, max_bytes: u64) -> Result<Source, TensorError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("safetensors") => SafeTensors::new(file, path).map(Source::SafeTensors),
        Some("gguf") => Gguf::new(file, path).map(Source::Gguf),
        _ => Npz::new(file, path, max_bytes).map(Source::Npz),
    }
}

impl Source {
    /// The tensor of this name, and its name in messages. Returns an error unless it has the requested kind and shape.
    fn find(
        &self,
        name: &str,
        request: &VariableRequest<'_>,
    ) -> Result<Option<(String, Tensor)>, TensorError> {
        let what = self.path_of(name)?.display().to_string();
        let admits = |element: ElementType, shape: &[u64]| {
            let kind = request.element.kind();
            tensor::expect(&what, (element, shape), kind, &request.shape)
        };
        Ok(self.get(name, &admits)?.map(|tensor| (what.clone(), tensor)))
    }

    /// The path in messages, which identifies the file and the variable.
    fn path_of(&self, name: &str) -> Result<PathBuf, TensorError> {
        Ok(match self {
            Source::Folder { path, .. } => path.join(file_name(name)?),
            Source::Packed(archive) => archive.folder().join(file_name(name)?),
            Source::SafeTensors(arrays) => arrays.path().join(name),
            Source::Npz(arrays) => arrays.path().join(name),
            Source::Gguf(arrays) => arrays.path().join(name),
            Source::Held(arrays) => arrays.path().join(name),
            Source::Arrays(_) => PathBuf::from(name),
        })
    }

    /// The array of this name, if there is one; only its header is read if `admits` rejects it.
    pub(crate) fn get(&self, name: &str, admits: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
        let path = self.path_of(name)?;
        Ok(match self {
            Source::Folder { path: folder, newer } => {
                let newer = newer.contains(name).then(|| saved::new_path(folder, name));
                let mut candidates = newer.into_iter().chain([path]).filter(|path| path.exists());
                candidates.next().map(|path| dat::read(&path, folder, admits)).transpose()?
            }
            Source::Packed(archive) => match archive.member(&path) {
                Some((whole, part)) => Some(dat::read_part(&path, whole.clone(), part, admits)?),
                None => None,
            },
            Source::SafeTensors(arrays) => arrays.get(name, admits)?,
            Source::Npz(arrays) => arrays.get(name, admits)?,
            Source::Gguf(arrays) => arrays.get(name, admits)?,
            Source::Held(arrays) => arrays.get(name, admits)?,
            Source::Arrays(arrays) => match arrays.get(name) {
                Some(tensor) => {
                    admits(tensor.element(), tensor.shape())?;
                    Some(tensor.clone())
                }
                None => None,
            },
        })
    }

    /// The tensor of this name in the requested types.
    fn load(&self, name: &str, request: &VariableRequest<'_>) -> Result<Option<Tensor>, TensorError> {
        let stored = self.find(name, request)?;
        stored.map(|(what, tensor)| tensor.into_run_time(&what, request.element)).transpose()
    }
}

/// Loads all variables in order, in the requested types; files of these types are mapped, not copied.
///
/// All variables that are missing or wrong are reported, not only the first. A file outside of a folder is never opened.
///
/// # Errors
/// All errors, in the order of the requests.
pub fn load_variables(
    store: &WeightStore,
    requests: &[VariableRequest<'_>],
    missing: MissingWeights,
) -> Result<Vec<Tensor>, Vec<TensorError>> {
    let (mut tensors, mut errors) = (Vec::new(), Vec::new());
    for loaded in load_each(store, requests, missing) {
        match loaded {
            Ok(tensor) => tensors.push(tensor),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(tensors) } else { Err(errors) }
}

/// The source of each variable. All variables of a model must be requested together: variables without a file of their
/// name are assigned to files with numbered names ([`crate::numbered`]), if a source has as many of them.
pub fn load_each(
    store: &WeightStore,
    requests: &[VariableRequest<'_>],
    missing: MissingWeights,
) -> Vec<Result<Tensor, TensorError>> {
    let named: Vec<_> = requests.iter().map(|r| store.named(r)).collect();
    let unnamed = named.iter().filter(|found| matches!(found, Ok(None)));
    let mut numbers = store.numbered(unnamed.count()).into_iter().flatten();
    let each = requests.iter().zip(named).map(|(request, found)| {
        if let Some(tensor) = found? {
            return Ok(tensor);
        }
        match numbers.next() {
            Some((source, name)) => match source.load(&name, request)? {
                Some(tensor) => Ok(tensor),
                None => store.substitute(request, missing),
            },
            None => store.substitute(request, missing),
        }
    });
    each.collect()
}

impl WeightStore {
    /// The variable under its name or an alias.
    fn named(&self, request: &VariableRequest<'_>) -> Result<Option<Tensor>, TensorError> {
        for source in &self.sources {
            let names = std::iter::once(request.name).chain(request.aliases.iter().map(String::as_str));
            for name in names {
                if let Some(tensor) = source.load(name, request)? {
                    return Ok(Some(tensor));
                }
            }
        }
        Ok(None)
    }

    /// The first source with `count` numbered files, and their names in order.
    fn numbered(&self, count: usize) -> Option<Vec<(&Source, String)>> {
        let mut sources = self.sources.iter().filter(|_| count > 0);
        sources.find_map(|source| {
            let names = match source {
                Source::Folder { path, .. } => numbered_in(path),
                Source::Packed(archive) => numbered(archive.names()),
                Source::SafeTensors(_)
                | Source::Npz(_)
                | Source::Gguf(_)
                | Source::Held(_)
                | Source::Arrays(_) => Vec::new(),
            };
            let fits = names.len() == count;
            fits.then(|| names.into_iter().map(|name| (source, name)).collect())
        })
    }

    /// The value of a variable without a file.
    fn substitute(
        &self,
        request: &VariableRequest<'_>,
        missing: MissingWeights,
    ) -> Result<Tensor, TensorError> {
        match missing {
            MissingWeights::Error => Err(TensorError::Missing {
                name: request.name.to_string(),
                path: self.expected(request.name)?,
            }),
            MissingWeights::Zero => Tensor::zeros(request.element, &request.shape),
            MissingWeights::Random(seed) => {
                random::fill(request.element, &request.shape, seed, request.name, Purpose::Weight)
            }
        }
    }
}

/// `<name>.dat`, if the name has no path separators.
///
/// # Errors
/// [`TensorError::Name`] for any other name.
pub fn file_name(name: &str) -> Result<PathBuf, TensorError> {
    if name.is_empty() || name.contains(['/', '\\', '\0']) {
        return Err(TensorError::Name { name: name.to_string() });
    }
    Ok(PathBuf::from(format!("{name}.dat")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(name: &'a str, aliases: &'a [String]) -> VariableRequest<'a> {
        VariableRequest { name, aliases, element: ElementType::F32, shape: vec![2] }
    }

    fn save(folder: &Path, name: &str, tensor: &Tensor) {
        let path = folder.join(file_name(name).unwrap());
        let mut file = std::fs::File::create(&path).unwrap();
        dat::write(&path, tensor, &mut file).unwrap();
    }

    #[test]
    fn all_wrong_variables_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), "m.b", &Tensor::from_f32(&[3], &[0.0; 3]).unwrap());
        save(folder.path(), "m.c", &Tensor::from_i64(&[2], &[0; 2]).unwrap());
        let requests = ["m.a", "m.b", "m.c", "../m"].map(|n| request(n, &[]));
        let store = WeightStore::open(folder.path(), 1 << 20).unwrap();
        let errors = load_variables(&store, &requests, MissingWeights::Error).unwrap_err();
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 4);
        assert!(texts[0].contains("variable m.a"));
        assert!(texts[1].contains("m.b.dat is [3] instead of [2]"), "{}", texts[1]);
        assert!(texts[2].contains("m.c.dat are int (i64) instead of real"), "{}", texts[2]);
        assert!(texts[3].contains("../m"));
    }

    #[test]
    fn missing_sources_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let store = WeightStore::open(&folder.path().join(name), 0);
            store.map(|_| ()).unwrap_err().to_string()
        };
        assert!(open("none").contains("cannot read"));
        std::fs::write(folder.path().join("w.txt"), "").unwrap();
        assert!(open("w.txt").contains("neither a folder with weights"));
        assert!(WeightStore::open(folder.path(), 0).is_ok());
        assert!(WeightStore::open(Path::new(""), 0).is_ok());
    }

    #[test]
    fn aliases_and_zeros_replace_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), "m.vs_1", &Tensor::from_f32(&[2], &[4.0, 5.0]).unwrap());
        let aliases = ["m.vs_1".to_string()];
        let requests = [request("m.vs:1", &aliases), request("m.w", &[])];
        let store = WeightStore::open(folder.path(), 1 << 20).unwrap();
        let tensors = load_variables(&store, &requests, MissingWeights::Zero).unwrap();
        assert_eq!(tensors[0].as_f32(), Some(&[4.0, 5.0][..]));
        assert_eq!(tensors[1].as_f32(), Some(&[0.0, 0.0][..]));
    }

    #[test]
    fn numbered_files_match_by_count() {
        let folder = tempfile::tempdir().unwrap();
        let tensor = |v: f32| Tensor::from_f32(&[2], &[v, v]).unwrap();
        save(folder.path(), "m.b", &tensor(1.0));
        save(folder.path(), ".T10", &tensor(3.0));
        save(folder.path(), ".T9", &tensor(2.0));
        let store = WeightStore::open(folder.path(), 1 << 20).unwrap();
        let requests = ["m.a", "m.b", "m.c"].map(|n| request(n, &[]));
        let tensors = load_variables(&store, &requests, MissingWeights::Error).unwrap();
        let firsts: Vec<f32> = tensors.iter().map(|t| t.as_f32().unwrap()[0]).collect();
        assert_eq!(firsts, [2.0, 1.0, 3.0]);

        let more = ["m.a", "m.b", "m.c", "m.d"].map(|n| request(n, &[]));
        let errors = load_variables(&store, &more, MissingWeights::Error).unwrap_err();
        assert_eq!(errors.len(), 3);

        save(folder.path(), ".T9", &Tensor::from_f32(&[3], &[0.0; 3]).unwrap());
        let errors = load_variables(&store, &requests, MissingWeights::Error).unwrap_err();
        assert!(errors[0].to_string().contains(".T9.dat is [3] instead of [2]"));
    }

    #[test]
    fn files_beside_a_model_come_after_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let in_file = Tensor::from_f32(&[2], &[4.0, 5.0]).unwrap();
        save(folder.path(), "m.a", &in_file);
        let header = r#"{"m.a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"m.b":{"dtype":"F16","shape":[2],"data_offsets":[8,12]}}"#;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend([0; 8]);
        bytes.extend([0x00, 0x3c, 0x00, 0xc0]);
        std::fs::write(folder.path().join("net.safetensors"), bytes).unwrap();
        let mut archive = zip::ZipWriter::new(std::fs::File::create(folder.path().join("net.npz")).unwrap());
        for name in ["m.b.npy", "m.c.npy"] {
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(name, options).unwrap();
            let tensor = Tensor::from_f32(&[2], &[7.0, 8.0]).unwrap();
            crate::npy::write(Path::new(name), &tensor, &mut archive).unwrap();
        }
        archive.finish().unwrap();
        let store = WeightStore::folder(folder.path(), "net", 1 << 20).unwrap();
        let requests = ["m.a", "m.b", "m.c"].map(|n| request(n, &[]));
        let tensors = load_variables(&store, &requests, MissingWeights::Error).unwrap();
        let values: Vec<&[f32]> = tensors.iter().filter_map(Tensor::as_f32).collect();
        assert_eq!(values, [[4.0, 5.0], [1.0, -2.0], [7.0, 8.0]]);

        let alone = WeightStore::open(&folder.path().join("net.npz"), 1 << 20).unwrap();
        let errors = load_variables(&alone, &requests, MissingWeights::Error).unwrap_err();
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 1);
        assert!(texts[0].contains("net.npz/m.a does not exist"), "{}", texts[0]);
    }
}
