// SPDX-License-Identifier: Apache-2.0
//! Selects the code of a call: code for its shapes, or code for all shapes up to a bound.
//!
//! The first calls execute specialized code, because static extents allow the fastest code. A program that passes new shapes in each
//! call would compile for each, so after [`MAX_SPECIALIZED`] keys, code with dynamic dimensions serves the other calls. Its upper
//! bounds are the shapes, rounded up to powers of two. Models without such code keep specialized code.
//!
//! Code with dynamic dimensions may be many times slower. A key whose calls have spent as much time in it as specialized code takes
//! to compile gets specialized code, so that both together take at most twice the time of the better choice. If that code turns
//! out not to be faster, later keys get no specialized code.

use skript_tensor::Tensor;
use std::time::Duration;

/// The number of keys with specialized code before code with dynamic dimensions is used.
pub const MAX_SPECIALIZED: usize = 4;

/// The number of keys whose code is kept if there is no code with dynamic dimensions.
const MAX_KEPT: usize = 16;

/// Maximum number of shapes whose times are kept.
const MAX_TIMED: usize = 64;

/// The number of specialized calls that are compared with calls of code with dynamic dimensions.
const COMPARED_CALLS: u32 = 3;

/// Minimum ratio of times that makes specialized code worth its compilation.
const MIN_GAIN: f64 = 1.25;

/// The code of a model, by the shapes of its calls and by the values that decide shapes or branches.
#[derive(Debug)]
pub struct CallCodes<C> {
    /// In order of use, the least recently used code first.
    specialized: Vec<(Key, C)>,
    dynamic: Option<(Vec<Vec<u64>>, C)>,
    /// Whether no further code with dynamic dimensions is compiled.
    is_static: bool,
    /// Calls of code with dynamic dimensions; the least recently used shapes first.
    timed: Vec<Timed>,
    /// The longest time that specialized code took to compile.
    compilation: Duration,
    gain: Gain,
}

/// The times of calls with the same shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Timed {
    shapes: Vec<Vec<u64>>,
    calls: u32,
    total: Duration,
    shortest: Duration,
}

/// Whether specialized code is faster than code with dynamic dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Gain {
    /// No calls were compared.
    Unknown,
    /// Calls of code with dynamic dimensions, and of the specialized code that replaced it.
    Comparing(Timed, Timed),
    Known(bool),
}

impl Timed {
    fn new(shapes: Vec<Vec<u64>>) -> Self {
        Timed { shapes, calls: 0, total: Duration::ZERO, shortest: Duration::MAX }
    }

    fn add(&mut self, time: Duration) {
        self.calls = self.calls.saturating_add(1);
        self.total = self.total.saturating_add(time);
        self.shortest = self.shortest.min(time);
    }
}

/// The shapes and values that code is specialized to.
#[derive(Clone, Debug)]
pub struct Key {
    /// The shapes of all inputs.
    shapes: Vec<Vec<u64>>,
    /// Inputs whose values the code depends on, by position.
    constants: Vec<(usize, Tensor)>,
}

/// How to obtain the code of a call.
#[derive(Clone, Debug)]
pub enum Selection<C> {
    /// This code serves the call.
    Known(C),
    /// The caller must compile code for the shapes of the call.
    Specialize,
    /// The caller should compile code for the shapes of the call; this code serves it if that fails.
    Replace(C),
    /// The caller must compile code with dynamic dimensions that have these upper bounds.
    Bound(Vec<Vec<u64>>),
}

impl Key {
    /// The key of a call with these arrays; `constants` are positions of the arrays whose values decide shapes or branches.
    pub fn new(arrays: &[Tensor], constants: &[usize]) -> Key {
        let value = |position: &usize| Some((*position, arrays.get(*position)?.clone()));
        Key {
            shapes: arrays.iter().map(|array| array.shape().to_vec()).collect(),
            constants: constants.iter().filter_map(value).collect(),
        }
    }

    /// The key of a call with arrays of these shapes and any values.
    pub fn from_shapes(shapes: Vec<Vec<u64>>) -> Key {
        Key { shapes, constants: Vec::new() }
    }

    fn fits(&self, shapes: &[Vec<u64>], arrays: &[Tensor]) -> bool {
        let is_value = |(position, value): &(usize, Tensor)| {
            let array = arrays.get(*position);
            array.is_some_and(|a| a.element() == value.element() && a.bytes() == value.bytes())
        };
        self.shapes == shapes && self.constants.iter().all(is_value)
    }
}

impl<C> Default for CallCodes<C> {
    fn default() -> Self {
        CallCodes {
            specialized: Vec::new(),
            dynamic: None,
            is_static: false,
            timed: Vec::new(),
            compilation: Duration::ZERO,
            gain: Gain::Unknown,
        }
    }
}

