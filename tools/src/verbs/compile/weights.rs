//! Weights beside a StableHLO program: a `.safetensors` file with an array for each variable, under its name.

use serde_json::{Map, Value, json};
use skript_frontend::model::Model;
use skript_tensor::{ElementType, Tensor};

/// The file's bytes: the length of the header, the header, the arrays in the order of the variables, without gaps.
pub fn safetensors(model: &Model, variables: &[Tensor]) -> Vec<u8> {
    let mut header = Map::new();
    let mut data = Vec::new();
    for (variable, tensor) in model.variables.iter().zip(variables) {
        let begin = data.len();
        data.extend_from_slice(tensor.bytes());
        let entry = json!({
            "dtype": dtype(tensor.element()),
            "shape": tensor.shape(),
            "data_offsets": [begin, data.len()],
        });
        header.insert(variable.name.clone(), entry);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    // Readers map the file: arrays begin at a multiple of eight bytes.
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut header);
    bytes.append(&mut data);
    bytes
}

/// The format's name of an element type.
fn dtype(element: ElementType) -> &'static str {
    match element {
        ElementType::F16 => "F16",
        ElementType::BF16 => "BF16",
        ElementType::F32 => "F32",
        ElementType::F64 => "F64",
        ElementType::I8 => "I8",
        ElementType::I16 => "I16",
        ElementType::I32 => "I32",
        ElementType::I64 => "I64",
        ElementType::U8 => "U8",
        ElementType::U16 => "U16",
        ElementType::U32 => "U32",
        ElementType::U64 => "U64",
        ElementType::Bool => "BOOL",
    }
}
