//! A language server for SkriptND.
//!
//! [`serve`] answers an editor until it says goodbye, [`serve_streams`] one on two streams of bytes (`framing`). `workspace` knows which texts are open and which model a file
//! belongs to; `analysis` is what the frontend makes of them; what is asked about a place goes through `names`, which
//! says what stands there.
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

pub use server::{serve, serve_streams};
