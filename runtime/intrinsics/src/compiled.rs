// SPDX-License-Identifier: Apache-2.0
//! `skript_intrinsic`: how compiled code calls a kernel. The ABI is in `docs/intrinsics.md`.

use crate::description::{Array, Description};
use crate::{Call, Output, Value, kernel};
use skript_semantics::Scalar;
use skript_tensor::Tensor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Symbol of [`skript_intrinsic`].
pub const SYMBOL: &str = "skript_intrinsic";
/// The size of the message buffer in bytes, including the terminating zero byte.
pub const MESSAGE: usize = 256;

/// The number of words of a context that compiled code accesses by position.
pub const VALUES: usize = 64;
/// The position of the word that another thread sets to stop the call. A failed check can record the values before it.
pub const STOP: usize = VALUES - 1;

/// The context of a call: state other than tensors that an invocation reads and updates (C: `struct skript_context`).
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Context {
    /// The values of a failed check.
    pub values: [i64; VALUES],
    /// The seed of the random number streams.
    pub seed: u64,
    /// Random operators executed so far in this call.
    pub draws: u64,
    /// The reason of a kernel's failure, as a C string.
    pub message: [u8; MESSAGE],
}

impl Default for Context {
    fn default() -> Self {
        Context { values: [0; VALUES], seed: 0, draws: 0, message: [0; MESSAGE] }
    }
}

impl Context {
    /// The stream of the next random operator.
    fn draw(&mut self) -> u64 {
        self.draws = self.draws.wrapping_add(1);
        stream(self.seed, self.draws)
    }

    /// The message of the kernel that failed; empty if none failed.
    pub fn message(&self) -> String {
        let text: Vec<u8> = self.message.iter().copied().take_while(|b| *b != 0).collect();
        String::from_utf8_lossy(&text).into_owned()
    }

    fn set_message(&mut self, text: &str) {
        self.message = [0; MESSAGE];
        let bytes = text.bytes().take(MESSAGE - 1);
        for (target, byte) in self.message.iter_mut().zip(bytes) {
            *target = byte;
        }
    }
}

/// The seed of the random operator number `draws` in the order of execution, counted from 1; equal in all engines.
pub fn stream(seed: u64, draws: u64) -> u64 {
    seed.wrapping_add(draws << 32)
}

/// Runs the kernel that `call` describes. Returns 0, or 1 with the reason in the context; never unwinds.
///
/// # Safety
/// `call` points to `length` bytes, `arrays` to the words that they describe (address, extents, strides of each operand),
/// each address to elements as its extents and strides state; nothing else uses the outputs or `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skript_intrinsic(
    call: *const u8,
    length: usize,
    arrays: *const i64,
    context: *mut Context,
) -> i32 {
    // SAFETY: as the caller promises.
    let (bytes, context) = unsafe { (std::slice::from_raw_parts(call, length), &mut *context) };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let description =
            Description::from_bytes(bytes).ok_or("the compiled call is malformed".to_owned())?;
        // SAFETY: as the caller promises.
        unsafe { run(&description, arrays, context) }
    }));
    let reason = match outcome {
        Ok(Ok(())) => return 0,
        Ok(Err(reason)) => reason,
        Err(_) => "its kernel panicked: please report this".to_owned(),
    };
    context.set_message(&reason);
    1
}

/// One operand in memory.
struct Memory<'w> {
    array: Array,
    address: *mut u8,
    extents: &'w [i64],
    /// The strides in elements.
    strides: &'w [i64],
}

