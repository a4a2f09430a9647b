// SPDX-License-Identifier: Apache-2.0
//! Writes the model folder: the same document with `@quantize`, and its weights.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use skript::{Tensor, formatted};
use skript_frontend::ast::Definition;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::CALIBRATION;
use skript_frontend::model::Model;
use skript_frontend::program::{Edition, Origin, Program};
use skript_tensor::safetensors;

use super::operands::Selected;
use super::parameters::Parameters;
use crate::stopped::Stopped;
use crate::written::unwritten;

/// The module of the library with the quantizer.
const MODULE: &str = "quant";

/// The operator that the entries of `@quantize` name.
const QUANTIZER: &str = "quant.zero_point_linear_quantize";

/// The entry of a tensor in `@quantize`.
pub struct Entry<'a> {
    pub selected: &'a Selected,
    pub parameters: &'a Parameters,
    pub bits: u32,
}

impl Entry<'_> {
    /// `x: quant.…{zero_point=128, scale=0.5, bits=8, signed=false};`
    fn text(&self, name: &str) -> String {
        let Parameters { scales, zero, is_symmetric, channel, .. } = self.parameters;
        let scales: Vec<String> = scales.iter().map(|scale| format!("{scale:?}")).collect();
        let scale = match (scales.as_slice(), channel) {
            ([single], None) => single.clone(),
            (all, _) => format!("[{}]", all.join(", ")),
        };
        let signs = if *is_symmetric { "symmetric=true" } else { "signed=false" };
        // One scale for the whole tensor has no channels; the default is dimension 1, which may be dynamic.
        let shape = &self.selected.place.tensor.shape;
        let is_dynamic = shape.get(1).is_some_and(|extent| extent.fixed().is_none());
        let axis = channel.or_else(|| is_dynamic.then_some(shape.len()));
        let axis = axis.map_or(String::new(), |axis| format!(", channel_axis={axis}"));
        let bits = self.bits;
        format!("{name}: {QUANTIZER}{{zero_point={zero}, scale={scale}, bits={bits}, {signs}{axis}}};")
    }
}

/// # Errors
/// The model has a module with the name of that of the quantizer.
pub fn check_module(program: &Program) -> Result<(), Stopped> {
    let is_loaded = program.modules.contains_key(MODULE) && program.origin(MODULE) == Origin::Model;
    if !is_loaded && !program.folder.join(MODULE).with_extension("sknd").exists() {
        return Ok(());
    }
    let text = format!(
        "the model has a module `{MODULE}`, which hides the module of the library with the quantizer"
    );
    Err(Diagnostic::without_location(&CALIBRATION, text).with_help("rename the module of the model").into())
}

/// The text of the main module with `@quantize` at the end of the graph.
pub fn quantized_text(program: &Program, graph: &Definition, entries: &[Entry]) -> Option<String> {
    let main = program.main_module()?;
    let text = &program.sources.get(main.file)?.text;
    let root = format!("{}.{}.", main.name, graph.name.name);
    let is_khronos = program.edition(&program.main) == Edition::Khronos;
    let lines = entries.iter().map(|entry| {
        let name = &entry.selected.name;
        // Edition khronos requires the full name.
        let name = if is_khronos { format!("{root}{name}") } else { name.clone() };
        format!("        {}\n", entry.text(&name))
    });
    let block = format!("    @quantize {{\n{}    }}\n", lines.collect::<String>());
    let end = (graph.span.end as usize).checked_sub(1)?;
    let (before, after) = (text.get(..end)?.trim_end_matches(' '), text.get(end..)?);
    let separator = if before.ends_with('\n') { "" } else { "\n" };
    let mut quantized = format!("{before}{separator}{block}{after}");
    if !main.imports.iter().any(|import| import.path.text() == MODULE) {
        let position = match main.imports.last() {
            Some(last) => text.get(last.span.end as usize..)?.find(';')? + last.span.end as usize + 1,
            None => 0,
        };
        let import = format!("import {MODULE};");
        let import = if position == 0 { format!("{import}\n\n") } else { format!("\n{import}") };
        quantized.insert_str(position, &import);
    }
    let is_formatted = formatted(text) == **text;
    Some(if is_formatted { formatted(&quantized) } else { quantized })
}

/// Writes the variables of the model in the new folder, whose main module is called `main`, to `main.safetensors`.
pub fn write_weights(model: &Model, variables: &[Tensor], folder: &Path) -> Result<(), Box<Diagnostic>> {
    if variables.is_empty() {
        return Ok(());
    }
    let path = folder.join("main.safetensors");
    let arrays = model.variables.iter().map(|variable| variable.name.as_str()).zip(variables);
    let written = File::create(&path).and_then(|file| {
        let mut stream = BufWriter::with_capacity(1 << 20, file);
        safetensors::write(arrays, &mut stream)?;
        stream.flush()
    });
    written.map_err(|error| unwritten(&path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::quantize::operands::select;
    use skript::{ComposeOptions, Document, Limits};

    const GRAPH: &str = "graph G { @input { x: real[1,2]; } @output { y: real[1,2]; } @variable { w: real[2,2]; } @compose { y = nn.linear(x, w); } }";

    fn written(text: &str) -> String {
        let document = Document::parse("main.sknd", text, &Limits::default());
        let model = document.compose(&ComposeOptions::default()).unwrap();
        let selection = select(model.ir(), &|_| false);
        let parameters = [
            Parameters { scales: vec![0.5], zero: 3, is_symmetric: false, most: 255, channel: None },
            Parameters { scales: vec![1e-7, 2.0], zero: 0, is_symmetric: true, most: 127, channel: Some(0) },
        ];
        let entries = selection.tensors.iter().zip(&parameters);
        let entries: Vec<Entry> =
            entries.map(|(selected, parameters)| Entry { selected, parameters, bits: 8 }).collect();
        let graph = document.graph_definitions().next().unwrap();
        let quantized = quantized_text(document.program(), graph, &entries).unwrap();
        let again = Document::parse("main.sknd", &quantized, &Limits::default());
        assert!(again.problems().is_empty(), "{quantized}\n{:?}", again.problems());
        let quantized_model = again.compose(&ComposeOptions::default().quantize()).unwrap();
        assert_eq!(quantized_model.ir().quantization.len(), 2);
        quantized
    }

    #[test]
    fn entries_are_added_to_the_graph() {
        let text = written(&format!("# A model.\nimport nn;\n\n{GRAPH}\n"));
        let [first, second] = [
            "        x: quant.zero_point_linear_quantize{zero_point=3, scale=0.5, bits=8, signed=false};\n",
            "        w: quant.zero_point_linear_quantize{zero_point=0, scale=[1e-7, 2.0], bits=8, symmetric=true, channel_axis=0};\n",
        ];
        assert!(text.starts_with("# A model.\nimport nn;\nimport quant;\n\ngraph G {"), "{text}");
        assert!(text.ends_with(&format!("}}\n    @quantize {{\n{first}{second}    }}\n}}\n")), "{text}");
    }

    #[test]
    fn the_module_is_imported_once() {
        let text = written(&format!("import nn;\nimport quant;\n{GRAPH}\n"));
        assert_eq!(text.matches("import quant;").count(), 1);
    }

    /// The text of a formatted document remains formatted.
    #[test]
    fn a_formatted_document_remains_formatted() {
        let text = written(&formatted(&format!("import nn;\n\n{GRAPH}\n")));
        assert_eq!(formatted(&text), text);
    }
}
