// SPDX-License-Identifier: Apache-2.0
//! Which code serves a call: code for its shapes, or code for all shapes up to a bound.
//!
//! The first calls get specialized code, for a compiler that knows all extents generates the fastest code. A program that calls a
//! model with ever new shapes would compile forever, so after [`MOST_SPECIALIZED`] keys one code with dynamic dimensions serves the
//! others. Its upper bounds are those shapes, rounded up to powers of two. A model that has no such code keeps code per key.

use skript_tensor::Tensor;

/// Number of keys with specialized code before code with dynamic dimensions is used.
pub const MOST_SPECIALIZED: usize = 4;

/// Keys whose code is kept, if there is no code with dynamic dimensions.
const MOST_KEPT: usize = 16;

/// The code of a model by the shapes of its calls, and by the values that decide shapes or branches.
#[derive(Debug)]
pub struct CallCodes<C> {
    /// The least recently used one first.
    specialized: Vec<(Key, C)>,
    dynamic: Option<(Vec<Vec<u64>>, C)>,
    /// Whether no other code with dynamic dimensions is compiled.
    is_static: bool,
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
    /// This code serves it.
    Known(C),
    /// Code for its shapes is to be compiled.
    Specialize,
    /// Code with dynamic dimensions that have these upper bounds is to be compiled.
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

    fn fits(&self, arrays: &[Tensor]) -> bool {
        let mut shapes = self.shapes.iter().zip(arrays);
        let is_value = |(position, value): &(usize, Tensor)| {
            let array = arrays.get(*position);
            array.is_some_and(|a| a.element() == value.element() && a.bytes() == value.bytes())
        };
        self.shapes.len() == arrays.len()
            && shapes.all(|(shape, array)| shape == array.shape())
            && self.constants.iter().all(is_value)
    }
}

impl<C> Default for CallCodes<C> {
    fn default() -> Self {
        CallCodes { specialized: Vec::new(), dynamic: None, is_static: false }
    }
}

impl<C: Clone> CallCodes<C> {
    /// Selects the code of a call with these arrays, which are those of all inputs in order.
    pub fn select(&mut self, arrays: &[Tensor]) -> Selection<C> {
        if let Some(at) = self.specialized.iter().position(|(key, _)| key.fits(arrays)) {
            // The most recently used one is the last.
            let found = self.specialized.remove(at);
            let code = found.1.clone();
            self.specialized.push(found);
            return Selection::Known(code);
        }
        if self.specialized.len() < MOST_SPECIALIZED {
            return Selection::Specialize;
        }
        let shapes = || arrays.iter().map(Tensor::shape);
        match &self.dynamic {
            Some((bounds, code)) if within(shapes(), bounds) => Selection::Known(code.clone()),
            _ if self.is_static => Selection::Specialize,
            Some((bounds, _)) => Selection::Bound(rounded_up(shapes(), bounds)),
            None => Selection::Bound(rounded_up(shapes(), &[])),
        }
    }

    /// Adds code for a key.
    pub fn add(&mut self, key: Key, code: C) {
        if self.specialized.len() >= MOST_KEPT {
            self.specialized.remove(0);
        }
        self.specialized.push((key, code));
    }

    /// Adds code with dynamic dimensions that have these upper bounds.
    pub fn add_dynamic(&mut self, bounds: Vec<Vec<u64>>, code: C) {
        self.dynamic = Some((bounds, code));
    }

    /// Remembers that the model has no code with dynamic dimensions, or none with larger bounds.
    pub fn forbid_dynamic(&mut self) {
        self.is_static = true;
    }
}

/// Whether shapes are within upper bounds.
fn within<'s>(shapes: impl Iterator<Item = &'s [u64]>, bounds: &[Vec<u64>]) -> bool {
    let mut pairs = shapes.zip(bounds);
    pairs.all(|(shape, bounds)| {
        let mut extents = shape.iter().zip(bounds);
        shape.len() == bounds.len() && extents.all(|(extent, bound)| extent <= bound)
    })
}

/// Upper bounds for shapes: powers of two, at least the former bounds.
fn rounded_up<'s>(shapes: impl Iterator<Item = &'s [u64]>, former: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let bounds = shapes.enumerate().map(|(input, shape)| {
        let former = |axis: usize| former.get(input).and_then(|shape| shape.get(axis)).copied();
        let bound = |(axis, extent): (usize, &u64)| {
            let rounded = extent.checked_next_power_of_two().unwrap_or(*extent);
            rounded.max(former(axis).unwrap_or(0))
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
    fn first_shapes_get_code_of_their_own() {
        let mut codes = CallCodes::default();
        for n in 0..MOST_SPECIALIZED as u64 {
            assert!(matches!(codes.select(&array(n)), Selection::Specialize));
            codes.add(Key::new(&array(n), &[]), n);
        }
        assert!(matches!(codes.select(&array(1)), Selection::Known(1)));
        let Selection::Bound(bounds) = codes.select(&array(100)) else { panic!("no bounds") };
        assert_eq!(bounds, [[128]]);
        codes.add_dynamic(bounds, 99);
        assert!(matches!(codes.select(&array(128)), Selection::Known(99)));
        assert!(matches!(codes.select(&array(129)), Selection::Bound(bounds) if bounds == [[256]]));
        // The code for 128 is kept, because code for 256 cannot be compiled.
        codes.forbid_dynamic();
        assert!(matches!(codes.select(&array(128)), Selection::Known(99)));
        assert!(matches!(codes.select(&array(129)), Selection::Specialize));
    }

    #[test]
    fn values_that_decide_belong_to_the_key() {
        let value = |v: f32| vec![Tensor::from_f32(&[1], &[v]).unwrap()];
        let mut codes = CallCodes::default();
        codes.add(Key::new(&value(1.0), &[0]), "one");
        assert!(matches!(codes.select(&value(1.0)), Selection::Known("one")));
        assert!(matches!(codes.select(&value(2.0)), Selection::Specialize));
    }

    #[test]
    fn without_dynamic_code_the_oldest_key_is_dropped() {
        let mut codes = CallCodes::default();
        codes.forbid_dynamic();
        for n in 0..=MOST_KEPT as u64 {
            assert!(matches!(codes.select(&array(n)), Selection::Specialize));
            codes.add(Key::new(&array(n), &[]), n);
        }
        assert!(matches!(codes.select(&array(0)), Selection::Specialize));
        assert!(matches!(codes.select(&array(1)), Selection::Known(1)));
    }
}