/// # Safety
/// As for [`skript_intrinsic`].
unsafe fn run(description: &Description, arrays: *const i64, context: &mut Context) -> Result<(), String> {
    let operands = description.inputs.iter().chain(&description.outputs);
    let words: usize = operands.clone().map(|a| 1 + 2 * a.rank).sum();
    // SAFETY: as the caller promises.
    let words = unsafe { std::slice::from_raw_parts(arrays, words) };
    let mut rest = words;
    let mut sources = Vec::new();
    for array in operands {
        let malformed = || "the compiled call has too few words".to_owned();
        let (address, after) = rest.split_first().ok_or_else(malformed)?;
        let (extents, after) = after.split_at_checked(array.rank).ok_or_else(malformed)?;
        let (strides, after) = after.split_at_checked(array.rank).ok_or_else(malformed)?;
        rest = after;
        sources.push(Memory {
            array: *array,
            address: std::ptr::with_exposed_provenance_mut(address.cast_unsigned() as usize),
            extents,
            strides,
        });
    }
    let destinations = sources.split_off(description.inputs.len());
    let mut inputs = Vec::new();
    for source in &sources {
        // SAFETY: as the caller promises.
        inputs.push(unsafe { source.read() }.map_err(|e| e.to_string())?);
    }
    let mut attributes = description.attributes.clone();
    let given = inputs.split_off(inputs.len().saturating_sub(description.given.len()));
    for (name, value) in description.given.iter().zip(&given) {
        attributes.push((name.clone(), attribute(value)));
    }
    attributes.sort_by(|a, b| a.0.cmp(&b.0));
    let plain = destinations.len().saturating_sub(description.dynamic_outputs.len());
    let is_dynamic = |n: usize| description.dynamic_outputs.iter().any(|t| usize::try_from(*t) == Ok(n));
    let outputs: Vec<Output> = (destinations.iter().take(plain).enumerate())
        .map(|(n, destination)| Output {
            element: destination.array.element,
            shape: (!is_dynamic(n)).then(|| shape(destination.extents)),
            bound: shape(destination.extents),
        })
        .collect();
    let kernel = kernel(&description.operator).ok_or("has no kernel in this program".to_owned())?;
    let seed = if description.random { context.draw() } else { 0 };
    let call =
        Call { attributes: &attributes, inputs: &inputs.iter().collect::<Vec<_>>(), outputs: &outputs, seed };
    let results = kernel.run(&call).map_err(|e| e.to_string())?;
    if results.len() != plain {
        return Err(format!(
            "its kernel returns {} tensors, but the operator has {plain} outputs",
            results.len()
        ));
    }
    for (n, (destination, tensor)) in destinations.iter().zip(&results).enumerate() {
        destination.accept(n, tensor, is_dynamic(n))?;
        // SAFETY: the shape was compared with the shape of the destination.
        unsafe { destination.write(tensor) };
    }
    for (position, destination) in description.dynamic_outputs.iter().zip(destinations.iter().skip(plain)) {
        let tensor = usize::try_from(*position).ok().and_then(|n| results.get(n));
        let tensor = tensor.ok_or("its description names no such output".to_owned())?;
        let extents: Vec<i64> = tensor.shape().iter().map(|e| e.cast_signed()).collect();
        let actual = Tensor::from_i64(&[extents.len() as u64], &extents).map_err(|e| e.to_string())?;
        destination.accept(plain, &actual, false)?;
        // SAFETY: the shape was compared with the shape of the destination.
        unsafe { destination.write(&actual) };
    }
    Ok(())
}

/// The value of an attribute passed at run time: a scalar or a list.
fn attribute(value: &Tensor) -> Value {
    let item = |scalar: Scalar| match scalar {
        Scalar::Bool(b) => Value::Bool(b),
        Scalar::Int(i) => Value::Int(i),
        Scalar::Real(x) => Value::Real(x),
    };
    let mut items = value.scalars().map(item);
    match value.shape() {
        [] => items.next().unwrap_or(Value::Null),
        _ => Value::List(items.collect()),
    }
}

fn shape(extents: &[i64]) -> Vec<u64> {
    extents.iter().map(|e| (*e).max(0).cast_unsigned()).collect()
}

/// The bytes of an operand, during its call.
#[derive(Debug)]
struct Borrowed {
    address: *const u8,
    length: usize,
}

// SAFETY: nothing writes the bytes while the call runs.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl skript_tensor::Memory for Borrowed {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the operand has `length` bytes, and tensors of a call do not outlive it.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }
}

