// SPDX-License-Identifier: Apache-2.0
//! The functions that host code calls.

use super::{Device, DeviceChoice, Launch};
use skript_intrinsics::compiled::{Context, skript_intrinsic};
use skript_intrinsics::description::Description;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;

/// Device addresses of the code's constants, by their host addresses and lengths.
pub(crate) type Constants = HashMap<(usize, usize), u64>;

/// The state that the functions share.
pub(crate) struct State {
    pub(crate) device: Box<dyn Device + Send>,
    pub(crate) constants: Constants,
    /// The first failure of the device.
    pub(crate) failure: Option<String>,
    /// The launches of the call so far.
    pub(crate) launches: Vec<Launch>,
    /// Whether the code read elements of arrays, or the host changed them: later launches may depend on elements.
    pub(crate) depends_on_arrays: bool,
}

thread_local! {
    /// The device of the call in progress.
    static CURRENT: RefCell<Option<State>> = const { RefCell::new(None) };
}

/// Runs `work` while the functions use `state`, and returns the final state.
pub(crate) fn during<T>(state: State, work: impl FnOnce() -> T) -> (T, Option<State>) {
    CURRENT.with_borrow_mut(|current| *current = Some(state));
    let result = work();
    (result, CURRENT.with_borrow_mut(Option::take))
}

/// Placeholder while a call holds the device.
pub(crate) struct NoDevice;

const IN_USE: &str = "the device is in use";

impl Device for NoDevice {
    fn choice(&self) -> DeviceChoice {
        DeviceChoice::Cpu
    }

    fn allocate(&mut self, _: u64) -> Result<u64, String> {
        Err(IN_USE.to_owned())
    }

    fn release(&mut self, _: u64) {}

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), String> {
        Err(IN_USE.to_owned())
    }

    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), String> {
        Err(IN_USE.to_owned())
    }

    fn copy(&mut self, _: u64, _: u64, _: u64) -> Result<(), String> {
        Err(IN_USE.to_owned())
    }

    fn launch(&mut self, _: &Launch) -> Result<(), String> {
        Err(IN_USE.to_owned())
    }

    fn finish(&mut self) -> Result<(), String> {
        Err(IN_USE.to_owned())
    }

    fn record(&mut self, _: &[Launch]) -> Result<Option<usize>, String> {
        Ok(None)
    }

    fn replay(&mut self, _: usize) -> Result<(), String> {
        Err(IN_USE.to_owned())
    }

    fn discard(&mut self, _: usize) {}
}

/// Runs `work` with the device of the call; after the first failure, which is recorded, work is skipped.
fn with<T: Default>(work: impl FnOnce(&mut State) -> Result<T, String>) -> T {
    CURRENT.with_borrow_mut(|current| {
        let Some(state) = current.as_mut().filter(|state| state.failure.is_none()) else {
            return T::default();
        };
        match work(state) {
            Ok(result) => result,
            Err(failure) => {
                state.failure = Some(failure);
                T::default()
            }
        }
    })
}

/// Waits for the previous launches of the call in progress, if it is on a device.
pub(crate) fn wait() {
    with(|state| state.device.finish());
}

/// Launches a kernel.
///
/// # Safety
/// `words` points to `count` words.
pub(crate) unsafe extern "C" fn skript_launch(
    kernel: i64,
    blocks: i64,
    threads: i64,
    words: *const u64,
    count: i64,
) {
    let count = count.max(0) as usize;
    // SAFETY: as the caller promises.
    let words = unsafe { std::slice::from_raw_parts(words, count) };
    with(|state| {
        let size = |n: i64| u32::try_from(n).map_err(|_| "a launch of too many threads".to_owned());
        let launch = Launch {
            kernel: usize::try_from(kernel).map_err(|_| "there is no such kernel".to_owned())?,
            blocks: size(blocks)?,
            threads: size(threads)?,
            words: words.to_vec(),
        };
        state.device.launch(&launch)?;
        state.launches.push(launch);
        Ok(())
    });
}

/// Returns up to 8 bytes at a device address, in the low bytes of a word.
pub(crate) extern "C" fn skript_device_read(address: u64, bytes: i64) -> i64 {
    with(|state| {
        state.depends_on_arrays = true;
        let mut word = [0; 8];
        let (part, _) = word.split_at_mut(bytes.clamp(0, 8) as usize);
        state.device.read(address, part)?;
        Ok(i64::from_le_bytes(word))
    })
}

