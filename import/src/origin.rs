// SPDX-License-Identifier: Apache-2.0
//! What `import.json` says of the model that a folder was imported from.

use std::path::Path;

use serde_json::Value;
use skript_tensor::ElementType;

/// The largest `import.json` that is read.
const MOST_BYTES: u64 = 1 << 26;

/// Names and element types of the ONNX model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The storage type of reals.
    pub real: Option<ElementType>,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The outputs.
    pub outputs: Vec<Output>,
    /// Tensors and variables whose storage type is not that of the other reals or ints: names in SkriptND, and the types.
    pub storage: Vec<(String, ElementType)>,
}

/// An input of an ONNX model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name there.
    pub onnx: String,
    /// Its name in SkriptND.
    pub name: String,
    /// The type of its elements in the ONNX model, if they are ints: arrays that are passed must have values of it.
    pub ints: Option<ElementType>,
}

/// An output of an ONNX model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name there.
    pub onnx: String,
    /// Its name in SkriptND.
    pub name: String,
    /// The type of its elements in the ONNX model.
    pub element: ElementType,
}

impl Origin {
    /// Reads `import.json`; `None` if the folder has none of this version.
    pub fn of_folder(folder: &Path) -> Option<Origin> {
        let path = folder.join("import.json");
        let bytes = skript_host::file::read_within(&path, folder, MOST_BYTES).ok()?;
        Origin::of_json(&bytes)
    }

    /// The origin that the text of an `import.json` describes; `None` if it is not of this version.
    pub fn of_json(text: &[u8]) -> Option<Origin> {
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
        let own = ["inputs", "outputs", "variables"].into_iter();
        let all = own
            .flat_map(listed)
            .map(|(name, dtype)| (name, dtype, true))
            .chain(others.map(|(name, dtype)| (name, dtype, false)));
        let storage = all.filter_map(|(name, dtype, has_ints)| {
            let element = element(&dtype)?;
            let is_int = matches!(element, ElementType::I8 | ElementType::I16 | ElementType::I32);
            let is_own = match element.real() {
                Some(_) => Some(element) != real,
                None => is_int && has_ints,
            };
            is_own.then_some((name, element))
        });
        Some(Origin {
            storage: storage.collect(),
            real,
            inputs: inputs.collect(),
            outputs: outputs.collect(),
        })
    }

    /// The origin of a model that is composed with this storage type of reals: outputs whose type is that of the other reals have it.
    #[must_use]
    pub fn with_real(mut self, real: ElementType) -> Origin {
        let own = self.real;
        for output in &mut self.outputs {
            if Some(output.element) == own {
                output.element = real;
            }
        }
        self
    }

    /// The name of an input in SkriptND, for its name in either language.
    pub fn input<'n>(&'n self, name: &'n str) -> &'n str {
        let found = self.inputs.iter().find(|input| input.onnx == name);
        found.map_or(name, |input| &input.name)
    }

    /// The type of the elements of an input in the ONNX model, if they are ints.
    pub fn ints(&self, name: &str) -> Option<ElementType> {
        let found = self.inputs.iter().find(|input| input.name == name);
        found.and_then(|input| input.ints)
    }

    /// The element type of an output in the ONNX model.
    pub fn output(&self, name: &str) -> Option<ElementType> {
        let found = self.outputs.iter().find(|output| output.name == name);
        found.map(|output| output.element)
    }
}

/// The element type of this name.
fn element(name: &str) -> Option<ElementType> {
    use ElementType::*;
    let all = [F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool];
    all.into_iter().find(|e| e.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_are_read() {
        let text =
            br#"{"version": 1, "real": "f16", "inputs": [{"onnx": "in.1", "skript": "in_1", "dtype": "u8"},
            {"onnx": "b", "skript": "b", "dtype": "i16"}, {"onnx": "c", "skript": "c", "dtype": "f16"}],
            "outputs": [{"onnx": "y", "skript": "y", "dtype": "i32"}]}"#;
        let origin = Origin::of_json(text).unwrap();
        assert_eq!(origin.real, Some(ElementType::F16));
        assert_eq!(origin.input("in.1"), "in_1");
        assert_eq!(origin.input("other"), "other");
        assert_eq!(origin.ints("in_1"), Some(ElementType::U8));
        assert_eq!(origin.ints("c"), None);
        let own = [("b", ElementType::I16), ("y", ElementType::I32)];
        assert_eq!(origin.storage, own.map(|(name, own)| (name.to_owned(), own)));
        assert_eq!(origin.output("y"), Some(ElementType::I32));
        assert_eq!(origin.output("z"), None);
        assert_eq!(origin.with_real(ElementType::F32).outputs[0].element, ElementType::I32);
        let text =
            br#"{"version": 1, "real": "f32", "outputs": [{"onnx": "y", "skript": "y", "dtype": "f32"}]}"#;
        let origin = Origin::of_json(text).unwrap().with_real(ElementType::F16);
        assert_eq!(origin.output("y"), Some(ElementType::F16));
        assert!(Origin::of_json(br#"{"version": 2, "real": "f32"}"#).is_none());
        assert!(Origin::of_json(b"[").is_none());
    }
}
