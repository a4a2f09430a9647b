// SPDX-License-Identifier: Apache-2.0
//! A language server for SkriptND.
//!
//! [`serve_streams`] serves an editor on two streams of bytes (`framing`, `server`), [`EmbeddedServer`] the program that
//! starts it, [`DirectServer`] a program without threads. `workspace` holds the open texts and finds the model of a file; `analysis` runs the frontend on them; `names`
//! finds what a word stands for. `requests` maps each request to the module that answers it.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
mod actions;
mod analysis;
mod calls;
mod completion;
mod diagnostics;
mod direct;
mod embedded;
mod framing;
mod highlighting;
mod hints;
mod hover;
mod library_files;
mod names;
mod nesting;
mod outline;
mod place;
mod positions;
mod references;
mod requests;
mod server;
mod signature_help;
#[cfg(test)]
mod testing;
mod workspace;

pub use direct::DirectServer;
pub use embedded::{EmbeddedError, EmbeddedServer};
pub use server::serve_streams;