/// Returns the device address of a constant of the code.
///
/// # Safety
/// `bytes` points to `length` bytes that never change.
pub(crate) unsafe extern "C" fn skript_device_constant(bytes: *const u8, length: i64) -> u64 {
    let length = length.max(0) as usize;
    // SAFETY: as the caller promises.
    let content = unsafe { std::slice::from_raw_parts(bytes, length) };
    with(|state| {
        let key = (bytes.addr(), length);
        if let Some(known) = state.constants.get(&key) {
            return Ok(*known);
        }
        let size = u64::try_from(length).unwrap_or(u64::MAX);
        let address = state.device.allocate(size)?;
        state.device.write(address, content)?;
        state.constants.insert(key, address);
        Ok(address)
    })
}

/// The number of loop iterations after which the device terminates a thread; `i64::MAX` if there is no limit.
pub(crate) extern "C" fn skript_device_iterations() -> i64 {
    let limit = with(|state| Ok(state.device.iterations()));
    limit.unwrap_or(i64::MAX)
}

/// `skript_intrinsic` on device arrays: computes on host copies.
///
/// # Safety
/// As for [`skript_intrinsic`], with device addresses.
pub(crate) unsafe extern "C" fn skript_device_intrinsic(
    call: *const u8,
    length: usize,
    arrays: *const i64,
    context: *mut Context,
) -> i32 {
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(call, length) };
    let Some(description) = Description::from_bytes(bytes) else {
        // The kernel reports the error.
        return unsafe { skript_intrinsic(call, length, arrays, context) };
    };
    let operands: Vec<_> = description.inputs.iter().chain(&description.outputs).collect();
    let words: usize = operands.iter().map(|a| 1 + 2 * a.rank).sum();
    // SAFETY: as the caller promises.
    let mut words = unsafe { std::slice::from_raw_parts(arrays, words) }.to_vec();
    // Element sizes divide 8 bytes or are multiples of it, so 64-bit words are sufficiently aligned.
    let mut copies: Vec<(u64, usize, Vec<u64>)> = Vec::new();
    let mut remaining = words.as_mut_slice();
    for array in &operands {
        let (operand, after) = std::mem::take(&mut remaining).split_at_mut(1 + 2 * array.rank);
        remaining = after;
        let [word, layout @ ..] = operand else { unreachable!("an operand has an address") };
        let address = word.cast_unsigned();
        let (extents, strides) = layout.split_at(array.rank);
        let last = extents.iter().zip(strides);
        let last: i64 = last.map(|(n, stride)| (n - 1).saturating_mul(*stride)).sum();
        let is_empty = extents.iter().any(|n| *n <= 0);
        let elements = if is_empty { 0 } else { last.saturating_add(1) };
        let bytes = elements.max(0) as usize * array.element.size();
        let mut copy = vec![0_u64; bytes.div_ceil(8).max(1)];
        with(|state| {
            state.depends_on_arrays = true;
            state.device.read(address, prefix(&mut copy, bytes))
        });
        *word = copy.as_mut_ptr().expose_provenance() as i64;
        copies.push((address, bytes, copy));
    }
    // SAFETY: as the caller promises, with the addresses of the copies.
    let status = unsafe { skript_intrinsic(call, length, words.as_ptr(), context) };
    for (address, bytes, copy) in copies.iter_mut().skip(description.inputs.len()) {
        with(|state| state.device.write(*address, prefix(copy, *bytes)));
    }
    status
}

/// The first bytes of words.
fn prefix(words: &mut [u64], bytes: usize) -> &mut [u8] {
    let bytes = bytes.min(words.len() * 8);
    // SAFETY: the words have as many bytes.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), bytes) }
}

/// Names and addresses of the functions above.
pub(crate) fn table() -> [(&'static str, *const c_void); 5] {
    let launch: unsafe extern "C" fn(i64, i64, i64, *const u64, i64) = skript_launch;
    let read: extern "C" fn(u64, i64) -> i64 = skript_device_read;
    let constant: unsafe extern "C" fn(*const u8, i64) -> u64 = skript_device_constant;
    let iterations: extern "C" fn() -> i64 = skript_device_iterations;
    let intrinsic: unsafe extern "C" fn(*const u8, usize, *const i64, *mut Context) -> i32 =
        skript_device_intrinsic;
    [
        ("skript_launch", launch as *const c_void),
        ("skript_device_read", read as *const c_void),
        ("skript_device_constant", constant as *const c_void),
        ("skript_device_iterations", iterations as *const c_void),
        ("skript_device_intrinsic", intrinsic as *const c_void),
    ]
}
