// SPDX-License-Identifier: Apache-2.0
//! `skript-driver`: checks, runs and compiles SkriptND models. `skript` starts it ([`start`](start/main.rs)).
//!
//! Exit status: 0 for success; 1 for errors in a document, a value, a file or the run (diagnostics on stderr); 2 for an
//! unknown flag or name on the command line. The crates that this crate uses neither print nor exit.

mod command_line;
mod console;
mod engine;
mod foreign;
mod inputs;
mod language;
mod limit_arguments;
mod measure;
mod model_folder;
mod onnx_model;
mod outputs;
mod panics;
mod profile;
mod program_shapes;
mod program_weights;
mod render;
mod session;
mod stablehlo_program;
#[path = "start/command.rs"]
mod start_command;
mod stdout;
mod stopped;
mod table;
mod target_arguments;
mod timings;
mod verbs;
mod version;
mod watch;
mod written;

use std::process::ExitCode;

/// MLIR also uses this allocator, which places the many small operations of a module close together.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The stack size of the main thread. Documents at the nesting limits need less.
const STACK_BYTES: usize = 1 << 30;

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let mut console = console::Console::stderr();
    let status = std::thread::scope(|scope| {
        let work = || verbs::dispatch(arguments, &mut console);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, work) {
            // `dispatch` converts panics to an exit status; this panic occurred outside of its guard.
            Ok(thread) => thread.join().unwrap_or(console::Status::Wrong),
            Err(error) => {
                eprintln!("skript: cannot start a thread: {error}");
                console::Status::Wrong
            }
        }
    });
    ExitCode::from(status as u8)
}
