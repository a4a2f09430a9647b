// SPDX-License-Identifier: Apache-2.0
//! Tests whose models and expected values were written by hand.

use crate::{
    EvalError, Failure, Outcome, POINTS_PER_INVOCATION, Settings, evaluate, evaluate_with_observer,
    evaluate_within,
};
use skript_frontend::model::*;
use skript_frontend::source::{FileId, Span};
use skript_semantics::{Numbers, Scalar, ScalarKind, ScalarOp};
use skript_tensor::Tensor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ScalarKind::{Bool, Int, Real};

fn span() -> Span {
    Span::new(FileId(0), 0, 0)
}

fn value(name: &str, kind: ScalarKind, shape: &[u64]) -> Value {
    Value {
        name: Some(name.to_string()),
        tensor: TensorType { kind, shape: shape.iter().map(|&n| Extent::Fixed(n)).collect() },
        wide: false,
        storage: None,
        span: span(),
    }
}

fn port(name: &str, id: u32) -> Port {
    Port { name: name.to_string(), tensors: PortTensors::Single(ValueId(id)), span: span() }
}

/// Values are numbered: first inputs, then outputs, then others.
fn function(name: &str, values: Vec<Value>, inputs: u32, outputs: u32, body: Body) -> Function {
    let name_of = |id: u32| values[id as usize].name.clone().unwrap();
    Function {
        name: name.to_string(),
        role: FunctionRole::Operator,
        attributes: vec![],
        types: vec![],
        inputs: (0..inputs).map(|i| port(&name_of(i), i)).collect(),
        outputs: (inputs..inputs + outputs).map(|i| port(&name_of(i), i)).collect(),
        items_of_none: vec![],
        values,
        captures: vec![],
        updates: vec![],
        capture_variables: vec![],
        extents: vec![],
        checks: vec![],
        result_checks: vec![],
        constants: vec![],
        body,
        numbers: Numbers::default(),
        span: span(),
    }
}

fn model(functions: Vec<Function>) -> Model {
    Model {
        entry: FunctionId(0),
        functions,
        variables: vec![],
        updates: vec![],
        quantization: vec![],
        defaults: vec![],
        numbers: Default::default(),
    }
}

fn index(name: &str, extent: u64) -> FormulaIndex {
    FormulaIndex { name: name.to_string(), extent: Extent::Fixed(extent) }
}

fn i(position: usize) -> Expr {
    Expr::index(position)
}

fn access(kind: ScalarKind, tensor: u32, subscripts: Vec<Expr>) -> Expr {
    Expr { kind, node: Node::Access { tensor: ValueId(tensor), subscripts } }
}

fn apply(kind: ScalarKind, op: ScalarOp, operands: Vec<Expr>) -> Expr {
    Expr::apply(kind, op, operands)
}

fn select(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr {
        kind: then.kind,
        node: Node::Select {
            condition: Box::new(condition),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        },
    }
}

fn target(output: u32, subscripts: Vec<Expr>, value: Expr, init: Init) -> Target {
    Target { output: ValueId(output), subscripts, value, init }
}

fn formula(indices: Vec<FormulaIndex>, kind: Accumulation, targets: Vec<Target>) -> Formula {
    Formula { indices, locals: vec![], predicate: None, kind, targets, findings: Vec::new(), span: span() }
}

const ZERO: Init = Init::Fill(Scalar::Real(0.0));

fn reals(shape: &[u64], values: &[f32]) -> Arc<Tensor> {
    Arc::new(Tensor::from_f32(shape, values).unwrap())
}

fn ints(shape: &[u64], values: &[i64]) -> Arc<Tensor> {
    Arc::new(Tensor::from_i64(shape, values).unwrap())
}

