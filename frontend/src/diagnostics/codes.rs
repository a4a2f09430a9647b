// SPDX-License-Identifier: Apache-2.0
//! One Markdown file per diagnostic: its id, title and explanation, and below `## Tests` the documents that `tests` runs.
//! The build script declares the constants: `sk0454_unexpected_value.md` is `UNEXPECTED_VALUE`.
#![allow(unreachable_pub)] // A code is public whether or not another crate reports it.

use super::Code;

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

#[cfg(test)]
mod tests;
