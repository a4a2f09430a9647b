// SPDX-License-Identifier: Apache-2.0
//! The derivatives of a model, which are models.

use crate::compose::ComposeOptions;
use crate::document::{Document, Files};
use crate::error::Error;
use crate::model::Model;
use crate::onnx::formatted;
use crate::problem::Problem;
use crate::weights::Weights;
use skript_frontend::diagnostics::codes::GRADIENT;
use skript_frontend::diagnostics::{Diagnostic, Sink};
use skript_frontend::program::Origin as ModuleOrigin;
use skript_frontend::source_files::load_program_with;
pub use skript_gradient::{Mode, Training};
use skript_import::Origin;
use skript_runtime::artifact;
use skript_semantics::ScalarKind;
use skript_tensor::{ElementType, HeldArrays, Tensor, TensorError};
use std::path::{Path, PathBuf};

/// The derivatives of a model: a document whose graph computes outputs of the model and their derivatives.
///
/// ```
/// use skript::{ComposeOptions, Document, Limits, Tensor, Weights};
///
/// let text = "
///     operator energy {
///         @input { x: real[n]; }
///         @output { e: real[]; }
///         @lower { e[] += x[i,] * x[i,], i < n; }
///     }
///     graph G {
///         @input { x: real[2]; }
///         @output { e: real[]; }
///         @compose { e = energy(x); }
///     }";
/// let document = Document::parse("energy.sknd", text, &Limits::default());
/// let model = document.compose(&ComposeOptions::default())?;
/// let (gradient, weights) = model.gradient(None, &["x"])?.model(&model, &Weights::none())?;
/// let x = Tensor::from_f32(&[2], &[3.0, -1.0])?;
/// let outputs = gradient.evaluate(&[("x", &x)], &weights)?;
/// assert_eq!(outputs[1].0, "x_grad");
/// assert_eq!(outputs[1].1.as_f32(), Some(&[6.0, -2.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The text of the main module.
    pub text: String,
    /// The variables of the model, by their positions in [`Model::requests`], with their names in the gradient.
    pub variables: Vec<(usize, String)>,
    /// The input that scales the gradients, if the output that was differentiated is not a scalar.
    pub seed: Option<String>,
    /// The inputs with the tangents of the inputs and variables.
    pub tangents: Vec<String>,
    /// Modules of the model that the document imports, by their paths in its folder.
    pub modules: Vec<(PathBuf, String)>,
    /// The composed document, if it was composed to check the request.
    composed: Option<Model>,
}

impl Model {
    /// Differentiates an output by inputs and variables; `variables` means all of them. Without a name of an output, the model must
    /// have a single one. Names may be those of the imported model.
    ///
    /// # Errors
    /// [`Error::Document`] with the reasons why the model cannot be differentiated.
    pub fn gradient(&self, of: Option<&str>, wrt: &[&str]) -> Result<Gradient, Error> {
        self.derivatives(of.as_slice(), wrt, &Mode::Gradients)
    }

