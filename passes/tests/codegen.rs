// SPDX-License-Identifier: Apache-2.0
//! Compiles modules on tensors, runs them in the process, and compares the results with values that were computed by hand
//! or by plain loops.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use melior::ir::Module;
use skript_passes::codegen::{self, Form, Interface};
use skript_passes::ir;
use skript_passes::target::TargetDescription;
use skript_runtime::artifact::{ArenaLayout, Artifact, Port, PortExtent};
use skript_runtime::{LoadError, Program, run};
use skript_tensor::{ElementType, Tensor};

fn port(name: &str, shape: &[u64]) -> Port {
    Port {
        name: name.into(),
        aliases: vec![],
        element: ElementType::F32,
        imported: None,
        shape: shape.iter().map(|n| PortExtent::Fixed(*n)).collect(),
        pack: None,
    }
}

fn compile(source: &str, inputs: &[&[u64]], outputs: &[&[u64]]) -> Result<Artifact, String> {
    let context = ir::new_context();
    let (module, messages) = ir::collecting(&context, || Module::parse(&context, source));
    let module = module.ok_or_else(|| messages.join("\n"))?;
    let interface = Interface {
        inputs: inputs.iter().map(|s| port("in", s)).collect(),
        outputs: outputs.iter().map(|s| port("out", s)).collect(),
        ..Interface::default()
    };
    skript_passes::compile_tensors(&module, interface, &TargetDescription::host()).map_err(|e| e.to_string())
}

fn call(artifact: &Artifact, inputs: &[(&[u64], &[f32])]) -> Vec<Vec<f32>> {
    let tensors: Vec<Tensor> =
        inputs.iter().map(|(shape, values)| Tensor::from_f32(shape, values).unwrap()).collect();
    let outputs = run(artifact, &tensors.iter().collect::<Vec<_>>(), &[]).unwrap();
    let floats = |t: &Tensor| t.as_f32().unwrap().to_vec();
    outputs.iter().map(floats).collect()
}

/// A padded window: an allocation, a strided copy into it, a reduction over it, a function of the C library.
const WINDOW: &str = "
#x = affine_map<(o, i, j) -> (o + j)>
#w = affine_map<(o, i, j) -> (j)>
#o = affine_map<(o, i, j) -> (o)>
func.func @exp(%x: tensor<5xf32> {bufferization.writable = false}, %w: tensor<3xf32> {bufferization.writable = false})
    -> (tensor<5xf32> {skript.name = \"y\"}) attributes {skript.entry} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] { ^bb0(%a: index): tensor.yield %z : f32 } : tensor<5xf32> to tensor<7xf32>
  %e = tensor.empty() : tensor<5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}
      ins(%p, %w : tensor<7xf32>, tensor<3xf32>) outs(%f : tensor<5xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
  } -> tensor<5xf32>
  %t = linalg.map { math.exp } ins(%r : tensor<5xf32>) outs(%e : tensor<5xf32>)
  return %t : tensor<5xf32>
}";

fn window() -> String {
    WINDOW.replace("(o, i, j)", "(o, j)").replace("[\"parallel\", \"parallel\", ", "[\"parallel\", ")
}

#[test]
fn a_window_with_borders_computes() {
    let artifact = compile(&window(), &[&[5], &[3]], &[&[5]]).unwrap();
    let x = [0.1f32, -0.2, 0.3, 0.4, -0.5];
    let w = [1.0f32, 2.0, -1.0];
    let outputs = call(&artifact, &[(&[5], &x), (&[3], &w)]);
    for o in 0..5usize {
        let sum: f32 = (0..3usize).filter(|j| (1..6).contains(&(o + j))).map(|j| x[o + j - 1] * w[j]).sum();
        assert!((outputs[0][o] - sum.exp()).abs() < 1e-6, "{o}: {outputs:?}");
    }
}

#[test]
fn the_same_module_gives_the_same_bytes() {
    let once = compile(&window(), &[&[5], &[3]], &[&[5]]).unwrap();
    let again = compile(&window(), &[&[5], &[3]], &[&[5]]).unwrap();
    assert_eq!(once.to_bytes(), again.to_bytes());
}