impl Memory<'_> {
    /// # Safety
    /// The operand holds elements as its extents and strides state.
    unsafe fn read(&self) -> Result<Tensor, skript_tensor::TensorError> {
        if let Some(borrowed) = self.borrowed() {
            return Tensor::shared(self.array.element, &shape(self.extents), Arc::new(borrowed));
        }
        let mut tensor = Tensor::zeros(self.array.element, &shape(self.extents))?;
        let bytes = tensor.bytes_mut()?.as_mut_ptr();
        // SAFETY: the tensor has the extents of the operand.
        unsafe { self.copy(self.extents, bytes, true) };
        Ok(tensor)
    }

    /// The bytes of the operand, if they are contiguous and aligned.
    fn borrowed(&self) -> Option<Borrowed> {
        let mut stride = 1i64;
        for (extent, declared) in self.extents.iter().zip(self.strides).rev() {
            if *extent != 1 && *declared != stride {
                return None;
            }
            stride = stride.checked_mul(*extent)?;
        }
        let size = self.array.element.size();
        let length = usize::try_from(stride).ok()?.checked_mul(size)?;
        let is_aligned = self.address.addr().is_multiple_of(size.max(1));
        (length > 0 && is_aligned).then_some(Borrowed { address: self.address, length })
    }

    /// # Safety
    /// The tensor has the element type of the operand, and its extents are at most the extents of the operand.
    unsafe fn write(&self, tensor: &Tensor) {
        let extents: Vec<i64> = tensor.shape().iter().map(|e| e.cast_signed()).collect();
        // SAFETY: as the caller promises; the tensor is only read.
        unsafe { self.copy(&extents, tensor.bytes().as_ptr().cast_mut(), false) };
    }

    /// Copies a block of `extents` out of the operand or into it, in runs along the last dimension.
    ///
    /// # Safety
    /// `bytes` holds the block contiguously; its extents are at most the extents of the operand.
    unsafe fn copy(&self, extents: &[i64], bytes: *mut u8, out: bool) {
        if extents.iter().any(|e| *e <= 0) {
            return;
        }
        let size = self.array.element.size() as isize;
        let contiguous = self.strides.last().is_none_or(|s| *s == 1);
        let (outer, run) = match extents.split_last() {
            Some((last, outer)) if contiguous => (outer, *last as isize * size),
            _ => (extents, size),
        };
        let mut position = vec![0i64; outer.len()];
        let mut next = bytes;
        loop {
            let steps = position.iter().zip(self.strides);
            let offset: i64 = steps.map(|(p, s)| p * s).sum();
            // SAFETY: the position is inside the block.
            unsafe {
                let here = self.address.offset(offset as isize * size);
                let (from, to) = if out { (here, next) } else { (next, here) };
                std::ptr::copy_nonoverlapping(from, to, run.unsigned_abs());
                next = next.offset(run);
            }
            let mut dimension = outer.len();
            loop {
                let Some(d) = dimension.checked_sub(1) else {
                    return;
                };
                dimension = d;
                let (Some(p), Some(e)) = (position.get_mut(d), outer.get(d)) else {
                    return;
                };
                *p += 1;
                if *p < *e {
                    break;
                }
                *p = 0;
            }
        }
    }

    /// Checks whether a kernel's result fits the output.
    fn accept(&self, number: usize, tensor: &Tensor, is_dynamic: bool) -> Result<(), String> {
        let wanted = shape(self.extents);
        let fits = tensor.shape().len() == wanted.len()
            && (tensor.shape().iter().zip(&wanted)).all(|(n, m)| n == m || is_dynamic && n < m);
        if fits && tensor.element() == self.array.element {
            return Ok(());
        }
        Err(format!(
            "its kernel returns output {number} as {}{}, but {}{}{} is declared",
            tensor.element(),
            skript_tensor::shape::text(tensor.shape()),
            if is_dynamic { "at most " } else { "" },
            self.array.element,
            skript_tensor::shape::text(&wanted)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_tensor::ElementType;

    fn call(description: &Description, arrays: &[i64]) -> (i32, Context) {
        let bytes = description.to_bytes();
        let mut context = Context::default();
        // SAFETY: the tests pass the arguments that the description requires.
        let status =
            unsafe { skript_intrinsic(bytes.as_ptr(), bytes.len(), arrays.as_ptr(), &raw mut context) };
        (status, context)
    }

    fn array(element: ElementType, rank: usize) -> Array {
        Array { element, rank }
    }

    fn address<T>(values: &mut [T]) -> i64 {
        values.as_mut_ptr().expose_provenance() as i64
    }

    fn positions() -> Description {
        Description {
            operator: "layout.nonzero".into(),
            random: false,
            attributes: vec![],
            inputs: vec![array(ElementType::F32, 2)],
            outputs: vec![array(ElementType::I64, 2), array(ElementType::I64, 1)],
            dynamic_outputs: vec![0],
            given: vec![],
        }
    }

    #[test]
    fn strides_are_followed_and_extents_returned() {
        // A transposed 2×3 input: columns are contiguous.
        let mut x = [0f32, 0.0, 5.0, 0.0, 0.0, 7.0];
        let mut indices = [-1i64; 12];
        let mut extents = [0i64; 2];
        let words =
            [address(&mut x), 2, 3, 1, 2, address(&mut indices), 2, 6, 6, 1, address(&mut extents), 2, 1];
        let (status, _) = call(&positions(), &words);
        assert_eq!((status, extents), (0, [2, 2]));
        assert_eq!((&indices[..3], &indices[6..9]), (&[0, 1, -1][..], &[1, 2, -1][..]));
    }

    #[test]
    fn what_does_not_fit_is_a_reason() {
        let mut x = [1f32; 6];
        let mut indices = [0i64; 4];
        let mut extents = [0i64; 2];
        let words =
            [address(&mut x), 2, 3, 3, 1, address(&mut indices), 2, 2, 2, 1, address(&mut extents), 2, 1];
        let (status, context) = call(&positions(), &words);
        assert_eq!(status, 1);
        assert!(context.message().contains("output 0"), "{context:?}");
        let unknown = Description { operator: "m.mystery".into(), ..positions() };
        assert_eq!(call(&unknown, &words).1.message(), "has no kernel in this program");
    }

    #[test]
    fn random_operators_are_counted() {
        let mut first = [0f32; 4];
        let description = Description {
            operator: "rand.uniform".into(),
            random: true,
            attributes: vec![("min".into(), Value::Real(0.0)), ("max".into(), Value::Real(1.0))],
            inputs: vec![],
            outputs: vec![array(ElementType::F32, 1)],
            dynamic_outputs: vec![],
            given: vec![],
        };
        let words = [address(&mut first), 4, 1];
        let (status, context) = call(&description, &words);
        assert_eq!((status, context.draws), (0, 1));
        assert!(first.iter().any(|x| *x != first[0]));
    }

    #[test]
    fn attributes_may_be_dynamic() {
        let description = Description {
            operator: "algo.top_k".into(),
            random: false,
            attributes: vec![
                ("axis".into(), Value::Int(0)),
                ("largest".into(), Value::Bool(true)),
                ("sorted".into(), Value::Bool(true)),
            ],
            inputs: vec![array(ElementType::F32, 1), array(ElementType::I64, 0)],
            outputs: vec![array(ElementType::F32, 1), array(ElementType::I64, 1)],
            dynamic_outputs: vec![],
            given: vec!["k".into()],
        };
        let (mut x, mut k) = ([1f32, 5.0, 3.0], [2i64]);
        let (mut values, mut indices) = ([0f32; 2], [0i64; 2]);
        let words =
            [address(&mut x), 3, 1, address(&mut k), address(&mut values), 2, 1, address(&mut indices), 2, 1];
        let (status, context) = call(&description, &words);
        assert_eq!(status, 0, "{}", context.message());
        assert_eq!((values, indices), ([5.0, 3.0], [1, 2]));
    }
}
