// SPDX-License-Identifier: Apache-2.0
//! The keys and values of a text, for the calls that compute its next tokens.
//!
//! Calls read the arrays in place, and new rows are appended, so that no call copies the cache.

use std::sync::Arc;

use skript::{ElementType, Model, Tensor};
use skript_tensor::{Memory, TensorError};

use crate::error::Error;

/// The inputs before those of the cache, and the outputs before its new rows.
const INPUTS: usize = 2;
const OUTPUTS: usize = 1;

/// The arrays of all layers, in the order of the inputs, with one row for each token.
pub(crate) struct Cache {
    arrays: Vec<Array>,
}

struct Array {
    /// The shape of a row.
    row: Vec<u64>,
    /// The number of elements of a row.
    width: usize,
    elements: Arc<Vec<f32>>,
}

/// The elements of a cache while a call reads them.
#[derive(Debug)]
struct Rows(Arc<Vec<f32>>);

impl Memory for Rows {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl Cache {
    /// The empty cache of a model.
    pub fn new(model: &Model) -> Self {
        let ports = model.input_ports().iter().skip(INPUTS);
        let arrays = ports.map(|port| {
            let row: Vec<u64> = port.shape.iter().skip(1).map(|extent| extent.bound()).collect();
            let width = row.iter().product::<u64>() as usize;
            Array { row, width, elements: Arc::default() }
        });
        Cache { arrays: arrays.collect() }
    }

    /// The arrays with this number of rows, as inputs.
    pub fn inputs(&self, rows: usize) -> Result<Vec<Tensor>, TensorError> {
        let input = |array: &Array| {
            let shape = [&[rows as u64], &array.row[..]].concat();
            Tensor::shared(ElementType::F32, &shape, Arc::new(Rows(Arc::clone(&array.elements))))
        };
        self.arrays.iter().map(input).collect()
    }

    /// Keeps the first rows.
    pub fn truncate(&mut self, rows: usize) {
        for array in &mut self.arrays {
            Arc::make_mut(&mut array.elements).truncate(rows * array.width);
        }
    }

    /// Appends the first rows of the outputs of a call, whose inputs no longer exist.
    ///
    /// # Errors
    /// [`Error::Option`] if the outputs are not those of the model.
    pub fn append(&mut self, outputs: &[Tensor], rows: usize) -> Result<(), Error> {
        for (array, output) in self.arrays.iter_mut().zip(outputs.iter().skip(OUTPUTS)) {
            let new = output.as_f32().and_then(|new| new.get(..rows * array.width));
            let new = new.ok_or_else(|| Error::Option("the model returns no keys and values".to_owned()))?;
            Arc::make_mut(&mut array.elements).extend_from_slice(new);
        }
        Ok(())
    }
}
