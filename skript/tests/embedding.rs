// SPDX-License-Identifier: Apache-2.0
//! Tests of the API from the perspective of an embedding program, with values that were computed by hand.

use skript::{
    Code, ComposeOptions, Document, Error, FastMath, ImportOptions, Limits, RunError, Severity, Target,
    Tensor, Weights,
};

const COUNTER: &str = "
import math;
graph Counter {
    @input { x: real[2]; }
    @variable { total: real[2]; }
    @output { y: real[2]; }
    @compose { y = math.add(total, x); }
    @update { total = y; }
}
graph Other { @input { x: real[3]; } @output { y: real[3]; } @compose { y = math.neg(x); } }
";

fn counter() -> Document {
    Document::parse("counter.sknd", COUNTER, &Limits::default())
}

#[test]
fn successful_calls_keep_state() {
    let model = counter().compose(&ComposeOptions::default()).unwrap();
    assert_eq!(model.variables()[0].to_string(), "counter.Counter.total: f32[2]");
    assert_eq!(model.outputs().len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let npz = folder.path().join("weights.safetensors");
    // One array of zeros: eight bytes of length, a header, the data.
    let header = br#"{"counter.Counter.total":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(&[0; 8]);
    std::fs::write(&npz, bytes).unwrap();
    let code = model.compile(&Target::host()).unwrap();
    let code = Code::from_bytes(&code.to_bytes()).unwrap();
    let mut instance = code.load(&Weights::open(&npz).unwrap()).unwrap();
    let x = Tensor::from_f32(&[2], &[1.0, 2.0]).unwrap();
    let y = |instance: &mut skript::Instance| {
        instance.call(&[("x", &x)]).unwrap()[0].1.as_f32().unwrap().to_vec()
    };
    assert_eq!(y(&mut instance), [1.0, 2.0]);
    let wrong = Tensor::from_f32(&[3], &[1.0, 2.0, 3.0]).unwrap();
    assert!(matches!(instance.call(&[("x", &wrong)]), Err(Error::Run(_))));
    assert!(matches!(instance.call(&[]), Err(Error::Name(_))));
    assert!(matches!(instance.call(&[("x", &x), ("z", &x)]), Err(Error::Name(_))));
    assert_eq!(y(&mut instance), [2.0, 4.0]);
}

#[test]
fn code_is_generated_for_a_processor_by_name() {
    let model = counter().compose(&ComposeOptions::default().graph("Other")).unwrap();
    let x = Tensor::from_f32(&[3], &[1.0, -2.0, 0.5]).unwrap();
    let native = if cfg!(target_arch = "aarch64") { "generic" } else { "x86-64" };
    let code = model.compile(&Target::named(native, "").unwrap()).unwrap();
    let mut instance = code.load(&Weights::none()).unwrap();
    let y = instance.call(&[("x", &x)]).unwrap();
    assert_eq!(y[0].1.as_f32(), Some(&[-1.0, 2.0, -0.5][..]));
    let foreign = if cfg!(target_arch = "aarch64") { "znver5" } else { "apple-m1" };
    let code = model.compile(&Target::named(foreign, "").unwrap()).unwrap();
    assert!(matches!(code.load(&Weights::none()), Err(Error::Load(_))));
    let error = Target::named("znver55", "").unwrap_err();
    assert!(matches!(error, Error::Target(_)), "{error}");
}

#[test]
fn a_graph_is_composed_by_name() {
    let document = counter();
    assert_eq!(document.graphs(), ["Counter", "Other"]);
    let model = document.compose(&ComposeOptions::default().graph("Other")).unwrap();
    let x = Tensor::from_f32(&[3], &[1.0, -2.0, 0.5]).unwrap();
    let y = model.evaluate(&[("x", &x)], &Weights::none()).unwrap();
    assert_eq!(y[0].1.as_f32(), Some(&[-1.0, 2.0, -0.5][..]));
    let short = Tensor::from_f32(&[2], &[1.0, -2.0]).unwrap();
    let error = model.evaluate(&[("x", &short)], &Weights::none()).unwrap_err();
    assert!(error.to_string().contains("x: f32[3]"), "{error}");
    assert!(model.to_mlir().unwrap().contains("skript.invoke"));
    let export = model.to_stablehlo().unwrap();
    assert!(export.text.contains("stablehlo.negate"), "{}", export.text);
    assert_eq!((export.arguments.len(), export.results.len()), (1, 1));
    let missing = document.compose(&ComposeOptions::default().graph("None"));
    assert!(matches!(missing, Err(Error::Name(_))));
}

#[test]
fn problems_are_data() {
    let text = "graph G {\n    @input { x: real[2]; }\n    @output { y: real[2]; }\n    @compose { y = nothing(x); }\n}\n";
    let document = Document::parse("bad.sknd", text, &Limits::default());
    let problem = &document.problems()[0];
    assert_eq!(problem.severity, Severity::Error);
    let at = problem.location.as_ref().unwrap();
    assert_eq!((at.path.as_str(), at.line, at.column), ("bad.sknd", 4, 20));
    let error = document.compose(&ComposeOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("bad.sknd:4:20: error[SK"), "{error}");
    let missing = Document::open(std::path::Path::new("/nowhere/at/all"), None, &Limits::default());
    let problem = &missing.problems()[0];
    assert_eq!(problem.severity, Severity::Error);
    assert!(problem.to_string().contains("/nowhere/at/all"), "{problem}");
}

#[test]
fn variables_without_values_and_damaged_code_are_errors() {
    let code = counter().compose(&ComposeOptions::default()).unwrap().compile(&Target::host()).unwrap();
    assert!(matches!(code.load(&Weights::none()), Err(Error::Arrays(_))));
    let mut bytes = code.to_bytes();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert!(matches!(Code::from_bytes(&bytes), Err(Error::Code(_))));
}

const PRODUCT: &str = "
import linalg;
graph Product {
    @input { a: real[20,300]; b: real[300,24]; }
    @output { y: real[20,24]; }
    @compose { y = linalg.matmul(a, b); }
}
";

#[test]
fn without_fast_math_a_sum_has_the_bits_of_a_loop() {
    let document = Document::parse("product.sknd", PRODUCT, &Limits::default());
    let model = document.compose(&ComposeOptions::default()).unwrap();
    // Fractions whose products and sums are rounded.
    let numbers = |count: usize, step: usize| -> Vec<f32> {
        let number = |n: usize| ((n * step) % 1009) as f32 / 1013.0 - 0.5;
        (0..count).map(number).collect()
    };
    let (a, b) = (numbers(20 * 300, 37), numbers(300 * 24, 53));
    let mut wanted = vec![0.0_f32; 20 * 24];
    for (n, sum) in wanted.iter_mut().enumerate() {
        for k in 0..300 {
            *sum += a[n / 24 * 300 + k] * b[k * 24 + n % 24];
        }
    }
    let a = Tensor::from_f32(&[20, 300], &a).unwrap();
    let b = Tensor::from_f32(&[300, 24], &b).unwrap();
    let computed = |level: FastMath| {
        let code = model.compile(&Target::host().with_fast_math(level));
        let mut instance = code.unwrap().load(&Weights::none()).unwrap();
        let outputs = instance.call(&[("a", &a), ("b", &b)]).unwrap();
        outputs[0].1.as_f32().unwrap().to_vec()
    };
    assert_eq!(computed(FastMath::None), wanted);
    let fast = computed(FastMath::Default);
    assert!(fast.iter().zip(&wanted).all(|(x, y)| (x - y).abs() < 1e-4));
}

/// The initial values of updated variables are in the code; every instance begins with them.
#[test]
fn code_with_embedded_weights_requires_no_weights() {
    let model = counter().compose(&ComposeOptions::default()).unwrap();
    let code = model.compile(&Target::host()).unwrap();
    let random = Weights::random(7);
    let x = Tensor::from_f32(&[2], &[1.0, 2.0]).unwrap();
    let calls = |code: &Code, weights: &Weights| {
        let mut instance = code.load(weights).unwrap();
        let first = instance.call(&[("x", &x)]).unwrap()[0].1.clone();
        let second = instance.call(&[("x", &x)]).unwrap()[0].1.clone();
        [first.bytes().to_vec(), second.bytes().to_vec()]
    };
    let expected = calls(&code, &random);
    let embedded = code.embed(&random).unwrap();
    assert_eq!(calls(&embedded, &Weights::none()), expected);
    let again = Code::from_bytes(&embedded.to_bytes()).unwrap();
    assert_eq!(again, embedded);
    assert_eq!(calls(&again, &Weights::none()), expected);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.skm");
    std::fs::write(&path, embedded.to_bytes()).unwrap();
    let opened = Code::open(&path).unwrap();
    assert_eq!(calls(&opened, &Weights::none()), expected);
    assert_eq!(calls(&opened, &Weights::none()), expected);
    let error = opened.load(&random).err().unwrap();
    assert!(matches!(error, Error::Run(_)), "{error}");
}

/// A field of a protobuf message with a length.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2, content.len() as u8];
    bytes.extend_from_slice(content);
    bytes
}