#[test]
fn inputs_are_never_written() {
    let source = "
func.func @f(%x: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf32>, tensor<4xf32>) {
  %i = arith.constant 2 : index
  %c = arith.constant 7.0 : f32
  %y = tensor.insert %c into %x[%i] : tensor<4xf32>
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}";
    let artifact = compile(source, &[&[4]], &[&[4], &[4]]).unwrap();
    let outputs = call(&artifact, &[(&[4], &[1.0, 2.0, 3.0, 4.0])]);
    assert_eq!(outputs, [[1.0, 2.0, 7.0, 4.0], [1.0, 2.0, 3.0, 4.0]]);
}

#[test]
fn buffers_share_one_arena() {
    // A chain of transposes: each step needs only its input and its output.
    let mut source = String::from(
        "func.func @f(%v0: tensor<64x64xf32> {bufferization.writable = false}) -> tensor<64x64xf32> {\n\
         %e = tensor.empty() : tensor<64x64xf32>\n",
    );
    for n in 0..6 {
        source.push_str(&format!(
            "%e{n} = tensor.empty() : tensor<64x64xf32>\n\
             %v{} = linalg.transpose ins(%v{n} : tensor<64x64xf32>) outs(%e{n} : tensor<64x64xf32>) permutation = [1, 0]\n",
            n + 1
        ));
    }
    source.push_str("return %v6 : tensor<64x64xf32>\n}");
    let artifact = compile(&source, &[&[64, 64]], &[&[64, 64]]).unwrap();
    assert!(artifact.arena.size <= 2 * 64 * 64 * 4, "{:?}", artifact.arena);
    let x: Vec<f32> = (0..64 * 64).map(|n| n as f32).collect();
    assert_eq!(call(&artifact, &[(&[64, 64], &x)])[0], x);
}

#[test]
fn buffers_used_in_loops_live_until_the_loop_ends() {
    let source = "
func.func @f(%x: tensor<8xf32> {bufferization.writable = false}) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.map { math.absf } ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> tensor<8xf32> {
    %a = tensor.empty() : tensor<8xf32>
    %t = linalg.map { arith.addf } ins(%s, %y : tensor<8xf32>, tensor<8xf32>) outs(%a : tensor<8xf32>)
    scf.yield %t : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}";
    let artifact = compile(source, &[&[8]], &[&[8]]).unwrap();
    let x: Vec<f32> = (0..8).map(|n| n as f32 - 4.0).collect();
    let expected: Vec<f32> = x.iter().map(|v| v + 5.0 * v.abs()).collect();
    assert_eq!(call(&artifact, &[(&[8], &x)])[0], expected);
}

#[test]
fn chains_of_loops_leave_the_input_that_they_begin_with() {
    // The chain is longer than the maximum, after which it continues in a new tensor. Without permutations, each loop
    // returns its input.
    let mut source = String::from(
        "func.func @f(%v0: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf32>, tensor<4xf32>) {\n\
         %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%one = arith.constant 1.0 : f32\n\
         %first = tensor.extract %v0[%c0] : tensor<4xf32>\n%count = arith.fptosi %first : f32 to i64\n\
         %n = arith.index_cast %count : i64 to index\n",
    );
    for n in 0..40 {
        source.push_str(&format!(
            "%v{} = scf.for %i = %c0 to %n step %c1 iter_args(%s = %v{n}) -> tensor<4xf32> {{\n\
             %a = tensor.extract %s[%i] : tensor<4xf32>\n%b = arith.addf %a, %one : f32\n\
             %t = tensor.insert %b into %s[%i] : tensor<4xf32>\nscf.yield %t : tensor<4xf32>\n}}\n",
            n + 1
        ));
    }
    source.push_str(
        "%y = tensor.insert %one into %v40[%c1] : tensor<4xf32>\n\
         return %y, %v0 : tensor<4xf32>, tensor<4xf32>\n}",
    );
    let artifact = compile(&source, &[&[4]], &[&[4], &[4]]).unwrap();
    for (x, y) in
        [([0.0, 5.0, 6.0, 7.0], [0.0, 1.0, 6.0, 7.0]), ([3.0, 5.0, 6.0, 7.0], [43.0, 1.0, 46.0, 7.0])]
    {
        assert_eq!(call(&artifact, &[(&[4], &x)]), [y, x]);
    }
}

