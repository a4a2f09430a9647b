// SPDX-License-Identifier: Apache-2.0
//! SkriptND in JavaScript: a WebAssembly module that answers requests, both in JSON.
//!
//! `interface` exports the functions that JavaScript calls. `request` has the fields of a request, `answers` dispatches it.
//! `composition` composes models, `evaluation` evaluates them, and `language` answers editors. Nothing here opens files: a
//! document is one text, and imports are those of the library.
//!
//! Internal to the compiler: JavaScript programs use the loader in `javascript/package`.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
mod answers;
mod composition;
mod evaluation;
mod interface;
mod language;
mod request;
