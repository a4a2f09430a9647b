// SPDX-License-Identifier: Apache-2.0
//! Calls of a small program: values, errors, threads, and that a call does not allocate.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skript_runtime::artifact::{ArenaLayout, Artifact, Check, Port, PortExtent};
use skript_runtime::run::slots;
use skript_runtime::{Instance, LoadError, Program, RunError, program, run};
use skript_tensor::{ElementType, Tensor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::process::Command;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// y = cosh(x) · w through the arena; a negative w₀ fails check 1. If w₁ is not 0, the check comes after a stop; if w₁ is
/// negative, the check polls.
const SOURCE: &str = "
#include <stdint.h>
double cosh(double);
int32_t skript_entry(void *const *t, uint8_t *arena, int64_t *context) {
  const float *x = t[0], *w = t[1]; float *y = t[2], *s = (float *)arena;
  if (w[0] < 0) {
    context[0] = (int64_t)w[0];
    if (w[1] != 0) __atomic_store_n(&context[63], 1, __ATOMIC_RELAXED);
    return w[1] < 0 ? -1 : 1;
  }
  if (w[0] == 9) return 77;
  for (int i = 0; i < 4; i++) s[i] = (float)cosh(x[i]);
  for (int i = 0; i < 4; i++) y[i] = s[i] * w[i];
  return 0;
}";

fn port(name: &str) -> Port {
    Port {
        name: name.into(),
        aliases: vec![],
        element: ElementType::F32,
        imported: None,
        shape: vec![PortExtent::Fixed(4)],
        pack: None,
    }
}

fn artifact() -> Artifact {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("e.c"), folder.path().join("e.o"));
    std::fs::write(&source, SOURCE).unwrap();
    let compiler = Command::new("clang-22")
        .args(["-O1", "-c", "-fno-builtin", "-fPIC", "-o"])
        .args([&object, &source])
        .status();
    assert!(compiler.unwrap().success());
    Artifact {
        target: program::host(),
        entry: "skript_entry".into(),
        arena: ArenaLayout { size: 64, alignment: 64 },
        prepared: 0,
        inputs: vec![port("x")],
        variables: vec![port("w")],
        unread: vec![],
        outputs: vec![port("y")],
        updates: vec![],
        checks: vec![Check {
            code: "SK9203".into(),
            message: "weight {0} is negative".into(),
            trace: vec!["main.sknd:1:2".into()],
        }],
        object: std::fs::read(object).unwrap(),
        kernels: None,
        embedded: None,
    }
}

fn tensor(values: &[f32; 4]) -> Tensor {
    Tensor::from_f32(&[4], values).unwrap()
}

#[test]
fn values_come_out_and_mistakes_are_reported() {
    let artifact = artifact();
    let (x, w) = (tensor(&[0.0, 1.0, -1.0, 2.0]), tensor(&[1.0, 2.0, 3.0, 4.0]));
    let outputs = run(&artifact, &[&x], &[&w]).unwrap();
    let expected = [1.0f32, 2.0 * 1.543_080_6, 3.0 * 1.543_080_6, 4.0 * 3.762_195_7];
    let values = outputs[0].as_f32().unwrap();
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-5, "{value} {expected}");
    }

    let negative = tensor(&[-3.0, 0.0, 0.0, 0.0]);
    let error = run(&artifact, &[&x], &[&negative]).unwrap_err();
    assert_eq!(error.to_string(), "weight -3 is negative");
    let odd = tensor(&[9.0, 0.0, 0.0, 0.0]);
    let error = run(&artifact, &[&x], &[&odd]).unwrap_err();
    assert_eq!(error, RunError::Status(77));

    let square = Tensor::from_f32(&[2, 2], &[0.0; 4]).unwrap();
    let error = run(&artifact, &[&square], &[&w]).unwrap_err();
    assert!(error.to_string().contains("[4]"), "{error}");
    let integers = Tensor::zeros(ElementType::I32, &[4]).unwrap();
    let error = run(&artifact, &[&integers], &[&w]).unwrap_err();
    assert!(error.to_string().contains("i32"), "{error}");
    assert!(run(&artifact, &[], &[&w]).is_err());
}

#[test]
fn code_for_another_processor_is_refused() {
    let mut artifact = artifact();
    artifact.target.features = "+some-feature-of-2090".into();
    let error = Program::load(artifact).err().unwrap();
    assert!(matches!(error, LoadError::Features { .. }), "{error}");
}

#[test]
fn a_call_allocates_nothing() {
    let program = Program::load(artifact()).unwrap();
    let mut instance = Instance::new(&program).unwrap();
    let (x, w) = (tensor(&[0.5; 4]), tensor(&[2.0; 4]));
    let mut outputs = slots(program.artifact()).unwrap();
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..10 {
        instance.call(&[&x], &[&w], &mut outputs).unwrap();
    }
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
    assert_eq!(outputs[0].as_f32().unwrap()[0], 2.0 * 0.5f32.cosh());
}

#[test]
fn instances_compute_at_once() {
    let program = Program::load(artifact()).unwrap();
    std::thread::scope(|scope| {
        for n in 0..4u8 {
            let program = program.clone();
            scope.spawn(move || {
                let mut instance = Instance::new(&program).unwrap();
                let value = f32::from(n);
                let (x, w) = (tensor(&[value; 4]), tensor(&[1.0; 4]));
                let expected = f64::from(value).cosh() as f32;
                for _ in 0..1000 {
                    let mut outputs = slots(program.artifact()).unwrap();
                    instance.call(&[&x], &[&w], &mut outputs).unwrap();
                    assert_eq!(outputs[0].as_f32().unwrap(), [expected; 4]);
                }
            });
        }
    });
}

#[test]
fn a_stop_does_not_hide_a_failed_check() {
    let program = Program::load(artifact()).unwrap();
    let call = |w: &[f32; 4]| {
        let mut instance = Instance::new(&program).unwrap();
        let mut outputs = slots(program.artifact()).unwrap();
        let error = instance.call(&[&tensor(&[0.0; 4])], &[&tensor(w)], &mut outputs).unwrap_err();
        assert!(instance.stop_handle().is_stopped());
        error
    };
    assert_eq!(call(&[-3.0, 1.0, 0.0, 0.0]).to_string(), "weight -3 is negative");
    let stopped = call(&[-3.0, -1.0, 0.0, 0.0]);
    assert_eq!(stopped, RunError::Stopped { trace: vec!["main.sknd:1:2".into()] });
}

#[test]
fn a_stopped_instance_refuses_calls_and_others_compute() {
    let program = Program::load(artifact()).unwrap();
    let [mut one, mut other] = [(); 2].map(|()| Instance::new(&program).unwrap());
    let (x, w) = (tensor(&[0.0; 4]), tensor(&[2.0; 4]));
    let mut outputs = slots(program.artifact()).unwrap();
    let stop = one.stop_handle();
    std::thread::scope(|scope| scope.spawn(|| stop.stop()).join()).unwrap();
    for _ in 0..2 {
        let error = one.call(&[&x], &[&w], &mut outputs).unwrap_err();
        assert_eq!(error, RunError::Stopped { trace: vec![] });
    }
    other.call(&[&x], &[&w], &mut outputs).unwrap();
    stop.reset();
    one.call(&[&x], &[&w], &mut outputs).unwrap();
    assert_eq!(outputs[0].as_f32().unwrap(), [2.0; 4]);
}
