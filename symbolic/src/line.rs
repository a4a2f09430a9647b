// SPDX-License-Identifier: Apache-2.0
//! Linear functions of one unknown.

/// Arithmetic of the factor and the constant of a [`Line`].
pub trait Ring {
    /// A value, such as an integer, or a list of expressions.
    type Value;
    /// The error of an operation without a result.
    type Error;

    /// The value of an integer.
    fn integer(&mut self, value: i64) -> Self::Value;
    /// Whether a value is known to be zero.
    fn is_zero(&self, value: &Self::Value) -> bool;
    /// The sum.
    ///
    /// # Errors
    /// The operands are not compatible.
    fn add(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// The difference.
    ///
    /// # Errors
    /// The operands are not compatible.
    fn sub(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// The product.
    ///
    /// # Errors
    /// The operands are not compatible.
    fn mul(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// The value `x` with `x · b = a`; `None` if it does not exist.
    ///
    /// # Errors
    /// The operands are not compatible.
    fn quotient(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Option<Self::Value>, Self::Error>;
}

/// `factor · x + constant` for an unknown `x`, over any [`Ring`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<V> {
    factor: V,
    constant: V,
}

impl<V> Line<V> {
    /// The unknown itself.
    pub fn unknown<R: Ring<Value = V>>(ring: &mut R) -> Self {
        Line { factor: ring.integer(1), constant: ring.integer(0) }
    }

    /// A constant line, in which the unknown does not occur.
    pub fn constant<R: Ring<Value = V>>(value: V, ring: &mut R) -> Self {
        Line { factor: ring.integer(0), constant: value }
    }

    /// The sum of two lines.
    ///
    /// # Errors
    /// Those of the ring.
    pub fn add<R: Ring<Value = V>>(&self, other: &Self, ring: &mut R) -> Result<Self, R::Error> {
        Ok(Line {
            factor: ring.add(&self.factor, &other.factor)?,
            constant: ring.add(&self.constant, &other.constant)?,
        })
    }

    /// The difference of two lines.
    ///
    /// # Errors
    /// Those of the ring.
    pub fn sub<R: Ring<Value = V>>(&self, other: &Self, ring: &mut R) -> Result<Self, R::Error> {
        Ok(Line {
            factor: ring.sub(&self.factor, &other.factor)?,
            constant: ring.sub(&self.constant, &other.constant)?,
        })
    }

    /// The product with a value.
    ///
    /// # Errors
    /// Those of the ring.
    pub fn scale<R: Ring<Value = V>>(&self, factor: &V, ring: &mut R) -> Result<Self, R::Error> {
        Ok(Line { factor: ring.mul(&self.factor, factor)?, constant: ring.mul(&self.constant, factor)? })
    }

    /// The product of two lines; `None` if the unknown occurs in both.
    ///
    /// # Errors
    /// Those of the ring.
    pub fn mul<R: Ring<Value = V>>(&self, other: &Self, ring: &mut R) -> Result<Option<Self>, R::Error> {
        if ring.is_zero(&self.factor) {
            other.scale(&self.constant, ring).map(Some)
        } else if ring.is_zero(&other.factor) {
            self.scale(&other.constant, ring).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The unknown for which the line has the value `value`; `None` if it does not exist.
    ///
    /// # Errors
    /// Those of the ring.
    pub fn solve<R: Ring<Value = V>>(&self, value: &V, ring: &mut R) -> Result<Option<V>, R::Error> {
        let multiple = ring.sub(value, &self.constant)?;
        ring.quotient(&multiple, &self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked integers.
    struct Integers;

    impl Ring for Integers {
        type Value = i64;
        type Error = &'static str;

        fn integer(&mut self, value: i64) -> i64 {
            value
        }

        fn is_zero(&self, value: &i64) -> bool {
            *value == 0
        }

        fn add(&mut self, a: &i64, b: &i64) -> Result<i64, Self::Error> {
            a.checked_add(*b).ok_or("overflow")
        }

        fn sub(&mut self, a: &i64, b: &i64) -> Result<i64, Self::Error> {
            a.checked_sub(*b).ok_or("overflow")
        }

        fn mul(&mut self, a: &i64, b: &i64) -> Result<i64, Self::Error> {
            a.checked_mul(*b).ok_or("overflow")
        }

        fn quotient(&mut self, a: &i64, b: &i64) -> Result<Option<i64>, Self::Error> {
            Ok((a.checked_rem(*b) == Some(0)).then(|| a / b))
        }
    }

    #[test]
    fn a_line_is_solved_where_it_has_a_solution() {
        // 2 · (x + 3) - 1
        let ring = &mut Integers;
        let (x, three) = (Line::unknown(ring), Line::constant(3, ring));
        let sum = x.add(&three, ring).unwrap();
        let doubled = Line::constant(2, ring).mul(&sum, ring).unwrap().unwrap();
        let line = doubled.sub(&Line::constant(1, ring), ring).unwrap();
        assert_eq!(line.solve(&11, ring), Ok(Some(3)));
        assert_eq!(line.solve(&12, ring), Ok(None));
        assert_eq!(three.solve(&3, ring), Ok(None));
        assert_eq!(line.solve(&i64::MIN, ring), Err("overflow"));
    }

    #[test]
    fn a_square_is_no_line() {
        let ring = &mut Integers;
        let x = Line::unknown(ring);
        assert_eq!(x.mul(&x, ring), Ok(None));
        let zero = x.scale(&0, ring).unwrap();
        assert_eq!(zero.mul(&x, ring), Ok(Some(zero.clone())));
    }
}
