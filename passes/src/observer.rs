// SPDX-License-Identifier: Apache-2.0
//! Who observes the stages of a compilation, such as a table of their times or a progress bar.

use std::cell::RefCell;

/// Receives the name of each stage where it begins.
pub type Observer = Box<dyn Fn(&'static str)>;

thread_local! {
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };
}

/// The stages of [`compile_model`](crate::compile_model), in order.
pub const STAGES: [&str; 8] = ["emit", "lower", "bufferize", "schedule", "prepare", "memory", "llvm", "code"];

/// Sets the observer of compilations on this thread; `None`: nobody observes them.
pub fn observe(observer: Option<Observer>) {
    OBSERVER.with(|own| *own.borrow_mut() = observer);
}

/// Passes the beginning of a stage to the observer. An observer does not compile.
pub fn begins(stage: &'static str) {
    OBSERVER.with(|own| {
        if let Some(observer) = own.borrow().as_ref() {
            observer(stage);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn an_observer_hears_until_it_is_removed() {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let own = Rc::clone(&heard);
        begins("before");
        observe(Some(Box::new(move |stage| own.borrow_mut().push(stage))));
        begins("lower");
        begins("code");
        observe(None);
        begins("after");
        assert_eq!(*heard.borrow(), ["lower", "code"]);
    }
}
