// SPDX-License-Identifier: Apache-2.0
//! The values that depend only on constants.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use skript_tensor::Tensor;

use crate::value::Value;

/// Maximum number of statements in all evaluations of an import.
const MAX_STATEMENTS: usize = 1 << 16;
/// Maximum number of formula points in all evaluations of an import; evaluating as many takes seconds.
const MAX_WORK: u64 = 1 << 26;

/// The values that depend only on constants, with the results of their evaluation.
#[derive(Debug)]
pub struct Folds {
    /// The ids of the values that statements compute only from constants.
    pub constant: HashSet<usize>,
    /// The results of evaluations, or the reasons for their failure.
    pub evaluated: RefCell<HashMap<usize, Result<Rc<Tensor>, String>>>,
    /// The literals that replace evaluated values, by the id of the value.
    pub settled: HashMap<usize, Value>,
    /// The number of statements that may still be evaluated.
    pub statements: Cell<usize>,
    /// The number of formula points that may still be computed.
    pub work: Arc<AtomicU64>,
}

impl Default for Folds {
    fn default() -> Self {
        Folds {
            constant: HashSet::new(),
            evaluated: RefCell::default(),
            settled: HashMap::new(),
            statements: Cell::new(MAX_STATEMENTS),
            work: Arc::new(AtomicU64::new(MAX_WORK)),
        }
    }
}
