// SPDX-License-Identifier: Apache-2.0
//! Observers of the stages of a compilation, such as a table of times or a progress bar.

use std::cell::RefCell;

/// A function that is called with the name of each stage when it begins.
pub type Observer = Box<dyn Fn(&'static str)>;

thread_local! {
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };
}

/// The stages of [`compile_model`](crate::compile_model), in order.
pub const STAGES: [&str; 8] = ["emit", "lower", "bufferize", "schedule", "prepare", "memory", "llvm", "code"];

/// Sets the observer of compilations on this thread; `None` removes it.
pub fn observe(observer: Option<Observer>) {
    OBSERVER.with(|current| *current.borrow_mut() = observer);
}

/// Notifies the observer that a stage begins. The observer must not start a compilation.
pub fn begins(stage: &'static str) {
    OBSERVER.with(|current| {
        if let Some(observer) = current.borrow().as_ref() {
            observer(stage);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn an_observer_is_notified_until_it_is_removed() {
        let notified = Rc::new(RefCell::new(Vec::new()));
        let stages = Rc::clone(&notified);
        begins("before");
        observe(Some(Box::new(move |stage| stages.borrow_mut().push(stage))));
        begins("lower");
        begins("code");
        observe(None);
        begins("after");
        assert_eq!(*notified.borrow(), ["lower", "code"]);
    }
}
