// SPDX-License-Identifier: Apache-2.0
//! An artifact linked into this process.

use crate::artifact::{Artifact, Target};
use crate::error::LoadError;
use crate::loader::{Entry, Linked, Prepare};
use crate::processor;
use std::sync::Arc;

/// The symbol of the function that prepares variables.
const PREPARE: &str = "skript_prepare";

/// Loaded code with its interface; shared by its instances, on any number of threads.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    artifact: Artifact,
    linked: Linked,
}

impl Program {
    /// Links the artifact's code.
    ///
    /// # Errors
    /// [`LoadError`] if the code was compiled for another kind of processor, or cannot be linked.
    pub fn load(artifact: Artifact) -> Result<Program, LoadError> {
        fits(&artifact.target, &host())?;
        let prepare = (artifact.prepared > 0).then_some(PREPARE);
        let linked = Linked::new(&artifact.object, &artifact.entry, prepare)?;
        Ok(Program { inner: Arc::new(Inner { artifact, linked }) })
    }

    /// The compiled model.
    pub fn artifact(&self) -> &Artifact {
        &self.inner.artifact
    }

    pub(crate) fn entry(&self) -> Entry {
        self.inner.linked.entry()
    }

    pub(crate) fn prepare(&self) -> Option<Prepare> {
        self.inner.linked.prepare()
    }

    pub(crate) fn is(&self, other: &Program) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

/// This processor: its architecture, its name and its features, by LLVM's names.
pub fn host() -> Target {
    let features: Vec<String> = processor::features().iter().map(|f| format!("+{f}")).collect();
    Target {
        triple: format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
        cpu: processor::name(),
        features: features.join(","),
    }
}

/// Whether code for `wanted` runs on `host`.
fn fits(wanted: &Target, host: &Target) -> Result<(), LoadError> {
    fn architecture(triple: &str) -> &str {
        triple.split_once('-').map_or(triple, |(architecture, _)| architecture)
    }
    if architecture(&wanted.triple) != architecture(&host.triple) {
        return Err(LoadError::Triple { artifact: wanted.triple.clone(), host: host.triple.clone() });
    }
    let has = |f: &str| host.features.split(',').any(|h| h == f);
    let missing: Vec<&str> = wanted
        .features
        .split(',')
        .filter(|f| f.starts_with('+') && !has(f))
        .map(|f| f.trim_start_matches('+'))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(LoadError::Features {
        artifact: wanted.cpu.clone(),
        missing: missing.join(", "),
        cpu: host.cpu.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(triple: &str, features: &str) -> Target {
        Target { triple: triple.into(), cpu: "some".into(), features: features.into() }
    }

    #[test]
    fn code_for_more_than_the_host_is_refused() {
        let host = target("x86_64-pc-linux-gnu", "+avx2,-avx512f,+fma");
        let here = "x86_64-unknown-linux-gnu";
        assert!(fits(&target(here, "+avx2,-avx512f"), &host).is_ok());
        let error = fits(&target(here, "+avx2,+avx512f"), &host).unwrap_err();
        assert!(error.to_string().contains("avx512f"), "{error}");
        assert!(fits(&target("aarch64-linux-gnu", ""), &host).is_err());
    }

    #[test]
    fn invalid_objects_are_rejected() {
        assert!(Linked::new(b"not an object", "skript_entry", None).is_err());
    }
}
