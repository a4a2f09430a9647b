// SPDX-License-Identifier: Apache-2.0
//! Real and imaginary parts. A real array has no imaginary part, so one text covers both kinds.

use super::arrays::{Array, Arrays, tensor};

impl Array {
    pub(crate) fn is_complex(&self) -> bool {
        self.element.starts_with("complex<")
    }

    /// The type of the real and imaginary parts; for reals, the type itself.
    fn part_element(&self) -> String {
        let inside = self.element.strip_prefix("complex<");
        let inside = inside.and_then(|i| i.strip_suffix('>'));
        inside.unwrap_or(&self.element).to_owned()
    }
}

impl Arrays {
    /// An operation on parts of complex numbers whose result has another element type.
    fn of_parts(&mut self, operation: &str, operands: &[&Array], element: &str) -> Array {
        let names: Vec<&str> = operands.iter().map(|a| a.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|a| a.r#type()).collect();
        let extents = operands.first().map_or_else(Vec::new, |a| a.extents.clone());
        let (names, types) = (names.join(", "), types.join(", "));
        let types = match operands {
            [_] => format!("({types}) -> {}", tensor(&extents, element)),
            _ => tensor(&extents, element),
        };
        self.value(&format!("{operation} {names} : {types}"), &extents, element)
    }

    /// The real parts.
    pub(super) fn real(&mut self, a: &Array) -> Array {
        if a.is_complex() { self.of_parts("real", &[a], &a.part_element()) } else { a.clone() }
    }

    /// The imaginary parts; zeros for reals.
    pub(crate) fn imaginary(&mut self, a: &Array) -> Array {
        if a.is_complex() {
            self.of_parts("imag", &[a], &a.part_element())
        } else {
            self.splat("0.0", &a.extents, &a.element)
        }
    }

    /// Reals converted to the element type of another array.
    pub(crate) fn lifted(&mut self, a: &Array, like: &Array) -> Array {
        if !like.is_complex() {
            return a.clone();
        }
        let zero = self.splat("0.0", &a.extents, &a.element);
        self.of_parts("complex", &[a, &zero], &like.element)
    }

    pub(crate) fn conjugate(&mut self, a: &Array) -> Array {
        if !a.is_complex() {
            return a.clone();
        }
        let (real, imaginary) = (self.real(a), self.imaginary(a));
        let imaginary = self.apply("negate", &[&imaginary]);
        self.of_parts("complex", &[&real, &imaginary], &a.element)
    }

    /// The conjugate transpose of the matrices.
    pub(crate) fn adjoint(&mut self, a: &Array) -> Array {
        let a = self.conjugate(a);
        self.transposed(&a)
    }

    /// `|x| + |y|` of `x + iy`, which LAPACK compares instead of the absolute value.
    pub(crate) fn magnitude(&mut self, a: &Array) -> Array {
        let real = self.real(a);
        let real = self.apply("abs", &[&real]);
        if !a.is_complex() {
            return real;
        }
        let imaginary = self.imaginary(a);
        let imaginary = self.apply("abs", &[&imaginary]);
        self.apply("add", &[&real, &imaginary])
    }

    /// The absolute values and the directions (unit complex numbers); the direction of zero is zero. Scaling keeps
    /// small numbers exact.
    pub(crate) fn polar(&mut self, a: &Array) -> (Array, Array) {
        let (real, imaginary) = (self.real(a), self.imaginary(a));
        let sizes = [&real, &imaginary].map(|part| self.apply("abs", &[part]));
        let greater = self.apply("maximum", &[&sizes[0], &sizes[1]]);
        let (zero, one) = (self.number("0.0", &real), self.number("1.0", &real));
        let is_zero = self.compare("EQ", &greater, &zero);
        let scale = self.select(&is_zero, &one, &greater);
        let [real, imaginary] = [real, imaginary].map(|part| self.apply("divide", &[&part, &scale]));
        let shares = [&real, &imaginary].map(|part| self.apply("multiply", &[part, part]));
        let sum = self.apply("add", &[&shares[0], &shares[1]]);
        let root = self.apply("sqrt", &[&sum]);
        let length = self.apply("multiply", &[&root, &scale]);
        let root = self.select(&is_zero, &one, &root);
        let [real, imaginary] = [real, imaginary].map(|part| self.apply("divide", &[&part, &root]));
        let direction =
            if a.is_complex() { self.of_parts("complex", &[&real, &imaginary], &a.element) } else { real };
        (length, direction)
    }

    /// `x² + y²` of `x + iy`.
    pub(crate) fn squared(&mut self, a: &Array) -> Array {
        let real = self.real(a);
        let real = self.apply("multiply", &[&real, &real]);
        if !a.is_complex() {
            return real;
        }
        let imaginary = self.imaginary(a);
        let imaginary = self.apply("multiply", &[&imaginary, &imaginary]);
        self.apply("add", &[&real, &imaginary])
    }
}
