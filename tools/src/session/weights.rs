// SPDX-License-Identifier: Apache-2.0
//! The weights of a session's model.

use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::WEIGHTS;
use skript_frontend::model::{Extent, Model};
use skript_tensor::contents::{self, Listed};
use skript_tensor::{
    ElementType, MissingWeights, Tensor, TensorError, VariableRequest, WeightStore, load_each,
};

use super::Session;
use crate::command_line::WeightsArgument;
use crate::console::Status;

/// The source of weights, and the values of missing ones.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// The model's own folder if `None`.
    pub folder: Option<&'a Path>,
    pub given: Option<&'a WeightsArgument>,
    /// The verb's hint for missing weights.
    pub remedy: &'static str,
}

impl Weights<'_> {
    /// Only the weights in the model's folder.
    pub fn of_the_model() -> Self {
        Weights {
            folder: None,
            given: None,
            remedy: "add the file, or write all weights to a .safetensors or .npz file next to the main module, with the same stem",
        }
    }
}

impl<'a> Weights<'a> {
    /// Those of the command line: `--variables` and `--weights`.
    pub fn of_arguments(folder: Option<&'a Path>, given: Option<&'a WeightsArgument>) -> Self {
        Weights {
            folder,
            given,
            remedy: "--weights=zero or --weights=random:SEED fills missing weights; --weights FILE reads them from a file, --variables DIR all weights from another folder",
        }
    }
}

impl Session<'_> {
    /// The sources of this session's weights.
    pub fn store(&self, weights: Weights) -> Result<WeightStore, TensorError> {
        let own = &self.program.folder;
        let most = self.limits.unpacked_bytes;
        let store = match (weights.folder, &self.packed) {
            (Some(path), _) => WeightStore::open(path, most)?,
            (None, _) if let Some(held) = &self.held => WeightStore::held(held.clone()),
            (None, Some(files)) => WeightStore::packed(files.clone()),
            (None, None) if own.as_os_str().is_empty() => {
                WeightStore::folder(Path::new("."), &self.program.main, most)?
            }
            (None, None) => WeightStore::folder(own, &self.program.main, most)?,
        };
        match weights.given {
            Some(WeightsArgument::From(path)) => Ok(store.after(WeightStore::open(path, most)?)),
            _ => Ok(store),
        }
    }

    /// The model's variables, from its folder or the source on the command line. `None` if any is missing or wrong,
    /// which is reported.
    pub fn variables(&mut self, model: &Model, weights: Weights) -> Option<Vec<Tensor>> {
        let missing = match weights.given {
            None | Some(WeightsArgument::From(_)) => MissingWeights::Error,
            Some(WeightsArgument::Zero) => MissingWeights::Zero,
            Some(WeightsArgument::Random(seed)) => MissingWeights::Random(*seed),
        };
        let store = match self.store(weights) {
            Ok(store) => store,
            Err(error) => {
                self.report(Diagnostic::without_location(&WEIGHTS, error.to_string()));
                return None;
            }
        };
        let requests = requests(model);
        let each = load_each(&store, &requests, missing);
        let (mut tensors, mut absent) = (Vec::new(), Vec::new());
        for ((variable, request), loaded) in model.variables.iter().zip(&requests).zip(each) {
            match loaded {
                Ok(tensor) => tensors.push(tensor),
                Err(error @ TensorError::Missing { .. }) => {
                    absent.push((variable.span, error, Listed::from(request)));
                }
                Err(error) => self.report(Diagnostic::error(&WEIGHTS, variable.span, error.to_string())),
            }
        }
        if let Some((span, error, _)) = absent.first() {
            let text = match absent.len() {
                1 => error.to_string(),
                2 => format!("{error}; 1 more variable has none"),
                n => format!("{error}; {} more variables have none", n - 1),
            };
            let listed: Vec<Listed> = absent.iter().map(|(_, _, l)| l.clone()).collect();
            let mut wrong = Diagnostic::error(&WEIGHTS, *span, text);
            for remark in contents::remarks(&listed, &store) {
                wrong = wrong.with_note(None, remark);
            }
            self.report(match weights.remedy {
                "" => wrong,
                remedy => wrong.with_help(remedy),
            });
        }
        (self.status == Status::Done).then_some(tensors)
    }
}

/// The variables of a model, as they are looked up in files of weights.
pub fn requests(model: &Model) -> Vec<VariableRequest<'_>> {
    let requests = model.variables.iter().map(|variable| VariableRequest {
        name: &variable.name,
        aliases: &variable.aliases,
        element: ElementType::run_time(variable.tensor.kind, variable.numbers),
        shape: variable.tensor.shape.iter().map(Extent::bound).collect(),
    });
    requests.collect()
}
