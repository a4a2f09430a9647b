// SPDX-License-Identifier: Apache-2.0
//! `skript-driver`: checks, runs and compiles SkriptND models. `skript` starts it ([`start`](start/main.rs)).
//!
//! Exit status: 0 done; 1 something is wrong with a document, a value, a file or the run (diagnostics on stderr);
//! 2 an unknown flag or name on the command line. Nothing below this crate prints or exits.

mod attributes;
mod command_line;
mod console;
mod devices;
mod engine;
mod foreign;
mod inputs;
mod limit_arguments;
mod measure;
mod onnx_model;
mod outputs;
mod panics;
mod positions;
mod profile;
mod program_shapes;
mod program_weights;
mod render;
mod session;
mod stablehlo_program;
#[path = "start/command.rs"]
mod start_command;
mod stdout;
mod target_arguments;
mod timings;
mod variables;
mod verbs;
mod version;

use std::process::ExitCode;

/// MLIR allocates through it too: one allocator for all keeps the many small operations of a module close together.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The stack size of the main thread; limits on the nesting of documents fit in it with a margin.
const STACK_BYTES: usize = 1 << 30;

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let mut console = console::Console::stderr();
    let status = std::thread::scope(|scope| {
        let work = || verbs::dispatch(arguments, &mut console);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, work) {
            // A panic became an exit status inside already; this is a failure of the guard itself.
            Ok(thread) => thread.join().unwrap_or(console::Status::Wrong),
            Err(error) => {
                eprintln!("skript: cannot start a thread: {error}");
                console::Status::Wrong
            }
        }
    });
    ExitCode::from(status as u8)
}
