//! `mlir-translate` with the `skript` dialect, `--sknd-to-mlir`, `--to-stablehlo` and `--from-stablehlo`.

use skript_dialect::PassError;
use skript_dialect::melior::Context;
use skript_dialect::melior::ir::{Location, Module};
use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::{Diagnostic, Severity, Sink};
use skript_frontend::limits::Limits;
use skript_frontend::source::{SourceMap, Span};
use skript_frontend::source_files::load_text;
use std::path::Path;

fn main() {
    skript_dialect::tools::register_import(
        "sknd-to-mlir",
        "SkriptND text to the skript dialect: the first graph, attributes at their defaults",
        import,
    );
    skript_dialect::tools::register_import(
        "from-stablehlo",
        "elementwise StableHLO to the skript dialect",
        import_stablehlo,
    );
    skript_dialect::tools::register_export(
        "to-stablehlo",
        "the skript dialect to StableHLO; behind --sknd-to-mlir, SkriptND text to StableHLO",
        export,
    );
    std::process::exit(skript_dialect::tools::translate_main(std::env::args()));
}

fn export<'c>(context: &'c Context, module: &Module<'c>) -> Result<String, PassError> {
    skript_passes::stablehlo::add_to(context);
    let exported = skript_passes::stablehlo::export(module, context).map_err(|e| e.to_string())?;
    Ok(format!("{}\n", exported.module.as_operation()))
}

fn import_stablehlo<'c>(
    context: &'c Context,
    name: &str,
    text: &str,
) -> Result<Module<'c>, PassError> {
    skript_passes::stablehlo::import::to_skript(context, text).map_err(|refusals| {
        let mut last = PassError::from("reported above");
        for refusal in refusals {
            let (line, column) = refusal.place.unwrap_or((1, 1));
            let location = Location::new(context, name, line, column);
            last = PassError::at_location(location, refusal.message);
        }
        last
    })
}

fn import<'c>(context: &'c Context, name: &str, text: &str) -> Result<Module<'c>, PassError> {
    for dialect in ["skript", "func", "arith", "math", "tensor", "scf"] {
        context.get_or_load_dialect(dialect);
    }
    let limits = Limits::default();
    let mut sink = Sink::default();
    // The stem of a file's name is that of its module.
    let file = if name == "<stdin>" { "main.sknd" } else { name };
    let program = load_text(text, Path::new(file), None, &limits, &mut sink);
    check_program(&program, &mut sink);
    let mut model = None;
    if !sink.has_errors() {
        model = compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    }
    let mut last = None;
    for diagnostic in sink.into_sorted() {
        if diagnostic.severity == Severity::Error {
            last = Some(report(context, &program.sources, &diagnostic));
        }
    }
    match (last, model) {
        (Some(error), _) => Err(error),
        (None, None) => Err("the text holds no graph".into()),
        (None, Some(model)) => skript_passes::emit::emit(&model, &program.sources, context)
            .map_err(|error| {
                let location = place(context, &program.sources, error.span());
                PassError::at_location(location, error.to_string())
            }),
    }
}

fn report(context: &Context, sources: &SourceMap, diagnostic: &Diagnostic) -> PassError {
    let mut message = format!("[{}] {}", diagnostic.code.id, diagnostic.message);
    if let Some(help) = &diagnostic.help {
        message.push_str("; ");
        message.push_str(help);
    }
    PassError::at_location(place(context, sources, diagnostic.span), message)
}

fn place<'c>(context: &'c Context, sources: &SourceMap, span: Option<Span>) -> Location<'c> {
    let file = span.and_then(|span| Some((sources.get(span.file)?, span)));
    match file {
        Some((file, span)) => {
            let (line, column) = file.line_column(span.start);
            Location::new(context, &file.path.to_string_lossy(), line, column)
        }
        None => Location::unknown(context),
    }
}
