// SPDX-License-Identifier: Apache-2.0
//! Shows a composed model as a graph: an HTML page that needs no network, or a Graphviz file.
//!
//! A [`Picture`] is the content of a page as plain data: graphs of boxes and tensors, one for each body of a function, the
//! texts of definitions, and histograms of weights. Equal models have equal pages.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
pub mod arrays;
mod collect;
mod definitions;
mod difference;
mod dot;
mod histogram;
mod interface;
mod layout;
mod page;
mod picture;
mod profile;
mod reads;
mod text;

pub use difference::{Change, Detail, Difference, differences, short};
pub use histogram::{Bins, Histogram};
pub use interface::Interface;
pub use picture::{
    Constant, Definition, Edge, Inside, Instance, Kind, Node, Origin, Picture, Scope, Tensor, Variable,
};
pub use profile::{Profile, ProfileError, Time};
pub use text::{Digest, Dimension, Marked, TensorType};
