// SPDX-License-Identifier: Apache-2.0
//! The weights of a session's model.

use std::path::Path;

use skript::Model;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::WEIGHTS;
use skript_tensor::contents::{self, Listed};
use skript_tensor::{MissingWeights, Tensor, TensorError, WeightStore};

use super::Session;
use crate::command_line::{WeightsArgument, WeightsArguments};
use crate::console::Status;

/// The source of weights, and the values of missing weights.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// The folder of the weights; `None` for the model's folder.
    pub folder: Option<&'a Path>,
    pub given: Option<&'a WeightsArgument>,
    /// The hint of the command for missing weights.
    pub remedy: &'static str,
}

impl Weights<'_> {
    /// Only the weights in the model's folder.
    pub fn from_model_folder() -> Self {
        Weights {
            folder: None,
            given: None,
            remedy: "add the file, or write all weights to a .safetensors or .npz file next to the main module, with the same stem",
        }
    }
}

impl<'a> From<&'a WeightsArguments> for Weights<'a> {
    fn from(arguments: &'a WeightsArguments) -> Self {
        Weights {
            folder: arguments.variables.as_deref(),
            given: arguments.weights.as_ref(),
            remedy: "--weights=zero or --weights=random:SEED fills missing weights; --weights FILE reads them from a file, --variables DIR all weights from another folder",
        }
    }
}

impl Session<'_> {
    /// The sources of this session's weights.
    pub fn weights(&self, weights: Weights) -> Result<skript::Weights, skript::Error> {
        let max_bytes = self.unpacked_bytes();
        let store = match weights.folder {
            Some(path) => skript::Weights::new(WeightStore::open(path, max_bytes)?),
            None => self.document.weights()?,
        };
        Ok(match weights.given {
            None => store,
            Some(WeightsArgument::From(path)) => store.after(WeightStore::open(path, max_bytes)?),
            Some(WeightsArgument::Zero) => store.or(MissingWeights::Zero),
            Some(WeightsArgument::Random(seed)) => store.or(MissingWeights::Random(*seed)),
        })
    }

    /// The model's variables, from its folder or the source on the command line. Reports missing and unsuitable weights and
    /// returns `None` if there are any.
    pub fn variables(&mut self, model: &Model, weights: Weights) -> Option<Vec<Tensor>> {
        let loaded = match self.weights(weights) {
            Ok(loaded) => loaded,
            Err(error) => {
                self.report_all(error.into());
                return None;
            }
        };
        let requests = model.requests();
        let each = loaded.load_each(&requests);
        let (mut tensors, mut absent) = (Vec::new(), Vec::new());
        for ((variable, request), loaded) in model.ir().variables.iter().zip(&requests).zip(each) {
            match loaded {
                Ok(tensor) => tensors.push(tensor.into_shared()),
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
            for remark in contents::remarks(&listed, loaded.store()) {
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
