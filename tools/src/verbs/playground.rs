// SPDX-License-Identifier: Apache-2.0
//! `skript playground`: serves one page on the loopback address, with an editor and views of the model in it.
//!
//! `access` decides which requests are answered, `server` bounds their sizes and times and dispatches them. A page has its
//! own language server (`conversation`). The views are outputs of this program, which is executed for each request
//! (`jobs`): a compilation that fails, takes too long or is obsolete ends without an effect on the server.

mod access;
mod conversation;
mod jobs;
mod page;
mod pages;
mod results;
mod server;
mod values;

use std::net::{Ipv4Addr, TcpListener};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{RUN_FAILED, UNREADABLE};

use crate::command_line::PlaygroundArguments;
use crate::console::{Console, Status};
use crate::session::say;
use access::{Access, MAX_TEXT_BYTES};
use server::Site;
pub use values::print_values;

/// The port number for which the system selects a free port.
const FREE: u16 = 0;

pub fn run(arguments: &PlaygroundArguments, console: &mut Console) -> Status {
    match serve(arguments, console) {
        Ok(()) => Status::Done,
        Err(diagnostic) => {
            say(*diagnostic, arguments.message_format, console);
            Status::Wrong
        }
    }
}

fn serve(arguments: &PlaygroundArguments, console: &mut Console) -> Result<(), Box<Diagnostic>> {
    let failed =
        |text: String| Box::new(Diagnostic::without_location(&RUN_FAILED, format!("the playground: {text}")));
    let text = arguments.file.as_deref().map(|path| {
        let wrong = |text: String| {
            Box::new(Diagnostic::without_location(&UNREADABLE, format!("{}: {text}", path.display())))
        };
        let bytes = skript_host::file::read(path, MAX_TEXT_BYTES).map_err(|e| wrong(e.to_string()))?;
        String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))
    });
    let text = text.transpose()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port.unwrap_or(FREE)));
    let listener = listener.map_err(|error| match arguments.port {
        Some(port) => failed(format!("cannot listen on 127.0.0.1:{port}: {error}")),
        None => failed(error.to_string()),
    })?;
    let address = listener.local_addr().map_err(|error| failed(error.to_string()))?;
    let access = Access::new(address).map_err(|error| failed(error.to_string()))?;
    let executable = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    console.write(&format!("playground: {}\nCtrl-C ends it\n", access.url()));
    let page = page::html(text.as_deref()).map_err(|error| failed(error.to_string()))?;
    let site = Site::new(access, executable, arguments.timeout, page);
    server::serve(listener, site).map_err(|error| failed(error.to_string()))
}