/// An ONNX model `y = x + w`, with float tensors of 2 elements.
fn sum_in_onnx() -> Vec<u8> {
    let kind = [&[1 << 3, 1][..], &field(2, &field(1, &[1 << 3, 2]))].concat();
    let value = |name: &str| [field(1, name.as_bytes()), field(2, &field(1, &kind))].concat();
    let node = [field(1, b"in.1"), field(1, b"w"), field(2, b"y"), field(4, b"Add")].concat();
    let data: Vec<u8> = [10.0f32, 20.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let w = [&[1 << 3, 2, 2 << 3, 1][..], &field(8, b"w"), &field(9, &data)].concat();
    let graph =
        [field(1, &node), field(2, b"sum"), field(5, &w), field(11, &value("in.1")), field(12, &value("y"))];
    let opset = [field(1, b""), vec![2 << 3, 17]].concat();
    [vec![1 << 3, 8], field(7, &graph.concat()), field(8, &opset)].concat()
}

#[test]
fn an_onnx_model_is_a_document_with_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sum.onnx");
    std::fs::write(&path, sum_in_onnx()).unwrap();
    let import = |path| Document::import(path, ImportOptions::default(), &Limits::default());
    let document = import(&path);
    assert!(document.problems().is_empty(), "{:?}", document.problems());
    let model = document.compose(&ComposeOptions::default()).unwrap();
    let input = &model.inputs()[0];
    assert_eq!(input.aliases, ["in.1"]);
    let ours = input.name.as_str();
    let code = model.compile(&Target::host()).unwrap();
    let code = Code::from_bytes(&code.to_bytes()).unwrap();
    assert_eq!(code.inputs(), model.inputs());
    assert_eq!(code.outputs(), model.outputs());
    let x = Tensor::from_f32(&[2], &[1.0, 2.0]).unwrap();
    let weights = document.weights().unwrap();
    let outputs = model.evaluate(&[(ours, &x)], &weights).unwrap();
    assert_eq!(outputs[0].1.as_f32(), Some(&[11.0, 22.0][..]));
    assert_eq!(model.calls()[0].operator, "math.add");

    std::fs::write(&path, b"nothing").unwrap();
    let problems = import(&path).problems().to_vec();
    assert!(problems[0].message.contains("sum.onnx"), "{problems:?}");
}

