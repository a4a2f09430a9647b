// SPDX-License-Identifier: Apache-2.0
//! Names of requests, and graphs with many steps.

use crate::formulas;
use crate::model::{Composed, Random, compare, composed, evaluated, reals, tensor};
use skript_gradient::{Gradient, Mode, Request, Training, gradient};
use std::fmt::Write as _;

/// The product of two numbers.
const PRODUCT: &str = "operator product { @input { a: real[]; b: real[]; } @output { c: real[]; } \
                       @lower { c[] = a[] * b[]; } }\n";

fn derived(document: &Composed, wrt: &[&str]) -> Result<Gradient, String> {
    let request = Request { wrt: wrt.iter().map(|name| (*name).to_owned()).collect(), ..Request::default() };
    gradient(&document.model, &document.sources, &request).map_err(|reasons| {
        let messages: Vec<String> = reasons.into_iter().map(|reason| reason.message).collect();
        messages.join("; ")
    })
}

/// The outputs of the gradient of a document of numbers.
fn gradients(text: &str, wrt: &[&str], arguments: &[f64]) -> Vec<f64> {
    let derived = derived(&composed(text).unwrap(), wrt).unwrap();
    let derived = composed(&derived.text).unwrap_or_else(|reason| panic!("{reason}\n{}", derived.text));
    let arguments: Vec<_> = arguments.iter().map(|value| tensor(&[], &[*value])).collect();
    evaluated(&derived.model, &arguments).unwrap().iter().flat_map(reals).collect()
}

/// The variables `a.b` and `a_b`, and an input whose name is that of all variables: `y = variables * a.b * a_b`.
fn colliding() -> String {
    format!(
        "{PRODUCT}operator scaled {{ @input {{ x: real[]; }} @output {{ y: real[]; }} @variable {{ b: real[]; }} \
         @compose {{ y = product(x, b); }} }}
graph G {{ @input {{ variables: real[]; }} @variable {{ a_b: real[]; }} @output {{ y: real[]; }}
    @compose {{ h = product(variables, a_b); y = a: scaled(h); }} }}"
    )
}

#[test]
fn names_of_the_model_select() {
    let document = composed(&colliding()).unwrap();
    let names: Vec<&str> = document.model.variables.iter().map(|v| v.name.as_str()).collect();
    let values: Vec<f64> = names.iter().map(|name| if name.ends_with(".a.b") { 5.0 } else { 3.0 }).collect();
    assert!(names.contains(&"main.G.a.b") && names.contains(&"main.G.a_b"), "{names:?}");
    let arguments = [2.0, values[0], values[1]];
    assert_eq!(gradients(&colliding(), &["a.b"], &arguments), [30.0, 6.0]);
    assert_eq!(gradients(&colliding(), &["a_b"], &arguments), [30.0, 10.0]);
    assert_eq!(gradients(&colliding(), &["variables"], &arguments), [30.0, 15.0]);
    let ambiguous = derived(&document, &["a:b"]).unwrap_err();
    assert!(ambiguous.starts_with("`a:b` may be `a") && ambiguous.contains("`a.b`"), "{ambiguous}");
    let unknown = derived(&document, &["c"]).unwrap_err();
    assert!(unknown.contains("no input or variable `c`, only `variables`, "), "{unknown}");
}

/// Near miss: without such an input, the word means all variables.
#[test]
fn a_word_selects_all_variables() {
    let text = colliding().replace("variables", "x");
    assert_eq!(gradients(&text, &["variables"], &[2.0, 3.0, 3.0]), [18.0, 6.0, 6.0]);
    let joined = gradients(&text.replace("a_b", "c"), &["a_b"], &[2.0, 3.0, 3.0]);
    assert_eq!(joined, [18.0, 6.0]);
}

fn looped(count: u64, body: &str) -> String {
    format!(
        "{PRODUCT}graph G {{ @input {{ x: real[]; w: real[]; }} @output {{ y: real[]; }}
    @compose {{ y = with h = x do..({count}) {{ {body} }}; }} }}"
    )
}

