// SPDX-License-Identifier: Apache-2.0
//! Compares the results of vectorized kernels with those of plain loops for the same operations: for odd extents, strides,
//! dilations and guards, with infinities and NaN where a guard must skip them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::pass::PassManager;
use melior::utility::{
    parse_pass_pipeline, register_all_dialects, register_all_llvm_translations, register_all_passes,
};
use melior::{Context, ExecutionEngine};
use skript_passes::schedule::choices::Choices;
use skript_passes::schedule::costs::Costs;
use skript_passes::schedule::target::Target;
use skript_passes::schedule::vectorize::vectorize;

/// One operation: `main(a, b, out)` accumulates into `out`.
struct Case {
    name: &'static str,
    arrays: [&'static str; 3],
    maps: [&'static str; 3],
    iterators: &'static str,
    /// The payload on `%a`, `%b`, `%acc`; ends with the yield.
    payload: &'static str,
    /// Whether a kernel is expected.
    vectorized: bool,
}

const SUM_OF_PRODUCTS: &str = "%m = arith.mulf %a, %b : f32
  %r = arith.addf %acc, %m fastmath<reassoc> : f32
  linalg.yield %r : f32";

const CASES: &[Case] = &[
    Case {
        name: "matrix product, no extent a multiple of the lanes",
        arrays: ["7x13xf32", "13x29xf32", "7x29xf32"],
        maps: ["(i,j,l) -> (i,l)", "(i,j,l) -> (l,j)", "(i,j,l) -> (i,j)"],
        iterators: "\"parallel\",\"parallel\",\"reduction\"",
        payload: SUM_OF_PRODUCTS,
        vectorized: true,
    },
    Case {
        name: "both operands row-major along the reduction",
        arrays: ["5x103xf32", "11x103xf32", "5x11xf32"],
        maps: ["(i,j,l) -> (i,l)", "(i,j,l) -> (j,l)", "(i,j,l) -> (i,j)"],
        iterators: "\"parallel\",\"parallel\",\"reduction\"",
        payload: SUM_OF_PRODUCTS,
        vectorized: true,
    },
    Case {
        name: "matrix times vector",
        arrays: ["1x70xf32", "37x70xf32", "1x37xf32"],
        maps: ["(i,j,l) -> (i,l)", "(i,j,l) -> (j,l)", "(i,j,l) -> (i,j)"],
        iterators: "\"parallel\",\"parallel\",\"reduction\"",
        payload: SUM_OF_PRODUCTS,
        vectorized: true,
    },
    Case {
        name: "window of stride 3 and dilation 2",
        arrays: ["2x3x23x68xf32", "6x3x3x3xf32", "2x6x7x22xf32"],
        maps: [
            "(b,n,i,j,c,p,q) -> (b,c,i*3+p*2,j*3+q*2)",
            "(b,n,i,j,c,p,q) -> (n,c,p,q)",
            "(b,n,i,j,c,p,q) -> (b,n,i,j)",
        ],
        iterators: "\"parallel\",\"parallel\",\"parallel\",\"parallel\",\"reduction\",\"reduction\",\"reduction\"",
        payload: SUM_OF_PRODUCTS,
        vectorized: true,
    },
    Case {
        name: "guarded window: what the guard skips may be NaN or infinite",
        arrays: ["1x3x8x21xf32", "5x3x3x3xf32", "1x5x6x19xf32"],
        maps: [
            "(b,n,i,j,c,p,q) -> (b,c,i+p,j+q)",
            "(b,n,i,j,c,p,q) -> (n,c,p,q)",
            "(b,n,i,j,c,p,q) -> (b,n,i,j)",
        ],
        iterators: "\"parallel\",\"parallel\",\"parallel\",\"parallel\",\"reduction\",\"reduction\",\"reduction\"",
        payload: "%i = linalg.index 2 : index
  %j = linalg.index 3 : index
  %p = linalg.index 5 : index
  %q = linalg.index 6 : index
  %y = arith.addi %i, %p : index
  %x = arith.addi %j, %q : index
  %c1 = arith.constant 1 : index
  %ch = arith.constant 7 : index
  %cw = arith.constant 20 : index
  %g0 = arith.cmpi sge, %y, %c1 : index
  %g1 = arith.cmpi slt, %y, %ch : index
  %g2 = arith.cmpi sge, %x, %c1 : index
  %g3 = arith.cmpi slt, %x, %cw : index
  %ga = arith.andi %g0, %g1 : i1
  %gb = arith.andi %g2, %g3 : i1
  %g = arith.andi %ga, %gb : i1
  %m = arith.mulf %a, %b : f32
  %z = arith.constant 0.0 : f32
  %s = arith.select %g, %m, %z : f32
  %r = arith.addf %acc, %s fastmath<reassoc> : f32
  linalg.yield %r : f32",
        vectorized: true,
    },
    Case {
        name: "maximum of products along columns",
        arrays: ["19x33xf32", "19xf32", "33xf32"],
        maps: ["(j,i) -> (i,j)", "(j,i) -> (i)", "(j,i) -> (j)"],
        iterators: "\"parallel\",\"reduction\"",
        payload: "%m = arith.mulf %a, %b : f32
  %r = arith.maximumf %acc, %m : f32
  linalg.yield %r : f32",
        vectorized: true,
    },
    Case {
        name: "one number from all",
        arrays: ["9x21xf32", "9x21xf32", "f32"],
        maps: ["(i,j) -> (i,j)", "(i,j) -> (i,j)", "(i,j) -> ()"],
        iterators: "\"reduction\",\"reduction\"",
        payload: SUM_OF_PRODUCTS,
        vectorized: true,
    },
    Case {
        name: "an output that moves against its reduction is left alone",
        arrays: ["40x40xf32", "40x40xf32", "40xf32"],
        maps: ["(i,j) -> (i,j)", "(i,j) -> (j,i)", "(i,j) -> (i)"],
        iterators: "\"parallel\",\"reduction\"",
        payload: "%o = arith.negf %acc : f32
  %m = arith.mulf %a, %b : f32
  %r = arith.addf %o, %m : f32
  linalg.yield %r : f32",
        vectorized: false,
    },
];

impl Case {
    fn text(&self) -> String {
        let [a, b, out] = self.arrays;
        let maps: Vec<String> = self.maps.iter().map(|m| format!("affine_map<{m}>")).collect();
        format!(
            "func.func @main(%first: memref<{a}>, %second: memref<{b}>, %out: memref<{out}>) {{
  linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}
    ins(%first, %second : memref<{a}>, memref<{b}>) outs(%out : memref<{out}>) {{
  ^bb0(%a: f32, %b: f32, %acc: f32):
  {}
  }}
  return
}}",
            maps.join(", "),
            self.iterators,
            self.payload
        )
    }
}