    /// A model that computes outputs and their tangents, the products of their Jacobians and tangents: it has an input NAME_tangent for
    /// each of the inputs and variables `wrt`, and an output NAME_tangent for each of the outputs `of` (without names, all real ones).
    ///
    /// # Errors
    /// [`Error::Document`] with the reasons why the model cannot be differentiated.
    ///
    /// ```
    /// # use skript::{ComposeOptions, Document, Limits, Tensor, Weights};
    /// # let text = "
    /// #     operator cube { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] ** 3.0, i < n; } }
    /// #     graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = cube(x); } }";
    /// # let document = Document::parse("cube.sknd", text, &Limits::default());
    /// # let model = document.compose(&ComposeOptions::default())?;
    /// let (tangent, weights) = model.tangent(&["y"], &["x"])?.model(&model, &Weights::none())?;
    /// let [x, direction] = [&[1.0, 2.0], &[1.0, -1.0]].map(|values| Tensor::from_f32(&[2], values));
    /// let outputs = tangent.evaluate(&[("x", &x?), ("x_tangent", &direction?)], &weights)?;
    /// assert_eq!(outputs[1].0, "y_tangent");
    /// assert_eq!(outputs[1].1.as_f32(), Some(&[3.0, -12.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tangent(&self, of: &[&str], wrt: &[&str]) -> Result<Gradient, Error> {
        self.derivatives(of, wrt, &Mode::Tangents)
    }

    /// A model whose calls are steps of training: `@update` assigns new values to the variables `wrt` (`variables` means all real ones
    /// that the model does not update), so that the output `of` becomes less. Its outputs are those of this model.
    ///
    /// # Errors
    /// [`Error::Document`] with the reasons why the model cannot be differentiated, or the optimizer does not fit.
    pub fn training(&self, of: Option<&str>, wrt: &[&str], training: &Training) -> Result<Gradient, Error> {
        self.derivatives(of.as_slice(), wrt, &Mode::Training(training.clone()))
    }

    /// [`Model::gradient`], [`Model::tangent`], or [`Model::training`].
    ///
    /// # Errors
    /// The errors of these.
    pub fn derivatives(&self, of: &[&str], wrt: &[&str], mode: &Mode) -> Result<Gradient, Error> {
        self.derivatives_or_reasons(of, wrt, mode).map_err(|reasons| self.refused(reasons))
    }

    fn refused(&self, reasons: Vec<Diagnostic>) -> Error {
        Error::Document(Problem::all(reasons, self.sources(), self.locations()))
    }

    /// [`Model::derivatives`] with diagnostics for tools.
    ///
    /// # Errors
    /// The reasons why the model cannot be differentiated.
    pub fn derivatives_or_reasons(
        &self,
        of: &[&str],
        wrt: &[&str],
        mode: &Mode,
    ) -> Result<Gradient, Vec<Diagnostic>> {
        let wrt = wrt.iter().map(|name| graph_name(self.input_ports(), name)).collect();
        let outputs = of.iter().map(|name| graph_name(self.output_ports(), name)).collect();
        let request = skript_gradient::Request { of: outputs, wrt, mode: mode.clone() };
        let written = skript_gradient::gradient(self.ir(), self.sources(), &request)?;
        let mut gradient = Gradient {
            text: formatted(&written.text),
            variables: written.variables,
            seed: written.seed,
            tangents: written.tangents,
            modules: self.modules(&written.imports),
            composed: None,
        };
        // The words of the request are part of the document.
        if let Mode::Training(training) = mode {
            let composed = gradient.composed(self);
            gradient.composed = Some(composed.map_err(|error| vec![unfit(training, &error)])?);
        }
        Ok(gradient)
    }

    /// The modules of the document other than the main module, if it has one of these.
    fn modules(&self, names: &[String]) -> Vec<(PathBuf, String)> {
        let program = self.program();
        let modules = program
            .modules
            .iter()
            .filter(|(key, _)| program.origin(key) == ModuleOrigin::Model && **key != program.main);
        let path = |key: &str| key.split('.').collect::<PathBuf>().with_extension("sknd");
        let text = |file| program.sources.get(file).map_or_else(String::new, |file| file.text.to_string());
        let is_imported = modules.clone().any(|(key, _)| names.contains(key));
        modules.filter(|_| is_imported).map(|(key, module)| (path(key), text(module.file))).collect()
    }
}

/// The error for a training step that cannot be composed. Its document is in memory, so its locations do not help.
fn unfit(training: &Training, error: &Error) -> Diagnostic {
    let first = match error {
        Error::Document(problems) => problems.first().cloned(),
        _ => None,
    };
    let reason = first.map_or_else(|| error.to_string(), |problem| problem.into_diagnostic().message);
    let schedule = training.schedule.as_ref();
    let with = schedule.map_or_else(String::new, |schedule| format!(" with the schedule `{schedule}`"));
    let text = format!("`{}`{with} cannot train this model: {reason}", training.optimizer);
    Diagnostic::without_location(&GRADIENT, text)
}

/// The name in the graph of an input or output that may have its name in the imported model.
fn graph_name(ports: &[artifact::Port], name: &str) -> String {
    let port = ports.iter().find(|port| port.aliases.iter().any(|alias| alias == name));
    port.map_or(name, |port| &port.name).to_owned()
}

impl Gradient {
    /// The values of the variables, by their names in the gradient.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a value cannot be read. Variables without a value are left out.
    pub fn arrays(&self, model: &Model, weights: &Weights) -> Result<Vec<(String, Tensor)>, Error> {
        let loaded = weights.load_each(&model.requests());
        let mut loaded: Vec<Option<Result<Tensor, TensorError>>> = loaded.into_iter().map(Some).collect();
        let (mut arrays, mut wrong) = (Vec::new(), Vec::new());
        for (at, name) in &self.variables {
            match loaded.get_mut(*at).and_then(Option::take) {
                Some(Ok(tensor)) => arrays.push((name.clone(), tensor)),
                None | Some(Err(TensorError::Missing { .. })) => {}
                Some(Err(error)) => wrong.push(error),
            }
        }
        if wrong.is_empty() { Ok(arrays) } else { Err(Error::Arrays(wrong)) }
    }

    /// The composed gradient with the element types of the model, and its weights.
    ///
    /// # Errors
    /// The errors of [`Gradient::arrays`], and of [`Document::compose`].
    pub fn model(&self, model: &Model, weights: &Weights) -> Result<(Model, Weights), Error> {
        let composed = self.composed(model)?;
        let arrays = self.with_state(&composed, self.arrays(model, weights)?)?;
        Ok((composed, Weights::arrays(arrays)))
    }