/// The derivatives of `x * w ** 1100`: 1100 adjoints of one tensor are added.
#[test]
fn a_sum_of_many_adjoints_is_within_the_limits_of_a_document() {
    let (x, w) = (3.0, 1.0 + 1.0 / 1024.0);
    let computed = gradients(&looped(1100, "n = product(h, w); yield n;"), &["w", "x"], &[x, w]);
    let power = |exponent: i32| f64::powi(w, exponent);
    let expected = [x * power(1100), 1100.0 * x * power(1099), power(1100)];
    for (computed, expected) in computed.iter().zip(expected) {
        assert!((computed - expected).abs() < 1e-10 * expected, "{computed} instead of {expected}");
    }
    assert_eq!(computed.len(), 3);
}

/// The time is linear in the number of steps: a quadratic algorithm would take minutes.
#[test]
fn many_steps_take_linear_time() {
    let body = "n = product(h, w); m = product(n, w); yield m;";
    let written = derived(&composed(&looped(30_000, body)).unwrap(), &["w"]).unwrap();
    assert!(written.text.contains("n_30000 = product("));
    let beyond = derived(&composed(&looped(40_000, body)).unwrap(), &["w"]).unwrap_err();
    assert!(beyond.contains("more than 65536 steps"), "{beyond}");
}

/// Loops that compute nothing end too.
#[test]
fn iterations_without_operations_are_counted() {
    let inner = "b = with k = h do..(60000) { yield k; }; yield b;";
    for text in [looped(1_000_000_000_000, "yield h;"), looped(60_000, inner)] {
        let refused = derived(&composed(&text).unwrap(), &["x"]).unwrap_err();
        assert!(refused.contains("more than 65536 steps"), "{refused}");
    }
}

/// Each local reads the previous one twice: 2 to the power of 40 paths.
#[test]
fn locals_are_visited_once() {
    let mut locals = "v0 = at[j,], ".to_owned();
    for n in 1..=40 {
        let _ = write!(locals, "v{n} = (v{0} * v{0}) % 2, ", n - 1);
    }
    let text = formulas::document(
        "x: real[9,2]; at: int[3];",
        "y: real[4]",
        &format!("{locals}y[i,] += x[2 * i + j,v40] * x[2 * i + j,v40], i < 4, j < 3;"),
    );
    assert!(derived(&composed(&text).unwrap(), &["x"]).unwrap().text.contains("v40"));
}

/// Outputs that several formulas write, which a document writes through local tensors, and a local tensor that no formula reads.
const SEVERAL: [(&str, &str); 7] = [
    (
        "a concatenation of two tensors",
        "import layout; graph G { @input { x: real[2]; z: real[2]; } @output { y: real[4]; }
         @compose { y = layout.concat{axis=0}([x, z]); } }",
    ),
    (
        "a concatenation of four tensors",
        "import layout; graph G { @input { x: real[2]; z: real[3]; } @output { y: real[10]; }
         @compose { y = layout.concat{axis=0}([x, z, x, z]); } }",
    ),
    (
        "a stack",
        "import layout; graph G { @input { x: real[2]; z: real[2]; } @output { y: real[3,2]; }
         @compose { y = layout.stack{axis=0}([x, z, x]); } }",
    ),
    (
        "a sum over a pack",
        "operator o { @input { xs: real[n]..(k); } @output { y: real[n]; }
         @lower { y[i,] += xs[j][i,] * xs[0][i,], i < n, j < k; } }
         graph G { @input { a: real[3]; b: real[3]; } @output { y: real[3]; } @compose { y = o([a, b, a, b]); } }",
    ),
    (
        "a maximum over a pack",
        "operator o { @input { xs: real[n]..(k); } @output { y: real[n]; }
         @lower { y[i,] >= xs[j][i,] * xs[j][i,], i < n, j < k; } }
         graph G { @input { a: real[3]; b: real[3]; c: real[3]; } @output { y: real[3]; }
         @compose { y = o([a, b, c]); } }",
    ),
    (
        "a range",
        "operator o { @input { x: real[n,m]; } @output { y: real[n,m]; } @lower { y[i,:] = x[i,:], i < n; } }
         graph G { @input { x: real[3,2]; } @output { y: real[3,2]; } @compose { y = o(x); } }",
    ),
    (
        "an unread local tensor",
        "operator o { @attrib { norm: bool = false; } @input { x: real[n]; } @output { y: real[n]; }
         @lower { m[] += x[i,] * x[i,], i < n; y[i,] = norm ? x[i,] / m[] : x[i,] * x[i,], i < n; } }
         graph G { @input { x: real[3]; } @output { y: real[3]; } @compose { y = o(x); } }",
    ),
];

