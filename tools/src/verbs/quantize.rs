// SPDX-License-Identifier: Apache-2.0
//! `skript quantize`: selects scales for the operands of sums of products from samples, and writes the model with `@quantize`.

mod accuracy;
mod calibration;
mod document;
mod entropy;
mod observation;
mod operands;
mod parameters;
mod percentile;
mod products;
mod report;
mod samples;

use std::ops::Range;
use std::path::{Path, PathBuf};

use skript::{Compiler, Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{CALIBRATION, COMMAND_LINE_NAME, OUTPUT, QUANTIZATION_NOISE};
use skript_host::format::is_onnx_model;

use crate::command_line::{
    MethodName, ModelArguments, Pipeline, QuantizeArgument, QuantizeArguments, WeightsFormat,
};
use crate::console::{Console, Status};
use crate::model_folder::write_modules;
use crate::onnx_model;
use crate::render::render;
use crate::session::{Session, Weights, internal};
use crate::stopped::Stopped;
use crate::written::check_folder;
use calibration::{Calibration, Exposed, Run, calibrate};
use document::Entry;
use observation::Method;
use operands::{Selected, Selection, select};
use parameters::Precision;
use report::Report;
use samples::Samples;
use skript_frontend::source::SourceMap;

/// The default of `--percentile`.
const PERCENTILE: f64 = 99.99;

pub fn run(arguments: &QuantizeArguments, console: &mut Console) -> Status {
    arguments.threads.apply();
    arguments.target.announce(console);
    let source = match Source::open(arguments) {
        Ok(source) => source,
        Err(wrong) => {
            let is_usage = wrong.iter().any(|d| d.code == &COMMAND_LINE_NAME);
            render(&wrong, &SourceMap::default(), arguments.reading.message_format, console);
            return if is_usage { Status::Usage } else { Status::Wrong };
        }
    };
    let mut session = Session::open(&source.model, &source.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
        && let Some(variables) = session.variables(&model, Weights::from(&arguments.weights))
    {
        match quantize(arguments, &source, &mut session, &model, &variables, console) {
            Ok(report) => crate::stdout::print(&skript_host::printable(&report)),
            Err(error) => session.report_all(error),
        }
    }
    session.close(console)
}

/// The model folder or file that is read. An ONNX model is imported to a temporary folder.
struct Source {
    model: PathBuf,
    reading: ModelArguments,
    _imported: Option<tempfile::TempDir>,
}

impl Source {
    /// # Errors
    /// A flag for commands that compute quantized tensors, a folder that is not empty, or an ONNX model that is not imported.
    fn open(arguments: &QuantizeArguments) -> Result<Self, Vec<Diagnostic>> {
        let mut reading = arguments.reading.clone();
        if reading.quantize.is_some() {
            let text = "--quantize is for commands that compute quantized tensors";
            return Err(vec![Diagnostic::without_location(&COMMAND_LINE_NAME, text)]);
        }
        if arguments.percentile.is_some() && arguments.method != MethodName::Percentile {
            let text = "--percentile is for --method=percentile";
            return Err(vec![Diagnostic::without_location(&COMMAND_LINE_NAME, text)]);
        }
        check_folder(&arguments.output, &arguments.model, arguments.force).map_err(|error| vec![*error])?;
        if !is_onnx_model(&arguments.model) {
            return Ok(Source { model: arguments.model.clone(), reading, _imported: None });
        }
        let imported = onnx_model::import(&arguments.model, &reading.import, &reading.input_shapes, false)?;
        let folder = tempfile::tempdir().map_err(|error| {
            vec![Diagnostic::without_location(&OUTPUT, format!("cannot make a temporary folder: {error}"))]
        })?;
        onnx_model::write(&imported, folder.path(), WeightsFormat::Safetensors).map_err(|e| vec![*e])?;
        reading.input_shapes.clear();
        reading.import = Default::default();
        Ok(Source { model: folder.path().to_path_buf(), reading, _imported: Some(folder) })
    }
}

fn method(arguments: &QuantizeArguments) -> Method {
    match (arguments.method, arguments.percentile) {
        (MethodName::MinMax, _) => Method::MinMax,
        (MethodName::Percentile, percentile) => Method::Percentile(percentile.unwrap_or(PERCENTILE)),
        (MethodName::Entropy, _) => Method::Entropy,
    }
}

/// Selects scales, writes the model, and measures it. Returns the report.
fn quantize(
    arguments: &QuantizeArguments,
    source: &Source,
    session: &mut Session,
    model: &Model,
    variables: &[Tensor],
    console: &mut Console,
) -> Result<String, Stopped> {
    check_unquantized(model)?;
    document::check_module(session.document.program())?;
    let entry = model.ir().function(model.ir().entry).ok_or_else(|| internal("the model has no entry"))?;
    let samples = Samples::read(session, entry, &arguments.data)?;
    let model =
        samples.shapes().and_then(|shapes| model.specialized(&shapes)).unwrap_or_else(|| model.clone());
    let program = session.document.program();
    let is_public = |name: &str| {
        let (module, name) = name.rsplit_once('.').unwrap_or(("", name));
        program.definition(module, name).is_some_and(|(_, definition)| definition.public)
    };
    let mut selection = select(model.ir(), &is_public);
    if !arguments.per_channel {
        selection.tensors.iter_mut().for_each(|selected| selected.channel = None);
    }
    report_skipped(session, &selection);
    if selection.tensors.is_empty() {
        let text = "the model has no sum of products of tensors that `@quantize` can name";
        return Err(Diagnostic::without_location(&CALIBRATION, text).into());
    }
    let compiler = arguments.target.compiler(Pipeline::Linalg, &source.reading);
    let run = Run { model: &model, compiler: &compiler, variables, samples: &samples };
    let (calibrating, measuring) = split(samples.count(), arguments.holdout);
    let exposed = Exposed::new(&model, &selection.tensors)?;
    let method = method(arguments);
    let precision = Precision { bits: arguments.bits, is_symmetric: arguments.symmetric };
    let mut calibration =
        calibrate(run, &selection.tensors, &exposed, calibrating.clone(), (method, precision))?;
    std::mem::take(&mut calibration.warnings).into_iter().for_each(|warning| session.report(warning));
    write(arguments, session, &selection.tensors, &calibration)?;
    let mut report = Report::new(arguments, &selection, (&calibrating, &measuring));
    report.add_tensors(run, &selection.tensors, &calibration, &exposed, measuring.clone())?;
    let quantized = Quantized { arguments, source, folder: &arguments.output };
    quantized.measure(run, measuring, &mut report, console)?;
    report.warnings().into_iter().for_each(|warning| session.report(warning));
    Ok(report.text())
}

fn check_unquantized(model: &Model) -> Result<(), Stopped> {
    let wrong = match model.ir().quantization.first() {
        Some(first) => {
            let text =
                format!("the model is quantized already: `{}` has an entry in @quantize", first.tensor);
            Diagnostic::error(&CALIBRATION, first.span, text)
        }
        None if model.origin().is_some_and(|origin| origin.is_quantized) => Diagnostic::without_location(
            &CALIBRATION,
            "the model is quantized already: its ONNX model has quantized nodes",
        ),
        None => return Ok(()),
    };
    Err(wrong.with_help("quantize the model in reals that it was made from").into())
}

/// Warns of sums of products that remain in reals.
fn report_skipped(session: &mut Session, selection: &Selection) {
    for skipped in &selection.skipped {
        let text =
            format!("a sum of products of `{}` remains in reals: {}", skipped.operator, skipped.reason);
        session.report(Diagnostic::warning(&QUANTIZATION_NOISE, skipped.span, text));
    }
}

/// The samples that calibrate and those that measure. If there are too few samples, they do both.
fn split(count: usize, holdout: f64) -> (Range<usize>, Range<usize>) {
    let held = (count as f64 * holdout).floor() as usize;
    if held == 0 { (0..count, 0..count) } else { (0..count - held, count - held..count) }
}

/// Writes the modules of the model with `@quantize`.
fn write(
    arguments: &QuantizeArguments,
    session: &Session,
    selected: &[Selected],
    calibration: &Calibration,
) -> Result<(), Stopped> {
    let entries = selected.iter().zip(&calibration.parameters).filter_map(|(selected, parameters)| {
        Some(Entry { selected, parameters: parameters.as_ref()?, bits: arguments.bits })
    });
    let entries: Vec<Entry> = entries.collect();
    if entries.is_empty() {
        let text = "all tensors are zero for all samples, so none is quantized";
        return Err(Diagnostic::without_location(&CALIBRATION, text).into());
    }
    let program = session.document.program();
    let graph = session.graph().ok_or_else(|| internal("the graph has no definition"))?;
    let text = document::quantized_text(program, graph, &entries);
    let text = text.ok_or_else(|| internal("the main module has no text"))?;
    write_modules(program, &text, &arguments.output)?;
    Ok(())
}

/// The written model.
struct Quantized<'a> {
    arguments: &'a QuantizeArguments,
    source: &'a Source,
    folder: &'a Path,
}

impl Quantized<'_> {
    /// Adds the accuracy of both ways to compute the written model, after its weights are written.
    fn measure(
        &self,
        run: Run,
        samples: Range<usize>,
        report: &mut Report,
        console: &mut Console,
    ) -> Result<(), Stopped> {
        for how in [QuantizeArgument::Simulate, QuantizeArgument::Integer] {
            let reading = ModelArguments { quantize: Some(how), ..self.source.reading.clone() };
            let mut session = Session::open(self.folder, &reading);
            let composed = if session.status() == Status::Done { session.compose() } else { None };
            let Some(model) = composed else {
                session.close(console);
                let text = format!("the model in {} is not read again", self.folder.display());
                return Err(internal(&text).into());
            };
            if how == QuantizeArgument::Simulate {
                document::write_weights(model.ir(), run.variables, self.folder)?;
            }
            let shapes = run.samples.shapes();
            let model = shapes.and_then(|shapes| model.specialized(&shapes)).unwrap_or(model);
            let compiler = self.arguments.target.compiler(Pipeline::Linalg, &reading);
            if how == QuantizeArgument::Integer {
                report.sums = model.sums_of_products(&compiler)?;
            }
            self.compare(run, &model, &compiler, samples.clone(), |outputs, name, accuracy_of| {
                report.add_output(how, outputs, name, accuracy_of);
            })?;
        }
        Ok(())
    }

    /// Passes the outputs of both models to the function, with their position and name.
    fn compare(
        &self,
        run: Run,
        model: &Model,
        compiler: &Compiler,
        samples: Range<usize>,
        mut add: impl FnMut(usize, &str, [&Tensor; 2]),
    ) -> Result<(), Stopped> {
        let names = crate::outputs::names(model.ir());
        let mut instances = [run.load(run.model, run.compiler)?, run.load(model, compiler)?];
        for sample in samples {
            let [float, quantized] = &mut instances;
            let (_, expected) = run.call(float, run.model, sample)?;
            let (_, found) = run.call(quantized, model, sample)?;
            for (at, ((name, expected), found)) in names.iter().zip(&expected).zip(&found).enumerate() {
                add(at, name, [expected, found]);
            }
        }
        Ok(())
    }
}