impl<C: Clone> CallCodes<C> {
    /// Selects the code of a call with these arrays, in the order of the inputs.
    pub fn select(&mut self, arrays: &[Tensor]) -> Selection<C> {
        let shapes: Vec<Vec<u64>> = arrays.iter().map(|array| array.shape().to_vec()).collect();
        if let Some(code) = self.known(&shapes, arrays) {
            return Selection::Known(code);
        }
        if self.specialized.len() < MAX_SPECIALIZED {
            return Selection::Specialize;
        }
        match &self.dynamic {
            Some((bounds, code)) if within(&shapes, bounds) => {
                if self.is_worth_specializing(&shapes) {
                    Selection::Replace(code.clone())
                } else {
                    Selection::Known(code.clone())
                }
            }
            _ if self.is_static => Selection::Specialize,
            Some((bounds, _)) => Selection::Bound(rounded_up(&shapes, bounds)),
            None => Selection::Bound(rounded_up(&shapes, &[])),
        }
    }

    /// The specialized code for these shapes and, if it depends on values, these arrays.
    pub fn known(&mut self, shapes: &[Vec<u64>], arrays: &[Tensor]) -> Option<C> {
        let at = self.specialized.iter().position(|(key, _)| key.fits(shapes, arrays))?;
        // The most recently used code is the last.
        let entry = self.specialized.remove(at);
        let code = entry.1.clone();
        self.specialized.push(entry);
        Some(code)
    }

    /// Whether adding a key drops the least recently used key.
    pub fn is_full(&self) -> bool {
        self.specialized.len() >= MAX_KEPT
    }

    /// Adds code for a key, which took this time to compile.
    pub fn add(&mut self, key: Key, code: C, compilation: Duration) {
        if self.is_full() {
            self.specialized.remove(0);
        }
        self.compilation = self.compilation.max(compilation);
        if let Some(at) = self.timed.iter().position(|timed| timed.shapes == key.shapes) {
            let timed = self.timed.remove(at);
            if self.gain == Gain::Unknown {
                let shapes = timed.shapes.clone();
                self.gain = Gain::Comparing(timed, Timed::new(shapes));
            }
        }
        self.specialized.push((key, code));
    }

    /// Records the time of a call; `is_dynamic` is whether the code has dynamic dimensions.
    pub fn record(&mut self, arrays: &[Tensor], is_dynamic: bool, time: Duration) {
        if !is_dynamic && !matches!(self.gain, Gain::Comparing(..)) {
            return;
        }
        let shapes: Vec<Vec<u64>> = arrays.iter().map(|array| array.shape().to_vec()).collect();
        if !is_dynamic {
            return self.compare(&shapes, time);
        }
        let at = self.timed.iter().position(|timed| timed.shapes == shapes);
        let mut timed = at.map_or_else(|| Timed::new(shapes), |at| self.timed.remove(at));
        timed.add(time);
        if self.timed.len() >= MAX_TIMED {
            self.timed.remove(0);
        }
        self.timed.push(timed);
    }

    fn compare(&mut self, shapes: &[Vec<u64>], time: Duration) {
        let Gain::Comparing(dynamic, specialized) = &mut self.gain else {
            return;
        };
        if specialized.shapes != shapes {
            return;
        }
        specialized.add(time);
        if specialized.calls >= COMPARED_CALLS {
            let gain =
                dynamic.shortest.as_secs_f64() / specialized.shortest.as_secs_f64().max(f64::MIN_POSITIVE);
            self.gain = Gain::Known(gain >= MIN_GAIN);
        }
    }

    /// Whether calls with these shapes spent as much time in code with dynamic dimensions as specialized code takes to compile.
    fn is_worth_specializing(&self, shapes: &[Vec<u64>]) -> bool {
        let is_due = |timed: &Timed| timed.shapes == shapes && timed.total >= self.compilation;
        matches!(self.gain, Gain::Unknown | Gain::Known(true)) && self.timed.iter().any(is_due)
    }

    /// Adds code with dynamic dimensions that have these upper bounds.
    pub fn add_dynamic(&mut self, bounds: Vec<Vec<u64>>, code: C) {
        self.dynamic = Some((bounds, code));
    }

    /// Records that code with dynamic dimensions serves all further calls within its bounds.
    pub fn forbid_replacement(&mut self) {
        self.gain = Gain::Known(false);
    }

    /// Records that the model has no code with dynamic dimensions, or none with larger bounds.
    pub fn forbid_dynamic(&mut self) {
        self.is_static = true;
    }
}

/// Whether shapes are within upper bounds.
fn within(shapes: &[Vec<u64>], bounds: &[Vec<u64>]) -> bool {
    let mut pairs = shapes.iter().zip(bounds);
    pairs.all(|(shape, bounds)| {
        let mut extents = shape.iter().zip(bounds);
        shape.len() == bounds.len() && extents.all(|(extent, bound)| extent <= bound)
    })
}