#[test]
fn outputs_of_several_formulas() {
    let mut wrong = Vec::new();
    for (name, text) in SEVERAL {
        if let Err(reason) = crate::checked(text, 5) {
            wrong.push(format!("{name}: {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `y = exp(x) * x`: the adjoint of `x` is a sum, and the gradient of the gradient has the same names.
#[test]
fn gradients_have_the_names_of_their_tensors() {
    let text = "import math; graph G { @input { x: real[]; } @output { y: real[]; }
                @compose { t = math.exp(x); y = math.mul(x, t); } }";
    let first = derived(&composed(text).unwrap(), &["x"]).unwrap();
    let document = composed(&first.text).unwrap();
    let outputs = &document.model.function(document.model.entry).unwrap().outputs;
    let names: Vec<&str> = outputs.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["y", "x_grad"]);
}

/// `if t then x * w elif x * w > 9 then 0.5 * w else x`: each branch has its gradients; those of unselected ones are 0.
#[test]
fn branches_that_data_decide() {
    let text = format!(
        "{PRODUCT}operator is_large {{ @input {{ x: real[]; }} @output {{ y: bool[]; }} @lower {{ y[] = x[] > 9.0; }} }}
graph G {{ @input {{ x: real[]; w: real[]; t: real[]; }} @output {{ y: real[]; }}
    @compose {{
        p = product(x, w);
        first = is_large(t);
        y = if first then product(p, w) elif is_large(p) then product(0.5, w) else product(x, x);
    }} }}"
    );
    assert_eq!(gradients(&text, &["x", "w"], &[3.0, 2.0, 10.0]), [12.0, 4.0, 12.0]);
    assert_eq!(gradients(&text, &["x", "w"], &[3.0, 4.0, 1.0]), [2.0, 0.0, 0.5]);
    assert_eq!(gradients(&text, &["x", "w"], &[3.0, 2.0, 1.0]), [9.0, 6.0, 0.0]);
}

/// `if x > 9 then x * x elif x > 0 then sqrt(x) else 3 * x`: the derivative of the root is infinite at 0 and NaN below, where its branch
/// is not taken; nor is it above 9, where both conditions hold.
#[test]
fn branches_that_are_not_taken_have_no_influence() {
    let text = format!(
        "{PRODUCT}operator above {{ @attrib {{ limit: real; }} @input {{ x: real[]; }} @output {{ y: bool[]; }} @lower {{ y[] = x[] > limit; }} }}
operator root {{ @input {{ x: real[]; }} @output {{ y: real[]; }} @lower {{ y[] = `sqrt`(`abs`(x[] - 16.0) * x[]); }} }}
graph G {{ @input {{ x: real[]; }} @output {{ y: real[]; }}
    @compose {{
        large = above{{limit=9.0}}(x);
        y = if large then product(x, x) elif above{{limit=0.0}}(x) then root(x) else product(x, 3.0);
    }} }}"
    );
    assert_eq!(gradients(&text, &["x"], &[16.0])[1], 32.0);
    assert_eq!(gradients(&text, &["x"], &[0.0])[1], 3.0);
    assert_eq!(gradients(&text, &["x"], &[-4.0])[1], 3.0);
    assert_eq!(gradients(&text, &["x"], &[8.0]), [8.0, 0.0]);
}

/// Loops that data end, up to a bound: a condition before the steps, one after them, a number of steps, and a pack of which data select
/// the first items. `x < 9` ends them; the square roots of later steps would be those of negative numbers.
#[test]
fn loops_that_data_end() {
    let graph = |output: &str| {
        format!(
            "{PRODUCT}operator below {{ @attrib {{ limit: real; }} @input {{ x: real[]; }} @output {{ y: bool[]; }} @lower {{ y[] = x[] < limit; }} }}
operator root {{ @input {{ x: real[]; w: real[]; }} @output {{ y: real[]; }} @lower {{ y[] = w[] * x[] + `sqrt`(9.5 - x[]); }} }}
operator count {{ @input {{ x: real[]; }} @output {{ k: int[]; }} @lower {{ k[] = int(x[]); }} }}
graph G {{ @input {{ x: real[]; w: real[]; }} @output {{ y: real[]; }} @compose {{ {output} }} }}"
        )
    };
    let loops = [
        "y = with h = x while below{limit=6.0}(h) do..(9) { n = root(h, w); yield n; };",
        "y = with h = x do..(9) { n = root(h, w); yield n; } while below{limit=6.0}(h);",
        "k = count(w); y = with h = x for e : [w, x, w, x, w] do..(k) { p = product(h, e); n = product(p, w); yield n; };",
        "y = with h = x while below{limit=6.0}(h) do..(step -> 9) { p = root(h, w); n = if below{limit=4.0}(p) then product(p, w) else p; yield n; };",
        // No step is executed.
        "y = with h = x while below{limit=0.5}(h) do..(9) { n = root(h, w); yield n; };",
    ];
    for text in loops {
        let document = composed(&graph(text)).unwrap();
        for (x, w) in [(0.9, 1.3), (1.1, 2.2), (2.5, 3.1)] {
            let values = [tensor(&[], &[x]), tensor(&[], &[w])];
            if let Err(reason) = compare(&document, &values, &mut Random(1)) {
                panic!("{text} at {x}, {w}: {reason}");
            }
        }
    }
    let unbounded = graph("y = with h = x while below{limit=6.0}(h) do { n = root(h, w); yield n; };");
    let refused = derived(&composed(&unbounded).unwrap(), &["x"]).unwrap_err();
    assert!(refused.contains("no bound for it; write one, as in `while c do..(20)`"), "{refused}");
}

/// Intrinsics are invoked, also those without derivatives, such as random numbers, and positions of elements.
#[test]
fn intrinsics_are_invoked() {
    let graph = |inputs: &str, statements: &str| {
        format!(
            "import rand; import algo; import image;
operator weigh {{ @input {{ x: real[n]; w: real[n]; }} @output {{ y: real[n]; }} @lower {{ y[i,] = x[i,] * x[i,] * w[i,], i < n; }} }}
operator at {{ @input {{ x: real[n]; k: int[m]; }} @output {{ y: real[m]; }} @lower {{ y[i,] = x[k[i,],] ** 2.0, i < m; }} }}
graph G {{ @input {{ {inputs} }} @output {{ y: real; }} @compose {{ {statements} }} }}"
        )
    };
    let cases = [
        ("x: real[4];", "w = rand.uniform{min=0.5, shape=[4]}(); y = weigh(x, w);"),
        ("x: real[4];", "~, k = algo.top_k{k=2, largest=false}(x); y = at(x, k);"),
        ("x: real[4,3,2];", "y, ~ = algo.top_k{k=2, axis=-2, sorted=true}(x);"),
        ("x: real[3,4];", "y = image.cubic_resize{axes=[1, 0], size=[3, 7]}(x);"),
        (
            "x: real[7];",
            "y = image.cubic_resize{size=[3], antialias=true, coordinate_transform='ALIGNED'}(x);",
        ),
    ];
    for (inputs, statements) in cases {
        let text = graph(inputs, statements);
        if let Err(reason) = crate::checked(&text, 5) {
            panic!("{statements}: {reason}");
        }
    }
    let text = graph("x: real[1,1,4,4]; g: real[1,2,2,2];", "y = image.grid_sample{mode='CUBIC'}(x, g);");
    let refused = derived(&composed(&text).unwrap(), &["x"]).unwrap_err();
    assert!(refused.contains("`image._cubic_grid_sample` cannot be differentiated"), "{refused}");
}

/// The factor of an input in the sums of a triangle that is too large to be unrolled: `y = sum over i of sum over j <= i of x[j]²`.
#[test]
fn a_triangular_range_is_static() {
    let text = "operator o { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] += x[j,] * x[j,], i < n, j < i + 1; } }
graph G { @input { x: real[300]; } @output { y: real[300]; } @compose { y = o(x); } }";
    let derived = derived(&composed(text).unwrap(), &["x"]).unwrap();
    let derived = composed(&derived.text).unwrap_or_else(|reason| panic!("{reason}\n{}", derived.text));
    let arguments = [vec![2.0; 300], vec![1.0; 300]].map(|values| tensor(&[300], &values));
    let outputs = evaluated(&derived.model, &arguments).unwrap();
    let expected: Vec<f64> = (0..300).map(|j| 4.0 * f64::from(300 - j)).collect();
    assert_eq!(reals(&outputs[1]), expected);
}

fn trained(training: Training, wrt: &str) -> Result<String, String> {
    let text = format!(
        "{PRODUCT}graph G {{ @input {{ x: real[]; }} @variable {{ w: real[]; v: real[]; n: real[]; }} @output {{ y: real[]; }}
    @compose {{ p = product(x, w); y = product(p, v); }} @update {{ n = p; }} }}"
    );
    let document = composed(&text)?;
    let request = Request { of: Vec::new(), wrt: vec![wrt.to_owned()], mode: Mode::Training(training) };
    let derived = gradient(&document.model, &document.sources, &request);
    let derived = derived.map_err(|reasons| reasons.into_iter().map(|r| r.message).collect::<String>())?;
    composed(&derived.text)?;
    Ok(derived.text)
}

fn adam() -> Training {
    Training { optimizer: "optim.adam{rate=0.5}".to_owned(), ..Training::default() }
}

/// The update of the model remains, and its variable is not trained.
#[test]
fn a_step_of_training_updates_variables() {
    let text = trained(adam(), "variables").unwrap();
    assert!(
        text.starts_with("import optim;\n\n# A step of training: `optim.adam{rate=0.5}` reduces `y`"),
        "{text}"
    );
    let update = text.split("@update {").nth(1).unwrap().split('}').next().unwrap().trim();
    assert!(update.starts_with("n = p;\n        w = w_step: optim.adam{rate=0.5"), "{text}");
    assert!(text.contains("v = v_step: optim.adam{rate=0.5}(v, v_grad);"), "{text}");
    assert!(!text.contains("n_step") && !text.contains("x_grad"), "{text}");
}

#[test]
fn limits_and_schedules_of_a_step() {
    let training = Training {
        schedule: Some("optim.cosine{steps=9}".to_owned()),
        clip_norm: Some(2.0),
        clip_value: Some(0.5),
        ..adam()
    };
    let text = trained(training, "w").unwrap();
    for line in [
        "w_grad_limited = optim.clip_value{limit=0.5}(w_grad);",
        "w_grad_limited_squares = optim.sum_of_squares(w_grad_limited);",
        "norm_factor = optim.norm_factor{limit=2.0}([w_grad_limited_squares]);",
        "w_grad_limited_scaled = optim.scale(w_grad_limited, norm_factor);",
        "factor = schedule: optim.cosine{steps=9}();",
        "w = w_step: optim.adam{rate=0.5}(w, w_grad_limited_scaled, factor);",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
}

#[test]
fn requests_that_do_not_train() {
    let optimizer = |text: &str| Training { optimizer: text.to_owned(), ..Training::default() };
    for wrong in
        ["adam", "optim.adam{rate=1", "optim.adam}", "optim.adam{a=1};b{}", "optim.adam(x)", ".adam", ""]
    {
        let message = trained(optimizer(wrong), "w").unwrap_err();
        assert!(message.contains(&format!("the optimizer `{wrong}` is not an operator")), "{message}");
    }
    let message = trained(adam(), "x").unwrap_err();
    assert_eq!(message, "training updates variables, and `x` is an input");
    let message = trained(adam(), "n").unwrap_err();
    assert!(message.starts_with("`n` has a new value by `@update` of the model"), "{message}");
}