fn volume(array: &str) -> usize {
    array.split('x').filter_map(|p| p.parse::<usize>().ok()).product()
}

/// Numbers between −1 and 1 that depend on the array and the position.
fn numbers(count: usize, salt: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + salt * 104_729) % 2001) as f32 / 1000.0 - 1.0).collect()
}

fn module_operation<'c, 'a>(module: &'a Module<'c>) -> OperationRef<'c, 'a> {
    module.as_operation()
}

/// Compiles and runs the case; `out` contains the initial values, then the result. Kernels use the plan with this number.
fn run(
    context: &Context,
    text: &str,
    vector_bits: Option<i64>,
    number: usize,
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
) -> usize {
    let mut module = Module::parse(context, text).expect("the case parses");
    let count = match vector_bits {
        Some(vector_bits) => {
            let vector_registers = if vector_bits == 512 { 32 } else { 16 };
            let target = Target {
                vector_bits,
                vector_registers,
                cache_bytes: 1 << 19,
                keep_order: false,
                dot: skript_passes::schedule::dot::Instruction::None,
                half_dot: skript_passes::schedule::dot::Instruction::None,
                costs: Costs::TYPICAL,
            };
            let choices: Choices = format!("*:{number}").parse().expect("a list of plans");
            vectorize(module_operation(&module), target, &choices).expect("kernels parse")
        }
        None => 0,
    };
    assert!(module.as_operation().verify(), "{}", module.as_operation());
    let passes = PassManager::new(context);
    parse_pass_pipeline(
        passes.as_operation_pass_manager(),
        "builtin.module(cse,canonicalize,convert-linalg-to-loops,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},convert-cf-to-llvm,reconcile-unrealized-casts)",
    )
    .expect("the pipeline parses");
    passes.run(&mut module).expect("the module lowers");
    let engine = ExecutionEngine::new(&module, 2, &[], false, false);
    let entry = engine.lookup("main");
    assert!(!entry.is_null());
    // SAFETY: bare pointers, as the pipeline asks; the arrays have the extents of the types.
    unsafe {
        let main: extern "C" fn(*const f32, *const f32, *mut f32) = std::mem::transmute(entry);
        main(a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
    }
    count
}

#[test]
fn kernels_agree_with_loops() {
    register_all_passes();
    let context = Context::new();
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    // For attributes of the dialect `skript`, which is not registered.
    context.set_allow_unregistered_dialects(true);
    register_all_llvm_translations(&context);
    for case in CASES {
        let [a, b, out] = case.arrays.map(volume);
        let (a, mut b, start) = (numbers(a, 1), numbers(b, 2), numbers(out, 3));
        if case.name.starts_with("guarded") {
            // The guard at the top skips the first row of the first filter, the guard at the right its last column.
            b[0] = f32::NAN;
            b[17] = f32::INFINITY;
        }
        let mut expected = start.clone();
        run(&context, &case.text(), None, 0, &a, &b, &mut expected);
        for vector_bits in [128, 256, 512] {
            let mut output = start.clone();
            let count = run(&context, &case.text(), Some(vector_bits), 0, &a, &b, &mut output);
            assert_eq!(count, usize::from(case.vectorized), "{}", case.name);
            for (position, (e, f)) in expected.iter().zip(&output).enumerate() {
                let same = e.is_nan() && f.is_nan() || e == f || (e - f).abs() <= 1e-5 * (1.0 + e.abs());
                assert!(same, "{} at {position}, {vector_bits} bits: {f} instead of {e}", case.name);
            }
        }
        // All plans combine the points of an element in the same order.
        let bits = |number| {
            let mut output = start.clone();
            let text = case.text();
            run(&context, &text, Some(256), number, &a, &b, &mut output);
            output.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let first = bits(0);
        for number in 1..4 {
            assert!(first == bits(number), "{}: plan {number}", case.name);
        }
        if case.name.starts_with("guarded") {
            assert!(expected.iter().any(|v| v.is_nan()) && expected.iter().any(|v| v.is_finite()));
        }
    }
}