#[test]
fn weights_are_arrays_in_memory_and_programs_are_stablehlo() {
    let model = counter().compose(&ComposeOptions::default()).unwrap();
    let total = Tensor::from_f32(&[2], &[1.0, 2.0]).unwrap();
    let weights = Weights::arrays([("counter.Counter.total".to_owned(), total)]);
    assert_eq!(model.variable_values(&weights).unwrap()[0].as_f32(), Some(&[1.0, 2.0][..]));
    let text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.add %a, %a : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n";
    let code = Code::of_stablehlo(text, &Target::host()).unwrap();
    assert_eq!(code.outputs().len(), 1);
    let x = Tensor::from_f32(&[2], &[1.0, 2.0]).unwrap();
    let outputs = code.load(&Weights::none()).unwrap().call(&[("0", &x)]).unwrap();
    assert_eq!(outputs[0].1.as_f32(), Some(&[2.0, 4.0][..]));
    let wrong = Code::of_stablehlo("func.func @main() {", &Target::host());
    assert!(matches!(wrong, Err(Error::Program(reasons)) if !reasons.is_empty()));
}

#[test]
fn targets_with_integers_apply_to_stablehlo() {
    // The converted factors are outputs too, so that conversions are not fused into the product.
    let text = "func.func @main(%x: tensor<5x7xi8>, %w: tensor<4x7xi8>) -> (tensor<5x4xf32>, tensor<5x7xf32>, tensor<4x7xf32>) {
        %a = stablehlo.convert %x : (tensor<5x7xi8>) -> tensor<5x7xf32>
        %b = stablehlo.convert %w : (tensor<4x7xi8>) -> tensor<4x7xf32>
        %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<5x7xf32>, tensor<4x7xf32>) -> tensor<5x4xf32>
        return %c, %a, %b : tensor<5x4xf32>, tensor<5x7xf32>, tensor<4x7xf32>
    }";
    let bytes = |target: &Target| Code::of_stablehlo(text, target).unwrap().to_bytes();
    let integers = bytes(&Target::host().with_integers(true));
    let reals = bytes(&Target::host().with_integers(false));
    assert!(integers != reals, "the code is the same");
    assert!(bytes(&Target::host()) == reals, "the default is not reals");
}

const ENDLESS: &str = "
operator same { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; } }
operator below { @input { x: real[n]; } @output { y: bool[]; } @lower { y[] = true; y[] &= x[i,] < 30.0, i < n; } }
graph G {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @compose { y = with s = x while below(s) do same(s); }
}
";

/// A loop that no value ends is stopped by another thread; the instance then refuses all calls until it is reset.
#[test]
fn a_call_that_does_not_end_is_stopped() {
    let limits = Limits { loop_steps: 1 << 62, ..Limits::default() };
    let document = Document::parse("endless.sknd", ENDLESS, &limits);
    let model = document.compose(&ComposeOptions::default()).unwrap();
    let code = model.compile(&Target::host()).unwrap();
    let mut instance = code.load(&Weights::none()).unwrap();
    let stop = instance.stop_handle().unwrap();
    let [small, large] = [1.0, 31.0].map(|x| Tensor::from_f32(&[2], &[x, x]).unwrap());
    let stopped = |result: Result<Vec<_>, Error>| match result {
        Err(Error::Run(RunError::Stopped { trace })) => trace,
        other => panic!("{:?}", other.map(|outputs| outputs.len())),
    };
    let trace = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            stop.stop();
        });
        stopped(instance.call(&[("x", &small)]))
    });
    assert!(trace.iter().any(|frame| frame.contains("endless.sknd:7")), "{trace:?}");
    for x in [&small, &large] {
        assert!(stopped(instance.call(&[("x", x)])).is_empty());
    }
    stop.reset();
    assert!(instance.call(&[("x", &large)]).is_ok());
}
