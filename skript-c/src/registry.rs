// SPDX-License-Identifier: Apache-2.0
//! Handles: unique numbers of models and instances, which are never reused.

use crate::failure::Failure;
use crate::types;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The objects of one kind to which C programs have handles.
pub(crate) struct Registry<T> {
    kind: &'static str,
    known: Mutex<(u64, BTreeMap<u64, Arc<T>>)>,
}

impl<T> Registry<T> {
    /// Handles begin at `first` and grow in steps of 2, so that handles of different kinds are distinct.
    pub(crate) const fn new(kind: &'static str, first: u64) -> Self {
        Registry { kind, known: Mutex::new((first, BTreeMap::new())) }
    }

    pub(crate) fn add(&self, thing: T) -> u64 {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = known.0;
        known.0 += 2;
        known.1.insert(handle, Arc::new(thing));
        handle
    }

    pub(crate) fn get(&self, handle: u64) -> Result<Arc<T>, Failure> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.1.get(&handle).map(Arc::clone).ok_or_else(|| self.wrong(handle))
    }

    /// Removes a handle. The object is dropped when its last use ends.
    pub(crate) fn remove(&self, handle: u64) -> Result<(), Failure> {
        if handle == 0 {
            return Ok(());
        }
        let removed = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.1.remove(&handle)
        };
        removed.map(drop).ok_or_else(|| self.wrong(handle))
    }

    fn wrong(&self, handle: u64) -> Failure {
        let kind = self.kind;
        Failure::new(types::HANDLE, format!("{handle} is not a handle of {kind}, or was freed"))
    }
}

#[cfg(test)]
mod tests {
    use super::Registry;

    #[test]
    fn a_freed_handle_is_wrong() {
        let numbers: Registry<i32> = Registry::new("a number", 1);
        let first = numbers.add(7);
        assert_eq!(numbers.get(first).map(|n| *n).ok(), Some(7));
        assert!(numbers.remove(first).is_ok());
        assert!(numbers.get(first).is_err());
        assert!(numbers.remove(first).is_err());
        assert!(numbers.remove(0).is_ok());
        assert_ne!(numbers.add(8), first);
    }
}
