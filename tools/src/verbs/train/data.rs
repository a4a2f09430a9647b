// SPDX-License-Identifier: Apache-2.0
//! The samples of a training: arrays with a leading axis of samples for each input of the graph.

use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{INPUT, TRAINING};
use skript_frontend::model::{Extent, Function, Port, PortTensors, TensorType};
use skript_semantics::Numbers;
use skript_tensor::random::SplitMix64;
use skript_tensor::{ElementType, Tensor, TensorError};

use crate::inputs;
use crate::session::{Session, internal};
use crate::stopped::Stopped;

/// An array for each input, in the order of the graph, in storage types.
pub struct Data {
    /// The number of samples.
    pub count: usize,
    arrays: Vec<Tensor>,
}

impl Data {
    /// Reads the arrays of a file for the inputs of a graph.
    ///
    /// # Errors
    /// All arrays that are missing, unknown or unsuitable.
    pub fn read(session: &Session, entry: &Function, path: &Path) -> Result<Data, Stopped> {
        let unread = |error: TensorError| Diagnostic::without_location(&INPUT, error.to_string());
        let archive = inputs::open(session, path).map_err(unread)?;
        let (mut arrays, mut wrong) = (Vec::new(), Vec::new());
        let known: Vec<&str> = entry.inputs.iter().map(|port| port.name.as_str()).collect();
        for name in archive.names().iter().filter(|name| !known.contains(&name.as_str())) {
            let text = format!("{}: `{name}` is not an input of the graph", path.display());
            let unknown = Diagnostic::without_location(&TRAINING, text).with_names(name, "inputs", &known);
            wrong.push(unknown.with_help("rename the array, or leave it out of the file"));
        }
        for port in &entry.inputs {
            let read = || -> Result<Option<Tensor>, String> {
                let Some(wanted) = Wanted::new(entry, port)? else { return Ok(None) };
                let array = archive.get(&port.name, &|_, _| Ok(())).map_err(|error| error.to_string())?;
                let array = array.ok_or_else(|| {
                    format!("it lacks an array `{}` of shape {}", port.name, wanted.shape())
                })?;
                wanted.fit(array).map(Some)
            };
            match read() {
                Ok(array) => arrays.extend(array),
                Err(text) => {
                    let text = format!("{}: {text}", path.display());
                    wrong.push(Diagnostic::error(&TRAINING, port.span, text));
                }
            }
        }
        if wrong.is_empty() { counted(arrays, &known, path) } else { Err(wrong.into()) }
    }

    /// The shapes of the inputs for this number of samples.
    pub fn shapes(&self, batch: u64) -> Vec<Vec<u64>> {
        self.arrays.iter().map(|array| [&[batch], row(array)].concat()).collect()
    }

    /// The samples at these positions, as one tensor for each input.
    pub fn batch(&self, positions: &[usize]) -> Result<Vec<Tensor>, Stopped> {
        let gathered = self.arrays.iter().map(|array| {
            let size = array.bytes().len() / self.count.max(1);
            let mut bytes = Vec::with_capacity(size * positions.len());
            for position in positions {
                let sample = array.bytes().get(position * size..(position + 1) * size);
                bytes.extend_from_slice(sample.ok_or_else(|| internal("a sample beyond the data"))?);
            }
            let shape = [&[positions.len() as u64], row(array)].concat();
            let tensor = Tensor::from_bytes(array.element(), &shape, &bytes);
            tensor.map_err(|error| Diagnostic::without_location(&INPUT, error.to_string()).into())
        });
        gathered.collect()
    }

    /// Adds names, types, shapes and elements to a hash.
    pub fn hash(&self, hasher: &mut blake3::Hasher) {
        for array in &self.arrays {
            hasher.update(format!("{:?} {:?} ", array.element(), array.shape()).as_bytes());
            hasher.update(array.bytes());
        }
    }
}

/// The order of the samples in an epoch: a random permutation (Fisher and Yates).
pub fn order(count: usize, seed: u64, epoch: u64) -> Vec<usize> {
    let mut stream = SplitMix64::named(seed, &format!("epoch {epoch}"));
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, stream.next_below(last as u64 + 1) as usize);
    }
    order
}

/// The extents of a sample.
fn row(array: &Tensor) -> &[u64] {
    array.shape().get(1..).unwrap_or(&[])
}

