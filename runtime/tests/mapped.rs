// SPDX-License-Identifier: Apache-2.0
//! Weights whose file changes while compiled code reads it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skript_runtime::artifact::{ArenaLayout, Artifact, Port, PortExtent};
use skript_runtime::run::{compute, slots};
use skript_runtime::{Instance, Prepared, Program, RunError, embed, program};
use skript_tensor::{ElementType, MissingWeights, Tensor, VariableRequest, WeightStore, dat, load_variables};
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// y = the sum of w.
const SOURCE: &str = "
#include <stdint.h>
int32_t skript_entry(void *const *t, uint8_t *arena, int64_t *context) {
  const float *w = t[0]; float *y = t[1], sum = 0;
  for (int i = 0; i < 1 << 20; i++) sum += w[i];
  *y = sum;
  return 0;
}";
/// p = the sum of w, computed once; y = p, plus the first element of w.
const PREPARES: &str = "
#include <stdint.h>
void skript_prepare(void *const *t) {
  const float *w = t[0]; float *p = t[2], sum = 0;
  for (int i = 0; i < 1 << 20; i++) sum += w[i];
  *p = sum;
}
int32_t skript_entry(void *const *t, uint8_t *arena, int64_t *context) {
  const float *w = t[0], *p = t[2]; float *y = t[1];
  *y = *p + w[0];
  return 0;
}";
const ELEMENTS: u64 = 1 << 20;

fn port(name: &str, extent: u64) -> Port {
    Port {
        name: name.into(),
        aliases: vec![],
        element: ElementType::F32,
        imported: None,
        shape: vec![PortExtent::Fixed(extent)],
        pack: None,
    }
}

fn instance() -> Instance {
    Instance::new(&program_of(SOURCE, 0)).unwrap()
}

fn program_of(code: &str, prepared: u64) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("e.c"), folder.path().join("e.o"));
    std::fs::write(&source, code).unwrap();
    let compiler =
        Command::new("clang-22").args(["-O1", "-c", "-fPIC", "-o"]).args([&object, &source]).status();
    assert!(compiler.unwrap().success());
    let artifact = Artifact {
        target: program::host(),
        entry: "skript_entry".into(),
        arena: ArenaLayout { size: 64, alignment: 64 },
        prepared,
        inputs: vec![],
        variables: vec![port("w", ELEMENTS)],
        unread: vec![],
        outputs: vec![port("y", 1)],
        updates: vec![],
        checks: vec![],
        object: std::fs::read(object).unwrap(),
        kernels: None,
        embedded: None,
    };
    Program::load(artifact).unwrap()
}

fn weights(folder: &Path) -> Tensor {
    let path = folder.join("w.dat");
    let tensor = Tensor::from_f32(&[ELEMENTS], &[0.5; ELEMENTS as usize]).unwrap();
    dat::write(&path, &tensor, &mut File::create(&path).unwrap()).unwrap();
    let request =
        VariableRequest { name: "w", aliases: &[], element: ElementType::F32, shape: vec![ELEMENTS] };
    let store = WeightStore::open(folder, 0).unwrap();
    let loaded = load_variables(&store, &[request], MissingWeights::Error);
    let loaded = loaded.unwrap().remove(0);
    assert!(loaded.is_mapped());
    loaded
}

fn opened(folder: &Path) -> File {
    File::options().write(true).open(folder.join("w.dat")).unwrap()
}

/// Without a handler of SIGBUS, the process would end.
#[test]
fn truncated_weights_fail_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let (mut instance, weights) = (instance(), weights(folder.path()));
    let sum = compute(&mut instance, &[], &[&weights]).unwrap();
    assert_eq!(sum[0].as_f32(), Some(&[0.5 * ELEMENTS as f32][..]));
    opened(folder.path()).set_len(1 << 20).unwrap();
    let mut outputs = slots(instance.program().artifact()).unwrap();
    let error = instance.call(&[], &[&weights], &mut outputs).unwrap_err();
    assert!(matches!(error, RunError::Changed(_)));
    assert!(error.to_string().contains("w.dat changed"), "{error}");
}

#[test]
fn weights_that_are_written_to_fail_the_run() {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let folder = tempfile::tempdir().unwrap();
    let (mut instance, weights) = (instance(), weights(folder.path()));
    // Modification times have a coarse resolution.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let mut file = opened(folder.path());
    file.seek(SeekFrom::Start(128)).unwrap();
    file.write_all(&1e6f32.to_le_bytes()).unwrap();
    let error = compute(&mut instance, &[], &[&weights]).unwrap_err();
    assert!(matches!(error, RunError::Changed(_)), "{error}");
}

/// The memory of the process's mapping of a file, in KiB.
#[cfg(target_os = "linux")]
fn resident(path: &Path) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let name = path.to_str().unwrap();
    let lines = maps.lines().skip_while(|line| !line.ends_with(name));
    let line = lines.skip(1).find(|line| line.starts_with("Rss:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// y = p, the sum of w, which only the preparation reads.
const PREPARES_ALL: &str = "
#include <stdint.h>
void skript_prepare(void *const *t) {
  const float *w = t[0]; float *p = t[2], sum = 0;
  for (int i = 0; i < 1 << 20; i++) sum += w[i];
  *p = sum;
}
int32_t skript_entry(void *const *t, uint8_t *arena, int64_t *context) {
  *(float *)t[1] = *(const float *)t[2];
  return 0;
}";

/// An embedded variable that only the preparation reads is not in the file.
#[test]
fn embedded_weights_are_prepared_once_and_never_again() {
    let folder = tempfile::tempdir().unwrap();
    let weights = weights(folder.path());
    let mut artifact = program_of(PREPARES_ALL, 64).artifact().clone();
    artifact.unread = vec![0];
    let path = folder.path().join("m.skm");
    let bytes = embed(artifact, &[&weights], 1).unwrap().to_bytes();
    assert!(bytes.len() < 1 << 16, "{}", bytes.len());
    std::fs::write(&path, bytes).unwrap();
    let artifact = Artifact::open(&path).unwrap();
    let variables = artifact.embedded.as_ref().unwrap().variables().to_vec();
    let mut instance = Instance::new(&Program::load(artifact).unwrap()).unwrap();
    for _ in 0..2 {
        let sum = compute(&mut instance, &[], &[&variables[0]]).unwrap();
        assert_eq!(sum[0].as_f32(), Some(&[0.5 * ELEMENTS as f32][..]));
        instance.forget();
    }
    let error = compute(&mut instance, &[], &[&weights]).unwrap_err();
    assert_eq!(error, RunError::Embedded);
    // A file that is written to while it is mapped.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.push(0);
    std::fs::write(&path, bytes).unwrap();
    let error = compute(&mut instance, &[], &[&variables[0]]).unwrap_err();
    assert!(matches!(error, RunError::Changed(_)), "{error}");
}

/// Preparation releases the originals from memory; an original that the entry also reads is mapped again.
#[cfg(target_os = "linux")]
#[test]
fn prepared_weights_release_their_originals() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.dat");
    let (program, weights) = (program_of(PREPARES, 64), weights(folder.path()));
    let prepared = Prepared::new(&program, &[&weights], 1).unwrap();
    assert!(resident(&path) < 64, "{}", resident(&path));
    let mut instance = Instance::new(&program).unwrap();
    instance.set_prepared(prepared);
    let sum = compute(&mut instance, &[], &[&weights]).unwrap();
    assert_eq!(sum[0].as_f32(), Some(&[0.5 * ELEMENTS as f32 + 0.5][..]));
}
