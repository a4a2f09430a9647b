//! The variables of a model from its folder.

use crate::dat;
use crate::element::ElementType;
use crate::error::TensorError;
use crate::random::{self, Purpose};
use crate::tensor::Tensor;
use skript_semantics::ScalarKind;
use std::path::{Path, PathBuf};

/// A variable to load: its file is `<name>.dat`, or `<alias>.dat` for the first alias that exists.
#[derive(Clone, Debug)]
pub struct VariableRequest<'a> {
    pub name: &'a str,
    pub aliases: &'a [String],
    pub kind: ScalarKind,
    pub shape: Vec<u64>,
}

/// What a variable without a file becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingWeights {
    Error,
    Zero,
    /// [`random::fill`] with this seed.
    Random(u64),
}

/// Loads all variables, in order, in run-time representation; f32 files stay mapped.
///
/// All variables that are missing or wrong are reported, not only the first. `folder` may be absent (a model given as a
/// single file): then every variable is missing. A file outside of the folder is never opened.
pub fn load_variables(
    folder: Option<&Path>,
    requests: &[VariableRequest<'_>],
    missing: MissingWeights,
) -> Result<Vec<Tensor>, Vec<TensorError>> {
    let (mut tensors, mut errors) = (Vec::new(), Vec::new());
    for request in requests {
        match load(folder, request, missing) {
            Ok(tensor) => tensors.push(tensor),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(tensors)
    } else {
        Err(errors)
    }
}

fn load(
    folder: Option<&Path>,
    request: &VariableRequest<'_>,
    missing: MissingWeights,
) -> Result<Tensor, TensorError> {
    let names = std::iter::once(request.name).chain(request.aliases.iter().map(String::as_str));
    for name in names {
        let file = file_name(name)?;
        let Some(path) = folder.map(|f| f.join(&file)).filter(|p| p.exists()) else {
            continue;
        };
        let tensor = dat::read(&path)?;
        // The path tells which file is wrong, its name which variable.
        let what = path.display().to_string();
        tensor.expect(&what, request.kind, &request.shape)?;
        return tensor.into_run_time(&what, request.kind);
    }
    match missing {
        MissingWeights::Error => Err(TensorError::Missing {
            name: request.name.to_string(),
            path: folder
                .unwrap_or(Path::new(""))
                .join(file_name(request.name)?),
        }),
        MissingWeights::Zero => Tensor::zeros(ElementType::run_time(request.kind), &request.shape),
        MissingWeights::Random(seed) => random::fill(
            request.kind,
            &request.shape,
            seed,
            request.name,
            Purpose::Weight,
        ),
    }
}

/// `<name>.dat`, if that is the name of a file in a folder and nothing else.
pub fn file_name(name: &str) -> Result<PathBuf, TensorError> {
    if name.is_empty() || name.contains(['/', '\\', '\0']) {
        return Err(TensorError::Name {
            name: name.to_string(),
        });
    }
    Ok(PathBuf::from(format!("{name}.dat")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(name: &'a str, aliases: &'a [String]) -> VariableRequest<'a> {
        VariableRequest {
            name,
            aliases,
            kind: ScalarKind::Real,
            shape: vec![2],
        }
    }

    fn save(folder: &Path, name: &str, tensor: &Tensor) {
        let path = folder.join(file_name(name).unwrap());
        let mut file = std::fs::File::create(&path).unwrap();
        dat::write(&path, tensor, &mut file).unwrap();
    }

    #[test]
    fn all_wrong_variables_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        save(
            folder.path(),
            "m.b",
            &Tensor::from_f32(&[3], &[0.0; 3]).unwrap(),
        );
        save(
            folder.path(),
            "m.c",
            &Tensor::from_i64(&[2], &[0; 2]).unwrap(),
        );
        let requests = ["m.a", "m.b", "m.c", "../m"].map(|n| request(n, &[]));
        let errors =
            load_variables(Some(folder.path()), &requests, MissingWeights::Error).unwrap_err();
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 4);
        assert!(texts[0].contains("variable m.a"));
        assert!(
            texts[1].contains("m.b.dat is [3] instead of [2]"),
            "{}",
            texts[1]
        );
        assert!(
            texts[2].contains("m.c.dat are int (i64) instead of real"),
            "{}",
            texts[2]
        );
        assert!(texts[3].contains("../m"));
    }

    #[test]
    fn aliases_and_fillings_stand_in() {
        let folder = tempfile::tempdir().unwrap();
        save(
            folder.path(),
            "m.vs_1",
            &Tensor::from_f32(&[2], &[4.0, 5.0]).unwrap(),
        );
        let aliases = ["m.vs_1".to_string()];
        let requests = [request("m.vs:1", &aliases), request("m.w", &[])];
        let tensors = load_variables(Some(folder.path()), &requests, MissingWeights::Zero).unwrap();
        assert_eq!(tensors[0].as_f32(), Some(&[4.0, 5.0][..]));
        assert_eq!(tensors[1].as_f32(), Some(&[0.0, 0.0][..]));
    }
}
