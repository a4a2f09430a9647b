// SPDX-License-Identifier: Apache-2.0
//! Values of a graph: their element types, shapes, and elements if they are known at import.

use std::rc::Rc;

use skript_tensor::{ElementType, Tensor};

use crate::extent::Extent;

/// An element that is known at import.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Int(Extent),
    Real(f64),
    Bool(bool),
}

/// Maximum number of elements of a tensor that the import tracks.
pub const MAX_KNOWN: usize = 4096;

/// A value.
#[derive(Debug)]
pub struct ValueData {
    /// Ids are in the order of creation.
    pub id: usize,
    /// The name in the ONNX graph, or a hint for values without a name there.
    pub onnx: String,
    pub element: ElementType,
    pub shape: Vec<Extent>,
    /// The elements in row-major order, if they are known at import and at most [`MAX_KNOWN`].
    pub known: Option<Vec<Item>>,
    /// The tensor of an initializer or constant.
    pub tensor: Option<Rc<Tensor>>,
    /// The tensors of a sequence.
    pub items: Option<Vec<Value>>,
}

pub type Value = Rc<ValueData>;

impl ValueData {
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The extent along an axis from 0 to rank - 1.
    pub fn extent(&self, axis: usize) -> Extent {
        self.shape.get(axis).cloned().unwrap_or_default()
    }

    /// The number of elements, if it is static and less than 2^63.
    pub fn volume(&self) -> Option<i64> {
        Extent::product(&self.shape)?.value()
    }

    pub fn is_sequence(&self) -> bool {
        self.items.is_some()
    }

    pub fn is_real(&self) -> bool {
        is_real(self.element)
    }

    pub fn is_bool(&self) -> bool {
        self.element == ElementType::Bool
    }

    pub fn is_int(&self) -> bool {
        !self.is_real() && !self.is_bool()
    }

    /// The known elements as ints, unless they depend on dynamic dimensions.
    pub fn numbers(&self) -> Option<Vec<i64>> {
        numbers(self.known.as_ref()?)
    }

    /// The known elements as reals.
    pub fn reals(&self) -> Option<Vec<f64>> {
        reals(self.known.as_ref()?)
    }

    /// The known elements as extents.
    pub fn extents(&self) -> Option<Vec<Extent>> {
        extents(self.known.as_ref()?)
    }
}

/// Elements as ints, unless they depend on dynamic dimensions.
pub fn numbers(items: &[Item]) -> Option<Vec<i64>> {
    let number = |item: &Item| match item {
        Item::Int(extent) => extent.value(),
        Item::Bool(value) => Some(i64::from(*value)),
        Item::Real(_) => None,
    };
    items.iter().map(number).collect()
}

/// Elements as reals.
pub fn reals(items: &[Item]) -> Option<Vec<f64>> {
    let real = |item: &Item| match item {
        Item::Real(value) => Some(*value),
        _ => None,
    };
    items.iter().map(real).collect()
}

/// Elements as extents.
pub fn extents(items: &[Item]) -> Option<Vec<Extent>> {
    let extent = |item: &Item| match item {
        Item::Int(extent) => Some(extent.clone()),
        _ => None,
    };
    items.iter().map(extent).collect()
}

/// Whether tensors of this type are `real` in SkriptND.
pub fn is_real(element: ElementType) -> bool {
    element.real().is_some()
}

/// The type name in SkriptND.
pub fn spelled(element: ElementType) -> &'static str {
    match element {
        ElementType::Bool => "bool",
        element if is_real(element) => "real",
        _ => "int",
    }
}

/// The length of a list as an int. No list in memory has 2^63 elements.
pub fn signed_length(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The width of an int type in bits, and whether it is signed.
pub fn width(element: ElementType) -> (u32, bool) {
    let bits = u32::try_from(element.size() * 8).unwrap_or(64);
    let unsigned =
        matches!(element, ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64);
    (bits, !unsigned)
}

/// The storage type of a 4-bit int type, by its number in ONNX.
pub fn nibble(number: i32) -> Option<ElementType> {
    match number {
        21 => Some(ElementType::U8),
        22 => Some(ElementType::I8),
        _ => None,
    }
}

/// The element type with this number in ONNX.
///
/// # Errors
/// Returns the name of the type if it is not supported.
pub fn element(number: i32) -> Result<ElementType, &'static str> {
    Ok(match number {
        1 => ElementType::F32,
        2 => ElementType::U8,
        3 => ElementType::I8,
        4 => ElementType::U16,
        5 => ElementType::I16,
        6 => ElementType::I32,
        7 => ElementType::I64,
        9 => ElementType::Bool,
        10 => ElementType::F16,
        11 => ElementType::F64,
        12 => ElementType::U32,
        13 => ElementType::U64,
        16 => ElementType::BF16,
        8 => return Err("string"),
        14 => return Err("complex64"),
        15 => return Err("complex128"),
        17 => return Err("float8e4m3fn"),
        18 => return Err("float8e4m3fnuz"),
        19 => return Err("float8e5m2"),
        20 => return Err("float8e5m2fnuz"),
        21 => return Err("uint4"),
        22 => return Err("int4"),
        23 => return Err("float4e2m1"),
        24 => return Err("float8e8m0"),
        25 => return Err("uint2"),
        26 => return Err("int2"),
        _ => return Err("unknown"),
    })
}
