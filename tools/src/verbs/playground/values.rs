// SPDX-License-Identifier: Apache-2.0
//! `skript playground-values`, a hidden command: the arrays of a call on random inputs as JSON.

use serde_json::{Value, json};
use skript::{Compiler, Model, Target, Tensor};
use skript_semantics::Scalar;

use crate::command_line::{EngineName, InputArgument, ValuesArguments, WeightsArgument};
use crate::console::{Console, Status};
use crate::engine::{Calls, Job};
use crate::session::{Session, Stopped, Weights, reporter};
use crate::watch::Watch;
use crate::{inputs, outputs};

/// Maximum number of elements of an array in the result.
const MAX_ELEMENTS: usize = 1 << 16;
/// The largest integer that a number of JavaScript represents together with all smaller ones.
const MAX_EXACT: u64 = 1 << 53;

pub fn print_values(arguments: &ValuesArguments, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.stop.timeout, reporter(arguments.reading.message_format));
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
        && let Some(arrays) = arrays(arguments, &mut session, &model)
    {
        match call(arguments, &model, &arrays) {
            Ok(result) => crate::stdout::print(&format!("{result}\n")),
            Err(stopped) => session.report_all(stopped),
        }
    }
    session.close(console)
}

/// Random inputs and weights. Reports errors, and returns `None` after them.
fn arrays(arguments: &ValuesArguments, session: &mut Session, model: &Model) -> Option<inputs::Arrays> {
    let given = inputs::or_random(model.ir(), &[]).into_iter().map(|input| match input {
        InputArgument::Random { name, .. } => InputArgument::Random { name, seed: arguments.seed },
        other => other,
    });
    let weights = WeightsArgument::Random(arguments.seed);
    let weights = Weights { given: Some(&weights), ..Weights::from_model_folder() };
    inputs::prepare(session, model, &given.collect::<Vec<_>>(), weights)
}

fn call(
    arguments: &ValuesArguments,
    model: &Model,
    (inputs, variables): &inputs::Arrays,
) -> Result<Value, Stopped> {
    let job = Job { model, inputs, variables };
    let computed = match arguments.engine {
        EngineName::Reference => job.evaluate(1)?,
        EngineName::Compiled => {
            let compiler = Compiler::new(&Target::host());
            job.compute(&compiler, Calls { count: 1, is_profiled: false, is_cached: false })?
        }
    };
    let results = model.converted(computed.outputs);
    Ok(json!({
        "inputs": listed(&inputs::names(model.ir()), inputs),
        "outputs": listed(&outputs::names(model.ir()), &results),
        "seconds": computed.spent.run.as_secs_f64(),
    }))
}

fn listed(names: &[String], tensors: &[Tensor]) -> Value {
    let arrays = names.iter().zip(tensors).map(|(name, tensor)| {
        let values: Vec<Value> = (0..tensor.volume().min(MAX_ELEMENTS))
            .map(|at| tensor.get(at).map_or(Value::Null, number))
            .collect();
        json!({
            "name": name,
            "type": tensor.element().to_string(),
            "shape": tensor.shape(),
            "elements": tensor.volume(),
            "values": values,
        })
    });
    arrays.collect()
}

/// A number that JSON has, and otherwise a text.
fn number(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Int(value) if value.unsigned_abs() <= MAX_EXACT => value.into(),
        Scalar::Int(value) => value.to_string().into(),
        Scalar::Real(value) if value.is_finite() => value.into(),
        Scalar::Real(value) if value.is_nan() => "NaN".into(),
        Scalar::Real(value) => if value > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        Scalar::Bool(value) => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_form_in_json_are_texts() {
        let reals =
            [1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| number(Scalar::Real(value)));
        assert_eq!(json!(reals), json!([1.5, "NaN", "Infinity", "-Infinity"]));
        let ints = [-3, 1 << 53, (1 << 53) + 1, i64::MIN].map(|value| number(Scalar::Int(value)));
        assert_eq!(
            json!(ints),
            json!([-3, 9007199254740992_i64, "9007199254740993", "-9223372036854775808"])
        );
    }

    #[test]
    fn long_arrays_are_cut() {
        let long = Tensor::from_i64(&[70_000], &vec![1; 70_000]).unwrap();
        let listed = listed(&["x".to_owned()], &[long]);
        assert_eq!(listed[0]["elements"], 70_000);
        assert_eq!(listed[0]["values"].as_array().unwrap().len(), MAX_ELEMENTS);
    }
}