    fn composed(&self, model: &Model) -> Result<Model, Error> {
        if let Some(composed) = self.composed.as_ref().filter(|own| own.ir().numbers == model.ir().numbers) {
            return Ok(composed.clone());
        }
        let numbers = model.ir().numbers;
        let options = ComposeOptions::default().real(numbers.real.name())?.int(numbers.int.name())?;
        self.held(model, Vec::new()).compose(&options)
    }

    /// The arrays of [`Gradient::arrays`], and zeros for the variables that only the gradient has: the state of an optimizer.
    ///
    /// # Errors
    /// The errors of [`Gradient::arrays`], and of [`Document::compose`].
    pub fn initial(&self, model: &Model, weights: &Weights) -> Result<Vec<(String, Tensor)>, Error> {
        self.with_state(&self.composed(model)?, self.arrays(model, weights)?)
    }

    /// Adds zeros for the variables of the composed gradient that the model does not have.
    fn with_state(
        &self,
        composed: &Model,
        mut arrays: Vec<(String, Tensor)>,
    ) -> Result<Vec<(String, Tensor)>, Error> {
        for request in composed.requests() {
            if self.variables.iter().all(|(_, name)| name != request.name) {
                let zeros = Tensor::zeros(request.element, &request.shape);
                arrays.push((request.name.to_owned(), zeros.map_err(|error| Error::Arrays(vec![error]))?));
            }
        }
        Ok(arrays)
    }

    /// The element types of the model, as `import.json` lists them; `None` if they are the default types.
    pub fn origin(&self, model: &Model) -> Option<Origin> {
        let numbers = model.ir().numbers;
        let real = ElementType::for_kind(ScalarKind::Real, numbers);
        let storage = self.variables.iter().filter_map(|(at, name)| {
            let variable = model.ir().variables.get(*at)?;
            let element = |numbers| ElementType::for_kind(variable.tensor.kind, numbers);
            let stored = element(variable.numbers);
            (stored != element(numbers)).then(|| (name.clone(), stored))
        });
        let storage: Vec<(String, ElementType)> = storage.collect();
        let is_default = real == ElementType::F32 && storage.is_empty();
        (!is_default).then(|| Origin { real: Some(real), storage, ..Origin::default() })
    }

    /// The gradient in memory, with the weights of the model.
    ///
    /// # Errors
    /// The errors of [`Gradient::arrays`].
    pub fn document(&self, model: &Model, weights: &Weights) -> Result<Document, Error> {
        Ok(self.held(model, self.initial(model, weights)?))
    }

    fn held(&self, model: &Model, arrays: Vec<(String, Tensor)>) -> Document {
        let arrays = arrays.into_iter().map(|(name, tensor)| (name, tensor.into_shared())).collect();
        let (main, mut sink) = (Path::new("main.sknd"), Sink::default());
        let module =
            |wanted: &Path| self.modules.iter().find(|(path, _)| path == wanted).map(|(_, text)| text);
        let open = |wanted: &Path| {
            let text = if wanted == main { Some(&self.text) } else { module(wanted) };
            text.map(|text| text.clone().into_bytes())
        };
        let limits = model.limits();
        let program = load_program_with(main, None, limits, &mut sink, &open);
        let files = Files::Held(HeldArrays::new(Path::new("gradient"), arrays));
        Document::checked(program, limits, sink, files, self.origin(model))
    }
}

#[cfg(test)]
mod tests {
    use crate::{ComposeOptions, Document, Limits, Tensor, Weights};

    const GRAPH: &str = "graph G { @input { x: real[2]; } @output { e: real[]; } @compose { e = o(x); } }";

    /// The adjoint needs more operators in sequence than the default limit allows, as the model does.
    #[test]
    fn the_limits_of_the_model_apply() {
        let sum = "x[i,] + ".repeat(1100);
        let text = format!(
            "operator o {{ @input {{ x: real[n]; }} @output {{ e: real[]; }}
             @lower {{ e[] += `sin`({sum}x[i,]), i < n; }} }} {GRAPH}"
        );
        let mut limits = Limits::default();
        limits.set("chain", 3000).unwrap();
        let model = Document::parse("o.sknd", &text, &limits).compose(&ComposeOptions::default()).unwrap();
        let gradient = model.gradient(None, &["x"]).unwrap();
        let (gradient, weights) = gradient.model(&model, &Weights::none()).unwrap();
        let x = Tensor::from_f32(&[2], &[0.0, 0.0]).unwrap();
        let outputs = gradient.evaluate(&[("x", &x)], &weights).unwrap();
        assert_eq!(outputs[1].1.as_f32(), Some(&[1101.0, 1101.0][..]));
    }
}