#[test]
fn code_allocates_nothing_and_calls_no_library_copy() {
    let context = ir::new_context();
    let module = Module::parse(&context, &window()).unwrap();
    skript_passes::tensors_to_llvm(&module, &TargetDescription::host()).unwrap();
    let text = codegen::emit(&module, &TargetDescription::host().code, Form::Llvm).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("@skript_entry("), "{text}");
    for name in ["@malloc", "@memrefCopy", "@free", "alloca "] {
        assert!(!text.contains(name), "{name} in {text}");
    }
    let assembly = codegen::emit(&module, &TargetDescription::host().code, Form::Assembly).unwrap();
    assert!(String::from_utf8(assembly).unwrap().contains("skript_entry:"));
}

#[test]
fn what_has_no_lowering_is_an_error_with_its_place() {
    let source = "
func.func @f(%x: tensor<4xf32> {bufferization.writable = false}) -> tensor<?xf32> {
  %y = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}";
    let error = compile(source, &[&[4]], &[&[4]]).unwrap_err();
    assert!(error.contains("without an upper bound"), "{error}");
    let error = compile("module {}", &[], &[]).unwrap_err();
    assert!(error.contains("skript.entry"), "{error}");
    let mut target = TargetDescription::host();
    target.code.triple = "z80-none".into();
    let context = ir::new_context();
    let module = Module::parse(&context, &window()).unwrap();
    let error = skript_passes::compile_tensors(&module, Interface::default(), &target);
    assert!(error.unwrap_err().to_string().contains("z80"));
}

/// The functions of the C library are in the process, but loaded code can call only mathematical ones.
#[test]
fn loaded_code_finds_mathematics_and_nothing_else_of_the_process() {
    let load = |callee: &str| {
        let source = format!(
            "llvm.func @{callee}(f32) -> f32
             llvm.func @skript_entry(%t: !llvm.ptr, %a: !llvm.ptr, %c: !llvm.ptr) -> i32 {{
               %x = llvm.mlir.constant(0.5 : f32) : f32
               %y = llvm.call @{callee}(%x) : (f32) -> f32
               %z = llvm.fptosi %y : f32 to i32
               llvm.return %z : i32
             }}"
        );
        let context = ir::new_context();
        let module = Module::parse(&context, &source).unwrap();
        let target = TargetDescription::host().code;
        let object = codegen::emit(&module, &target, Form::Object).unwrap();
        Program::load(Artifact {
            target,
            entry: "skript_entry".into(),
            arena: ArenaLayout { size: 0, alignment: 64 },
            prepared: 0,
            unread: vec![],
            inputs: vec![],
            variables: vec![],
            outputs: vec![],
            updates: vec![],
            checks: vec![],
            object,
            kernels: None,
            embedded: None,
        })
    };
    for callee in ["tgammaf_no_such", "_exit", "system", "dlsym", "malloc"] {
        match load(callee).err() {
            Some(LoadError::Symbols(names)) => assert_eq!(names, [callee]),
            other => panic!("{callee}: {other:?}"),
        }
    }
    for callee in ["erff", "skript_intrinsic"] {
        assert!(load(callee).is_ok(), "{callee}");
    }
}