fn run(model: &Model, inputs: &[Arc<Tensor>]) -> Outcome {
    evaluate(model, inputs, &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn sum_of_products() {
    let product = apply(
        Real,
        ScalarOp::Mul,
        vec![access(Real, 0, vec![i(0), i(2)]), access(Real, 1, vec![i(2), i(1)])],
    );
    let body = formula(
        vec![index("i", 2), index("j", 2), index("l", 3)],
        Accumulation::Sum,
        vec![target(2, vec![i(0), i(1)], product, ZERO)],
    );
    let values = vec![value("A", Real, &[2, 3]), value("B", Real, &[3, 2]), value("C", Real, &[2, 2])];
    let model = model(vec![function("m.f", values, 2, 1, Body::Formulas(vec![body]))]);
    let outcome = run(
        &model,
        &[
            reals(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            reals(&[3, 2], &[7.0, 8.0, 9.0, 10.0, 11.0, 12.0]),
        ],
    );
    assert_eq!(outcome.outputs[0].as_f32(), Some(&[58.0, 64.0, 139.0, 154.0][..]));
}

/// y[i] += x[|2i + j - 1|] * f[j], i < 3, j < 3
#[test]
fn a_guard_skips_what_lies_outside() {
    let address = apply(
        Int,
        ScalarOp::Add,
        vec![
            apply(Int, ScalarOp::Mul, vec![Expr::int(2), i(0)]),
            apply(Int, ScalarOp::Sub, vec![i(1), Expr::int(1)]),
        ],
    );
    let mut body = formula(
        vec![index("i", 3), index("j", 3)],
        Accumulation::Sum,
        vec![target(
            2,
            vec![i(0)],
            apply(
                Real,
                ScalarOp::Mul,
                vec![
                    access(Real, 0, vec![Expr { kind: Int, node: Node::Local(0) }]),
                    access(Real, 1, vec![i(1)]),
                ],
            ),
            ZERO,
        )],
    );
    body.locals.push(FormulaLocal { name: "p".to_string(), value: address.clone() });
    body.predicate = Some(apply(
        Bool,
        ScalarOp::And,
        vec![
            apply(Bool, ScalarOp::Ge, vec![address.clone(), Expr::int(0)]),
            apply(Bool, ScalarOp::Lt, vec![address, Expr::int(5)]),
        ],
    ));
    let values = vec![value("x", Real, &[5]), value("f", Real, &[3]), value("y", Real, &[3])];
    let guarded = function("m.f", values, 2, 1, Body::Formulas(vec![body.clone()]));
    let x = reals(&[5], &[1.0, 2.0, 3.0, 4.0, 5.0]);
    let f = reals(&[3], &[1.0, 10.0, 100.0]);
    let outcome = run(&model(vec![guarded.clone()]), &[x.clone(), f.clone()]);
    assert_eq!(outcome.outputs[0].as_f32(), Some(&[210.0, 432.0, 54.0][..]));

    body.predicate = None;
    let unguarded = Function { body: Body::Formulas(vec![body]), ..guarded };
    let error = evaluate(&model(vec![unguarded]), &[x, f], &[]).unwrap_err();
    assert!(matches!(*error.failure, Failure::OutOfBounds { value: -1, extent: 5, .. }), "{error}");
}

/// Position of the largest element of a 2 × 3 tensor: two outputs replaced in one step where the element is larger.
#[test]
fn packed_targets_are_replaced_in_loop_order() {
    let element = access(Real, 0, vec![i(0), i(1)]);
    let best = access(Real, 0, vec![access(Int, 1, vec![]), access(Int, 2, vec![])]);
    let start = Init::Fill(Scalar::Int(0));
    let mut body = formula(
        vec![index("i", 2), index("j", 3)],
        Accumulation::Replace,
        vec![target(1, vec![], i(0), start), target(2, vec![], i(1), start)],
    );
    body.predicate = Some(apply(Bool, ScalarOp::Gt, vec![element, best]));
    let values = vec![value("x", Real, &[2, 3]), value("r", Int, &[]), value("c", Int, &[])];
    let model = model(vec![function("m.f", values, 1, 2, Body::Formulas(vec![body]))]);
    let outcome = run(&model, &[reals(&[2, 3], &[1.0, 7.0, 3.0, 2.0, 0.0, 7.0])]);
    assert_eq!(outcome.outputs[0].as_i64(), Some(&[0][..]));
    assert_eq!(outcome.outputs[1].as_i64(), Some(&[1][..]));
}

/// y[i] = i < 2 ? x[i] : t[i - 2], with the table t = 10, 20: only the selected branch reads.
#[test]
fn branches_are_lazy_and_tables_are_indexed() {
    let table = Expr {
        kind: Real,
        node: Node::Table {
            items: vec![Scalar::Real(10.0), Scalar::Real(20.0)],
            index: Box::new(apply(Int, ScalarOp::Sub, vec![i(0), Expr::int(2)])),
        },
    };
    let body = formula(
        vec![index("i", 4)],
        Accumulation::Assign,
        vec![target(
            1,
            vec![i(0)],
            select(apply(Bool, ScalarOp::Lt, vec![i(0), Expr::int(2)]), access(Real, 0, vec![i(0)]), table),
            ZERO,
        )],
    );
    let values = vec![value("x", Real, &[2]), value("y", Real, &[4])];
    let model = model(vec![function("m.f", values, 1, 1, Body::Formulas(vec![body]))]);
    let outcome = run(&model, &[reals(&[2], &[1.0, 2.0])]);
    assert_eq!(outcome.outputs[0].as_f32(), Some(&[1.0, 2.0, 10.0, 20.0][..]));
}

#[test]
fn reals_round_at_every_step_but_sums_only_once() {
    // 2^24 + 1 + 1 - 2^24 is 2 if summed exactly, 0 in single precision.
    let sum = formula(
        vec![index("i", 4)],
        Accumulation::Sum,
        vec![target(1, vec![], access(Real, 0, vec![i(0)]), ZERO)],
    );
    let add = |a, b| apply(Real, ScalarOp::Add, vec![a, b]);
    let x = |n| access(Real, 0, vec![Expr::int(n)]);
    let steps = formula(
        vec![],
        Accumulation::Assign,
        vec![target(2, vec![], add(add(add(x(0), x(1)), x(2)), x(3)), ZERO)],
    );
    let values = vec![value("x", Real, &[4]), value("a", Real, &[]), value("b", Real, &[])];
    let body = Body::Formulas(vec![sum, steps]);
    let model = model(vec![function("m.f", values, 1, 2, body)]);
    let x = reals(&[4], &[16_777_216.0, 1.0, 1.0, -16_777_216.0]);
    let outcome = run(&model, &[x]);
    assert_eq!(outcome.outputs[0].as_f32(), Some(&[2.0][..]));
    assert_eq!(outcome.outputs[1].as_f32(), Some(&[0.0][..]));
}

/// A graph with the body `body`, and the operators z = x + y and z = x < y for rank-0 ints.
fn adder(body: Block, mut values: Vec<Value>) -> Model {
    let sum = apply(Int, ScalarOp::Add, vec![access(Int, 0, vec![]), access(Int, 1, vec![])]);
    let add = formula(vec![], Accumulation::Assign, vec![target(2, vec![], sum, Init::Fill(Scalar::Int(0)))]);
    let less = apply(Bool, ScalarOp::Lt, vec![access(Int, 0, vec![]), access(Int, 1, vec![])]);
    let compare =
        formula(vec![], Accumulation::Assign, vec![target(2, vec![], less, Init::Fill(Scalar::Bool(false)))]);
    let scalars = |kind| vec![value("x", Int, &[]), value("y", Int, &[]), value("z", kind, &[])];
    for name in ["a", "b", "c", "d", "e"] {
        values.push(value(name, Int, &[]));
    }
    values.push(value("flag", Bool, &[]));
    model(vec![
        function("main.G", values, 1, 1, Body::Block(body)),
        function("m.add", scalars(Int), 2, 1, Body::Formulas(vec![add])),
        function("m.less", scalars(Bool), 2, 1, Body::Formulas(vec![compare])),
    ])
}

fn invoke(callee: u32, inputs: [u32; 2], output: u32) -> Operation {
    Operation::Invoke(Invoke {
        callee: FunctionId(callee),
        inputs: inputs.map(ValueId).to_vec(),
        captures: vec![],
        extents: vec![],
        outputs: vec![ValueId(output)],
        updates: vec![],
        label: Some(format!("step{output}")),
        span: span(),
    })
}

fn block(operations: Vec<Operation>, results: &[u32]) -> Block {
    Block { operations, results: results.iter().map(|&r| ValueId(r)).collect() }
}

/// y = with s = n do..(i -> count) add(s, i) while s < n, on values: 0 n, 1 y, 2 a (s), 3 b (i), 4 c, 5 d; flag is 7.
fn looped(static_count: Option<u64>, before: Option<Block>) -> Model {
    let l = Loop {
        carried: vec![Carried { inner: ValueId(2), init: ValueId(0), result: ValueId(1) }],
        scans: vec![],
        stack_scans: vec![],
        index: Some(ValueId(3)),
        static_count,
        capacity: None,
        max_steps: static_count.is_none().then_some(1000),
        dynamic_count: None,
        before,
        body: block(vec![invoke(1, [2, 3], 4)], &[4]),
        after: None,
        scan_outputs: vec![],
        span: span(),
    };
    adder(block(vec![Operation::Loop(Box::new(l))], &[]), vec![value("n", Int, &[]), value("y", Int, &[])])
}

#[test]
fn loops_carry_values_and_stop() {
    let outcome = run(&looped(Some(5), None), &[ints(&[], &[100])]);
    assert_eq!(outcome.outputs[0].as_i64(), Some(&[110][..]));
    // While s < 0: from -4, by 0, 1, 2, 3 … until -4 + 0 + 1 + 2 + 3 = 2.
    let condition = block(
        vec![
            Operation::Constant { value: ValueId(5), data: ConstantData::Splat(Scalar::Int(0)) },
            invoke(2, [2, 5], 7),
        ],
        &[7],
    );
    let outcome = run(&looped(None, Some(condition)), &[ints(&[], &[-4])]);
    assert_eq!(outcome.outputs[0].as_i64(), Some(&[2][..]));
}

#[test]
fn endless_loops_are_errors() {
    let forever = block(
        vec![Operation::Constant { value: ValueId(7), data: ConstantData::Splat(Scalar::Bool(true)) }],
        &[7],
    );
    let settings = Settings { max_iterations: 10, ..Settings::default() };
    let fails = |model: Model| {
        let result: Result<_, EvalError> =
            evaluate_with_observer(&model, &[ints(&[], &[1])], &[], &settings, &mut |_, _| {});
        result.unwrap_err()
    };
    let error = fails(looped(None, Some(forever)));
    assert!(matches!(*error.failure, Failure::Endless(1000)));
    assert_eq!(error.calls[0].function, "main.G");
    // A loop with a finite number of steps that exceeds the limit.
    let error = fails(looped(Some(11), None));
    assert!(matches!(*error.failure, Failure::TooManySteps(10)));
}

#[test]
fn work_is_taken_from_what_is_left() {
    let model = looped(Some(11), None);
    let work = Arc::new(AtomicU64::new(1000 * POINTS_PER_INVOCATION));
    evaluate_within(&model, &[ints(&[], &[1])], &[], &work).unwrap();
    let left = work.load(Ordering::Relaxed) / POINTS_PER_INVOCATION;
    assert!((900..1000 - 11).contains(&left), "{left}");
    let work = Arc::new(AtomicU64::new(10 * POINTS_PER_INVOCATION));
    let error = evaluate_within(&model, &[ints(&[], &[1])], &[], &work).unwrap_err();
    assert!(matches!(*error.failure, Failure::TooMuchWork));
}

#[test]
fn the_observer_sees_scoped_names() {
    let mut names = Vec::new();
    let model = looped(Some(1), None);
    evaluate_with_observer(&model, &[ints(&[], &[3])], &[], &Settings::default(), &mut |name, tensor| {
        names.push((name.to_string(), tensor.get(0).unwrap()))
    })
    .unwrap();
    let expected = ["main.G.step4.z", "main.G.c", "main.G.y"];
    assert_eq!(names, expected.map(|n| (n.to_string(), Scalar::Int(3))));
}

#[test]
fn run_time_extents_are_defined_and_checked() {
    let dynamic = |name: &str| Value {
        tensor: TensorType {
            kind: Real,
            shape: vec![Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol("n".to_string())), bound: 4 }],
        },
        ..value(name, Real, &[])
    };
    let mut body = formula(
        vec![index("i", 0)],
        Accumulation::Assign,
        vec![target(2, vec![i(0)], access(Real, 1, vec![i(0)]), ZERO)],
    );
    body.indices[0].extent = dynamic("n").tensor.shape[0].clone();
    let values = vec![dynamic("x"), dynamic("y"), dynamic("z")];
    let model = model(vec![function("m.f", values, 2, 1, Body::Formulas(vec![body]))]);
    let three = reals(&[3], &[1.0, 2.0, 3.0]);
    let outcome = run(&model, &[three.clone(), three.clone()]);
    assert_eq!(outcome.outputs[0].as_f32(), Some(&[1.0, 2.0, 3.0][..]));
    let error = evaluate(&model, &[three, reals(&[2], &[0.0; 2])], &[]).unwrap_err();
    let text = "dimension 0 of y has the extent 2, but 3 is expected (in m.f)";
    assert_eq!(error.to_string(), text);
    let five = reals(&[5], &[0.0; 5]);
    let error = evaluate(&model, &[five.clone(), five], &[]).unwrap_err();
    assert!(matches!(*error.failure, Failure::Bound { got: 5, bound: 4, .. }));
}

#[test]
fn unknown_bodies_are_errors() {
    let values = vec![value("x", Real, &[1]), value("y", Real, &[1])];
    let model = model(vec![function("m.mystery", values, 1, 1, Body::Intrinsic)]);
    let error = evaluate(&model, &[reals(&[1], &[0.0])], &[]).unwrap_err();
    assert!(matches!(&*error.failure, Failure::UnknownIntrinsic(name) if name == "m.mystery"));
}

#[test]
fn what_would_not_end_or_fit_is_refused() {
    let sum = |extent| {
        let values = vec![value("x", Real, &[1]), value("y", Real, &[extent, extent])];
        let body = formula(
            vec![index("i", extent), index("j", extent), index("k", 1 << 20)],
            Accumulation::Sum,
            vec![target(1, vec![i(0), i(1)], access(Real, 0, vec![Expr::int(0)]), ZERO)],
        );
        let model = model(vec![function("m.f", values, 1, 1, Body::Formulas(vec![body]))]);
        *evaluate(&model, &[reals(&[1], &[1.0])], &[]).unwrap_err().failure
    };
    assert!(matches!(sum(1 << 10), Failure::TooManyPoints { .. }));
    assert!(matches!(sum(1 << 20), Failure::TooManyElements { .. }));
    assert!(matches!(sum(u64::MAX), Failure::TooManyElements { .. }));
}
