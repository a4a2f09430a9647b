// SPDX-License-Identifier: Apache-2.0
//! A language server for SkriptND.
//!
//! [`serve_streams`] serves an editor on two streams of bytes (`framing`, `server`). `workspace` holds the open texts and finds the
//! model of a file; `analysis` runs the frontend on them; `names` finds the name at a position.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
mod analysis;
mod completion;
mod diagnostics;
mod framing;
mod hover;
mod library_files;
mod names;
mod outline;
mod positions;
mod server;
mod workspace;

pub use server::serve_streams;
