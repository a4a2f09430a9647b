// SPDX-License-Identifier: Apache-2.0
//! Memory of the caller: strings, structs and arrays, read and written where they are not null.

use crate::failure::Failure;
use std::ffi::{CStr, c_char};

/// The text of C, copied; an error if it is null or not UTF-8.
///
/// # Safety
/// A pointer that is not null points to a string that ends in zero.
pub(crate) unsafe fn text(pointer: *const c_char, what: &str) -> Result<String, Failure> {
    // SAFETY: as the caller of this function promises.
    let found = unsafe { optional(pointer, what) }?;
    found.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

/// As [`text`]; nothing if it is null.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn optional(pointer: *const c_char, what: &str) -> Result<Option<String>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, so it is a string, as the caller promises.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    let text = text.map_err(|_| Failure::argument(format!("{what} is not UTF-8")))?;
    Ok(Some(text.to_owned()))
}

/// The elements of an array; null is one without elements.
///
/// # Safety
/// A pointer that is not null points to so many elements, which nothing writes to as long as they are used.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, count: u64, what: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    let count = fitting::<T>(pointer.is_null(), pointer.is_aligned(), count, what)?;
    // SAFETY: it is not null and aligned, the size is possible, and the elements are there, as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// As [`array`], to write to.
///
/// # Safety
/// As [`array`], and nothing else reads the elements.
pub(crate) unsafe fn array_mut<'a, T>(
    pointer: *mut T,
    count: u64,
    what: &str,
) -> Result<&'a mut [T], Failure> {
    if count == 0 {
        return Ok(&mut []);
    }
    let count = fitting::<T>(pointer.is_null(), pointer.is_aligned(), count, what)?;
    // SAFETY: as in `array`.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

fn fitting<T>(null: bool, aligned: bool, count: u64, what: &str) -> Result<usize, Failure> {
    if null {
        return Err(Failure::argument(format!("{what} is null")));
    }
    if !aligned {
        return Err(Failure::argument(format!("{what} is not aligned")));
    }
    let count = usize::try_from(count).ok();
    let possible = count
        .filter(|n| n.checked_mul(size_of::<T>().max(1)).is_some_and(|bytes| bytes <= isize::MAX as usize));
    possible.ok_or_else(|| Failure::argument(format!("the number of elements of {what} is impossible")))
}

/// Writes a result; an error if the pointer is null.
///
/// # Safety
/// A pointer that is not null points to memory for it.
pub(crate) unsafe fn set<T>(pointer: *mut T, value: T) {
    // SAFETY: `writable` has checked it, and the memory is there, as the caller promises.
    unsafe { pointer.write(value) }
}

/// An error if a pointer for a result is null or not aligned.
pub(crate) fn writable<T>(pointer: *mut T, what: &str) -> Result<(), Failure> {
    fitting::<T>(pointer.is_null(), pointer.is_aligned(), 1, what).map(drop)
}
