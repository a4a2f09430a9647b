// SPDX-License-Identifier: Apache-2.0
//! The values that follow from constants alone.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use skript_tensor::Tensor;

use crate::value::Value;

/// Statements of all evaluations of an import, at most.
const MOST_STATEMENTS: usize = 1 << 16;
/// Points of formulas in all evaluations of an import, at most: seconds.
const MOST_WORK: u64 = 1 << 26;

/// The values that follow from constants alone, and their elements where these were evaluated.
#[derive(Debug)]
pub struct Folds {
    /// The values that statements compute from constants alone, by number.
    pub constant: HashSet<usize>,
    /// The elements of those that were evaluated, or why they have none.
    pub evaluated: RefCell<HashMap<usize, Result<Rc<Tensor>, String>>>,
    /// The values that stand for evaluated ones.
    pub settled: HashMap<usize, Value>,
    /// Statements that evaluations may still have.
    pub statements: Cell<usize>,
    /// Points of formulas that evaluations may still compute.
    pub work: Arc<AtomicU64>,
}

impl Default for Folds {
    fn default() -> Self {
        Folds {
            constant: HashSet::new(),
            evaluated: RefCell::default(),
            settled: HashMap::new(),
            statements: Cell::new(MOST_STATEMENTS),
            work: Arc::new(AtomicU64::new(MOST_WORK)),
        }
    }
}