/// Checks that all arrays have the same number of samples.
fn counted(arrays: Vec<Tensor>, names: &[&str], path: &Path) -> Result<Data, Stopped> {
    let count = |array: &Tensor| array.shape().first().map_or(0, |extent| *extent);
    let wrong = |text: String| {
        Diagnostic::without_location(&TRAINING, format!("{}: {text}", path.display()))
            .with_help("each array has the samples along its first axis")
    };
    let Some(first) = arrays.first().map(count) else {
        return Err(wrong("the graph has no inputs, so there is nothing to learn from".to_owned()).into());
    };
    let mut named = names.iter().zip(&arrays);
    if let Some((name, other)) = named.find(|(_, array)| count(array) != first) {
        let (one, other) = (names.first().copied().unwrap_or(""), count(other));
        return Err(wrong(format!("`{one}` has {first} samples, and `{name}` has {other}")).into());
    }
    let count = usize::try_from(first).map_err(|_| wrong("too many samples".to_owned()))?;
    Ok(Data { count, arrays })
}

/// An input of the graph.
struct Wanted<'a> {
    name: &'a str,
    tensor: &'a TensorType,
    numbers: Numbers,
}

impl<'a> Wanted<'a> {
    /// `None` for an input that is absent.
    fn new(entry: &'a Function, port: &'a Port) -> Result<Option<Self>, String> {
        let name = port.name.as_str();
        let id = match &port.tensors {
            PortTensors::Single(id) => *id,
            PortTensors::Null => return Ok(None),
            PortTensors::Pack(_) | PortTensors::Stack(_) => {
                return Err(format!(
                    "the input `{name}` is a pack, and training passes single tensors: declare its items as inputs"
                ));
            }
        };
        let Some(value) = entry.values.get(id.0 as usize) else { return Ok(None) };
        if value.tensor.shape.is_empty() {
            return Err(format!(
                "the input `{name}` has no dimension for samples: declare it with one, or make it an attribute"
            ));
        }
        Ok(Some(Wanted { name, tensor: &value.tensor, numbers: entry.numbers_of(value) }))
    }

    /// `[samples, 1, 8, 8]`.
    fn shape(&self) -> String {
        let extents = self.tensor.shape.iter().skip(1).map(|extent| match extent.fixed() {
            Some(extent) => extent.to_string(),
            None => format!("≤{}", extent.bound()),
        });
        let extents: Vec<String> = ["samples".to_owned()].into_iter().chain(extents).collect();
        format!("[{}]", extents.join(", "))
    }

    /// The array in the storage type of the input.
    fn fit(&self, array: Tensor) -> Result<Tensor, String> {
        let fits = |(extent, wanted): (&u64, &Extent)| match wanted.fixed() {
            Some(fixed) => *extent == fixed,
            None => *extent <= wanted.bound(),
        };
        let pairs = array.shape().iter().zip(&self.tensor.shape).skip(1);
        if array.shape().len() != self.tensor.shape.len() || !pairs.into_iter().all(fits) {
            return Err(format!(
                "the input `{}` needs an array of the shape {}, but it has {:?}: numpy.reshape changes the shape of an array",
                self.name,
                self.shape(),
                array.shape()
            ));
        }
        let element = ElementType::for_kind(self.tensor.kind, self.numbers);
        let converted = array.into_run_time(&format!("input `{}`", self.name), element);
        converted.map(Tensor::into_shared).map_err(|error| format!("{error}, as numpy's `astype` does"))
    }
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn an_order_is_a_permutation_that_depends_on_seed_and_epoch() {
        let mut sorted = order(100, 1, 0);
        assert_ne!(sorted, order(100, 1, 1));
        assert_ne!(sorted, order(100, 2, 0));
        assert_eq!(sorted, order(100, 1, 0));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_eq!(order(0, 1, 0), [0_usize; 0]);
    }

    /// Each sample is first equally often: 24,000 draws of one of 6 are within five standard deviations, 5 · sqrt(24000 · 5/36) = 289.
    #[test]
    fn orders_are_fair() {
        let mut firsts = [0_i64; 6];
        for epoch in 0..24_000 {
            firsts[order(6, 7, epoch)[0]] += 1;
        }
        assert!(firsts.iter().all(|count| (count - 4000).abs() < 289), "{firsts:?}");
    }
}
