// SPDX-License-Identifier: Apache-2.0
//! Integer algebra over loop indices and dynamic dimensions.
//!
//! A [`Form`] is a sum of multiples of terms. Two kinds of terms have additional operations: an [`Affine`] form has
//! loop indices, floor divisions and remainders by constants; a [`Polynomial`] has products of symbols. A form over any
//! other ordered type, such as names, has only the operations of [`Form`]. A [`Prover`] proves inequalities between
//! polynomials. A [`Line`] is linear in one unknown and has values of any [`Ring`]. An [`Extent`] is static or dynamic.
//!
//! All arithmetic is checked: a result that exceeds 64 bits is `None`, never a wrapped value. Only a [`WrappingForm`]
//! wraps, as the integers of programs do.
//!
//! ```
//! use skript_symbolic::{Affine, Interval};
//!
//! // The subscript 2·i + j - 1 of a window, with i in 0..4 and j in 0..3.
//! let subscript = Affine::index(0).scale(2).unwrap();
//! let subscript = subscript.add(&Affine::index(1)).unwrap().plus(-1).unwrap();
//! assert_eq!(subscript.range(&[4, 3]), Some(Interval { low: -1, high: 7 }));
//! ```
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

mod affine;
mod extent;
mod form;
mod interval;
mod line;
mod polynomial;
mod prover;
mod wrapping;

pub use affine::{Affine, Atom};
pub use extent::Extent;
pub use form::Form;
pub use interval::Interval;
pub use line::{Line, Ring};
pub use polynomial::{Monomial, Polynomial, SymbolId};
pub use prover::{Budget, Definition, Mark, Prover};
pub use wrapping::WrappingForm;