/// A module in the LLVM dialect that is large enough to be compiled in parts. `long_0` to `long_9` add 400 times their entry of a
/// table, and call small functions, which are inlined; the entry calls each twice, on the input and on the sum so far.
fn large_module() -> String {
    let mut text = String::from(
        "llvm.mlir.global internal constant @table(dense<[1.0, 2.0]> : tensor<2xf32>) : !llvm.array<2 x f32>
         llvm.func @erff(f32) -> f32
         llvm.func internal @small(%x: f32) -> f32 {
           %zero = llvm.mlir.constant(0.0 : f32) : f32
           %e = llvm.call @inlined(%zero) : (f32) -> f32
           %y = llvm.fadd %x, %e : f32
           llvm.return %y : f32
         }
         llvm.func internal @inlined(%x: f32) -> f32 attributes {passthrough = [\"alwaysinline\"]} {
           %y = llvm.call @innermost(%x) : (f32) -> f32
           llvm.return %y : f32
         }
         llvm.func internal @innermost(%x: f32) -> f32 attributes {passthrough = [\"alwaysinline\"]} {
           %y = llvm.call @erff(%x) : (f32) -> f32
           llvm.return %y : f32
         }\n",
    );
    let (mut body, mut last) = (String::new(), "%x".to_owned());
    for n in 0..10 {
        let adds: String = (0..400).map(|i| format!("%v{} = llvm.fadd %v{i}, %c : f32\n", i + 1)).collect();
        text += &format!(
            "llvm.func internal @long_{n}(%x: f32) -> f32 {{
               %t = llvm.mlir.addressof @table : !llvm.ptr
               %p = llvm.getelementptr %t[0, {}] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<2 x f32>
               %c = llvm.load %p : !llvm.ptr -> f32
               %v0 = llvm.call @small(%x) : (f32) -> f32
               {adds}
               llvm.return %v400 : f32
             }}\n",
            n % 2
        );
        body += &format!(
            "%a{n} = llvm.call @long_{n}(%x) : (f32) -> f32
             %b{n} = llvm.call @long_{n}({last}) : (f32) -> f32
             %s{n} = llvm.fadd %a{n}, %b{n} : f32\n"
        );
        last = format!("%s{n}");
    }
    text + &format!(
        "llvm.func @skript_entry(%t: !llvm.ptr, %a: !llvm.ptr, %c: !llvm.ptr) -> i32 {{
           %in = llvm.load %t : !llvm.ptr -> !llvm.ptr
           %x = llvm.load %in : !llvm.ptr -> f32
           {body}
           %q = llvm.getelementptr %t[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
           %out = llvm.load %q : !llvm.ptr -> !llvm.ptr
           llvm.store {last}, %out : f32, !llvm.ptr
           %z = llvm.mlir.constant(0 : i32) : i32
           llvm.return %z : i32
         }}"
    )
}

#[test]
fn parts_of_a_large_module_call_each_other() {
    let context = ir::new_context();
    let module = Module::parse(&context, &large_module()).unwrap();
    let target = TargetDescription::host().code;
    let object = codegen::emit(&module, &target, Form::Object).unwrap();
    assert_eq!(object, codegen::emit(&module, &target, Form::Object).unwrap());
    let artifact = Artifact {
        target: target.clone(),
        entry: "skript_entry".into(),
        arena: ArenaLayout { size: 0, alignment: 64 },
        prepared: 0,
        unread: vec![],
        inputs: vec![port("x", &[1])],
        variables: vec![],
        outputs: vec![port("y", &[1])],
        updates: vec![],
        checks: vec![],
        object,
        kernels: None,
        embedded: None,
    };
    // Integers below 2²⁴ are exact.
    let x = 3.0;
    let mut sum = x;
    for n in 0..10 {
        let step = 400.0 * f32::from(1 + n % 2u8);
        sum = (x + step) + (sum + step);
    }
    assert_eq!(call(&artifact, &[(&[1], &[x])]), [[sum]]);

    // The text is one module: shared symbols of the parts are internal to it, and small functions are inlined in each part.
    let text = codegen::emit(&module, &target, Form::Llvm).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("@skript_entry("), "{text}");
    for absent in ["hidden", "@small", "@inlined", "@innermost"] {
        assert!(!text.contains(absent), "{absent} in {text}");
    }
}
