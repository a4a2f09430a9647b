// SPDX-License-Identifier: Apache-2.0
//! The functions that JavaScript calls: it writes a request to the memory at `skript_request`, calls `skript_answer`, and reads
//! the answer.
//!
//! A panic ends the module. Its message is the last answer then, which JavaScript reads before it drops the module.

use crate::answers::Answers;
use std::cell::RefCell;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
    static STATE: RefCell<Answers> = RefCell::default();
}

/// Returns the address of `length` bytes for the next request.
#[unsafe(no_mangle)]
extern "C" fn skript_request(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request, and returns the length of the answer in bytes.
#[unsafe(no_mangle)]
extern "C" fn skript_answer() -> usize {
    std::panic::set_hook(Box::new(|panic| store(panic.to_string())));
    store(String::new());
    let request = REQUEST.take();
    store(STATE.with_borrow_mut(|state| state.answer(&request)));
    skript_answer_length()
}

/// Returns the address of the answer, or of the message of a panic.
#[unsafe(no_mangle)]
extern "C" fn skript_answer_text() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// Returns the length of the answer, or of the message of a panic; 0 if the module ended without a message.
#[unsafe(no_mangle)]
extern "C" fn skript_answer_length() -> usize {
    ANSWER.with_borrow(String::len)
}

fn store(text: String) {
    ANSWER.with_borrow_mut(|answer| *answer = text);
}
