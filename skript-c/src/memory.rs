// SPDX-License-Identifier: Apache-2.0
//! Access to memory of the caller: strings, structs and arrays, which may be null.

use crate::failure::Failure;
use std::ffi::{CStr, c_char};

/// Copies a C string; an error if it is null or not UTF-8.
///
/// # Safety
/// A pointer that is not null points to a null-terminated string.
pub(crate) unsafe fn text(pointer: *const c_char, what: &str) -> Result<String, Failure> {
    // SAFETY: the contract of this function.
    let text = unsafe { optional(pointer, what) }?;
    text.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

/// Like [`text`]; `None` if it is null.
///
/// # Safety
/// Like [`text`].
pub(crate) unsafe fn optional(pointer: *const c_char, what: &str) -> Result<Option<String>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the pointer is not null, so it points to a string by the contract of this function.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    let text = text.map_err(|_| Failure::argument(format!("{what} is not UTF-8")))?;
    Ok(Some(text.to_owned()))
}

/// The elements of an array; null is an empty array.
///
/// # Safety
/// A pointer that is not null points to `count` elements, which are not written during their use.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, count: u64, what: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    let count = fitting::<T>(pointer.is_null(), pointer.is_aligned(), count, what)?;
    // SAFETY: the pointer is aligned and not null, the size is possible, and the elements exist by the contract of this function.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Like [`array`], for writing.
///
/// # Safety
/// Like [`array`], and nothing else reads the elements.
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

/// Writes a result to a pointer that [`writable`] has checked.
///
/// # Safety
/// The pointer is not null and points to memory for the value.
pub(crate) unsafe fn set<T>(pointer: *mut T, value: T) {
    // SAFETY: `writable` has checked the pointer, and the memory exists by the contract of this function.
    unsafe { pointer.write(value) }
}

/// Returns an error if a pointer for a result is null or not aligned.
pub(crate) fn writable<T>(pointer: *mut T, what: &str) -> Result<(), Failure> {
    fitting::<T>(pointer.is_null(), pointer.is_aligned(), 1, what).map(drop)
}