/// Upper bounds for shapes: powers of two that are not less than the former bounds.
fn rounded_up(shapes: &[Vec<u64>], former: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let bounds = shapes.iter().enumerate().map(|(input, shape)| {
        let former = |axis: usize| former.get(input).and_then(|shape| shape.get(axis)).copied();
        let bound = |(axis, extent): (usize, &u64)| {
            let rounded = extent.checked_next_power_of_two().unwrap_or(*extent);
            former(axis).map_or(rounded, |former| rounded.max(former))
        };
        shape.iter().enumerate().map(bound).collect()
    });
    bounds.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(length: u64) -> Vec<Tensor> {
        vec![Tensor::from_f32(&[length], &vec![0.0; length as usize]).unwrap()]
    }

    #[test]
    fn first_shapes_get_specialized_code() {
        let mut codes = CallCodes::default();
        for n in 0..MAX_SPECIALIZED as u64 {
            assert!(matches!(codes.select(&array(n)), Selection::Specialize));
            codes.add(Key::new(&array(n), &[]), n, Duration::ZERO);
        }
        assert!(matches!(codes.select(&array(1)), Selection::Known(1)));
        let Selection::Bound(bounds) = codes.select(&array(100)) else { panic!("no bounds") };
        assert_eq!(bounds, [[128]]);
        codes.add_dynamic(bounds, 99);
        assert!(matches!(codes.select(&array(128)), Selection::Known(99)));
        assert!(matches!(codes.select(&array(129)), Selection::Bound(bounds) if bounds == [[256]]));
        // The code for up to 128 is kept, because code for up to 256 cannot be compiled.
        codes.forbid_dynamic();
        assert!(matches!(codes.select(&array(128)), Selection::Known(99)));
        assert!(matches!(codes.select(&array(129)), Selection::Specialize));
    }

    #[test]
    fn deciding_values_belong_to_the_key() {
        let value = |v: f32| vec![Tensor::from_f32(&[1], &[v]).unwrap()];
        let mut codes = CallCodes::default();
        codes.add(Key::new(&value(1.0), &[0]), "one", Duration::ZERO);
        assert!(matches!(codes.select(&value(1.0)), Selection::Known("one")));
        assert!(matches!(codes.select(&value(2.0)), Selection::Specialize));
    }

    /// The maximum number of specialized codes, each compiled in a second, and code with dynamic dimensions.
    fn with_dynamic() -> CallCodes<u64> {
        let mut codes = CallCodes::default();
        for n in 0..MAX_SPECIALIZED as u64 {
            codes.add(Key::new(&array(n), &[]), n, Duration::from_secs(1));
        }
        codes.add_dynamic(vec![vec![128]], 99);
        codes
    }

    #[test]
    fn shapes_that_are_called_for_long_get_specialized_code() {
        let mut codes = with_dynamic();
        for _ in 0..2 {
            assert!(matches!(codes.select(&array(100)), Selection::Known(99)));
            codes.record(&array(100), true, Duration::from_millis(500));
        }
        assert!(matches!(codes.select(&array(101)), Selection::Known(99)));
        assert!(matches!(codes.select(&array(100)), Selection::Replace(99)));
        codes.add(Key::new(&array(100), &[]), 100, Duration::from_secs(1));
        assert!(matches!(codes.select(&array(100)), Selection::Known(100)));
        // Until the calls are compared, no other shapes get code.
        codes.record(&array(101), true, Duration::from_secs(2));
        assert!(matches!(codes.select(&array(101)), Selection::Known(99)));
        for time in [900, 10, 20] {
            codes.record(&array(100), false, Duration::from_millis(time));
        }
        assert!(matches!(codes.select(&array(101)), Selection::Replace(99)));
    }

    #[test]
    fn specialized_code_that_is_not_faster_is_the_last() {
        let mut codes = with_dynamic();
        codes.record(&array(100), true, Duration::from_secs(1));
        assert!(matches!(codes.select(&array(100)), Selection::Replace(99)));
        codes.add(Key::new(&array(100), &[]), 100, Duration::from_secs(1));
        for _ in 0..COMPARED_CALLS {
            codes.record(&array(100), false, Duration::from_millis(900));
        }
        codes.record(&array(101), true, Duration::from_secs(5));
        assert!(matches!(codes.select(&array(101)), Selection::Known(99)));
    }

    #[test]
    fn refused_replacements_are_not_repeated() {
        let mut codes = with_dynamic();
        codes.record(&array(100), true, Duration::from_secs(1));
        assert!(matches!(codes.select(&array(100)), Selection::Replace(99)));
        codes.forbid_replacement();
        assert!(matches!(codes.select(&array(100)), Selection::Known(99)));
    }

    #[test]
    fn without_dynamic_code_the_oldest_key_is_dropped() {
        let mut codes = CallCodes::default();
        codes.forbid_dynamic();
        for n in 0..=MAX_KEPT as u64 {
            assert!(matches!(codes.select(&array(n)), Selection::Specialize));
            codes.add(Key::new(&array(n), &[]), n, Duration::ZERO);
        }
        assert!(matches!(codes.select(&array(0)), Selection::Specialize));
        assert!(matches!(codes.select(&array(1)), Selection::Known(1)));
    }
}
