// SPDX-License-Identifier: Apache-2.0
//! `import.json`: the names and types of the ONNX model that a folder was imported from.

use std::path::Path;

use serde_json::{Value, json};
use skript_tensor::ElementType;

/// Maximum size of an `import.json`.
const MAX_BYTES: u64 = 1 << 26;

/// Names and element types of the ONNX model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The storage type of reals.
    pub real: Option<ElementType>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// The storage types of tensors and variables that differ from the default types of reals and ints, by name in SkriptND.
    pub storage: Vec<(String, ElementType)>,
    /// Whether nodes of the model compute with quantized values.
    pub is_quantized: bool,
}

/// An input of an ONNX model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name in the ONNX model.
    pub onnx: String,
    /// The name in SkriptND.
    pub name: String,
    /// The int type of the elements in the ONNX model. The elements of passed arrays must be values of this type.
    pub ints: Option<ElementType>,
}

/// An output of an ONNX model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The name in the ONNX model.
    pub onnx: String,
    /// The name in SkriptND.
    pub name: String,
    /// The element type in the ONNX model.
    pub element: ElementType,
}

impl Origin {
    /// Reads `import.json`; `None` if the folder does not contain one of this version.
    pub fn from_folder(folder: &Path) -> Option<Origin> {
        let path = folder.join("import.json");
        let bytes = skript_host::file::read_within(&path, folder, MAX_BYTES).ok()?;
        Origin::from_json(&bytes)
    }

    /// Parses the text of an `import.json`; `None` if it does not have this version.
    pub fn from_json(text: &[u8]) -> Option<Origin> {
        let json: Value = serde_json::from_slice(text).ok()?;
        if json.get("version")?.as_u64()? != 1 {
            return None;
        }
        let ports = |key: &str| {
            let list = json.get(key).and_then(Value::as_array);
            list.into_iter().flatten()
        };
        let text = |port: &Value, key: &str| Some(port.get(key)?.as_str()?.to_owned());
        let inputs = ports("inputs").filter_map(|p| {
            let ints = text(p, "dtype").and_then(|dtype| element(&dtype));
            Some(Input {
                onnx: text(p, "onnx")?,
                name: text(p, "skript")?,
                ints: ints.filter(|e| e.is_int()),
            })
        });
        let outputs = ports("outputs").filter_map(|p| {
            Some(Output {
                onnx: text(p, "onnx")?,
                name: text(p, "skript")?,
                element: element(&text(p, "dtype")?)?,
            })
        });
        let real = element(json.get("real")?.as_str()?).filter(|e| e.real().is_some());
        let others = json.get("tensors").and_then(Value::as_object);
        let others = others
            .into_iter()
            .flatten()
            .filter_map(|(name, dtype)| Some((name.clone(), dtype.as_str()?.to_owned())));
        let listed = |key: &'static str| {
            let ports = ports(key);
            ports.filter_map(|p| Some((text(p, "skript")?, text(p, "dtype")?)))
        };
        let all = ["inputs", "outputs", "variables"]
            .into_iter()
            .flat_map(listed)
            .map(|(name, dtype)| (name, dtype, true))
            .chain(others.map(|(name, dtype)| (name, dtype, false)));
        let storage = all.filter_map(|(name, dtype, has_ints)| {
            let element = element(&dtype)?;
            let is_int = matches!(element, ElementType::I8 | ElementType::I16 | ElementType::I32);
            let differs = match element.real() {
                Some(_) => Some(element) != real,
                None => is_int && has_ints,
            };
            differs.then_some((name, element))
        });
        Some(Origin {
            storage: storage.collect(),
            real,
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            is_quantized: json.get("quantized").and_then(Value::as_bool) == Some(true),
        })
    }

    /// The text of an `import.json` with the storage types, which are listed as those of variables.
    pub fn types_json(&self) -> String {
        let variables = self.storage.iter();
        let variables = variables.map(|(name, element)| json!({"skript": name, "dtype": element.name()}));
        let json = json!({
            "version": 1,
            "variables": variables.collect::<Vec<_>>(),
            "real": self.real.map(ElementType::name),
            "int": "i64",
        });
        format!("{json:#}\n")
    }

    /// The origin of a model that is composed with another storage type of reals. Outputs that have the previous storage type get the new
    /// type.
    #[must_use]
    pub fn with_real(mut self, real: ElementType) -> Origin {
        let previous = self.real;
        for output in &mut self.outputs {
            if Some(output.element) == previous {
                output.element = real;
            }
        }
        self
    }

    /// The name of an input in SkriptND, given its name in ONNX or SkriptND.
    pub fn input<'n>(&'n self, name: &'n str) -> &'n str {
        let mut inputs = self.inputs.iter();
        inputs.find(|input| input.onnx == name).map_or(name, |input| &input.name)
    }

    /// The int type of an input in the ONNX model.
    pub fn ints(&self, name: &str) -> Option<ElementType> {
        self.inputs.iter().find(|input| input.name == name)?.ints
    }

    /// The element type of an output in the ONNX model.
    pub fn output(&self, name: &str) -> Option<ElementType> {
        Some(self.outputs.iter().find(|output| output.name == name)?.element)
    }
}

fn element(name: &str) -> Option<ElementType> {
    use ElementType::*;
    let all = [F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool];
    all.into_iter().find(|e| e.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_types_are_read() {
        let storage = [("main.G.w", ElementType::F16), ("main.G.q", ElementType::I8)];
        let storage = storage.map(|(name, element)| (name.to_owned(), element)).to_vec();
        let origin = Origin { real: Some(ElementType::F64), storage, ..Origin::default() };
        assert_eq!(Origin::from_json(origin.types_json().as_bytes()), Some(origin));
    }

    #[test]
    fn names_and_types_are_read() {
        let text =
            br#"{"version": 1, "real": "f16", "inputs": [{"onnx": "in.1", "skript": "in_1", "dtype": "u8"},
            {"onnx": "b", "skript": "b", "dtype": "i16"}, {"onnx": "c", "skript": "c", "dtype": "f16"}],
            "outputs": [{"onnx": "y", "skript": "y", "dtype": "i32"}]}"#;
        let origin = Origin::from_json(text).unwrap();
        assert_eq!(origin.real, Some(ElementType::F16));
        assert_eq!(origin.input("in.1"), "in_1");
        assert_eq!(origin.input("other"), "other");
        assert_eq!(origin.ints("in_1"), Some(ElementType::U8));
        assert_eq!(origin.ints("c"), None);
        let storage = [("b", ElementType::I16), ("y", ElementType::I32)];
        assert_eq!(origin.storage, storage.map(|(name, element)| (name.to_owned(), element)));
        assert_eq!(origin.output("y"), Some(ElementType::I32));
        assert_eq!(origin.output("z"), None);
        assert_eq!(origin.with_real(ElementType::F32).outputs[0].element, ElementType::I32);
        let text =
            br#"{"version": 1, "real": "f32", "outputs": [{"onnx": "y", "skript": "y", "dtype": "f32"}]}"#;
        let origin = Origin::from_json(text).unwrap().with_real(ElementType::F16);
        assert_eq!(origin.output("y"), Some(ElementType::F16));
        assert!(Origin::from_json(br#"{"version": 2, "real": "f32"}"#).is_none());
        assert!(Origin::from_json(b"[").is_none());
    }
}
