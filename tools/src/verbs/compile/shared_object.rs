// SPDX-License-Identifier: Apache-2.0
//! `skript compile -o model.so`: code, tables and the C library of the runtime, linked by the system's C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::{Body, Model};
use skript_runtime::artifact::Embedded;
use skript_runtime::shared_object::{LIBRARY, header, tables, weights};
use skript_tensor::Tensor;

use super::user_kernels::Own;
use super::{artifact, graph, named, write};
use crate::command_line::CompileArguments;
use crate::session::{Session, Stopped};

/// Writes the shared object and its header. Returns the written file if the user did not name it.
pub fn make(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<Option<PathBuf>, Stopped> {
    let path = match arguments.output() {
        Some(path) => path.to_owned(),
        None => named(model, "so"),
    };
    let beside = path.with_extension("h");
    if beside == path {
        let message = "a shared object and its header cannot be one file";
        return Err(Diagnostic::without_location(&OUTPUT, message)
            .with_help("name the shared object without the extension .h")
            .into());
    }
    let (bytes, header) = object(arguments, session, model, variables)?;
    write(&path, &bytes)?;
    write(&beside, header.as_bytes())?;
    Ok(arguments.output().is_none().then_some(path))
}

/// The shared object's bytes and the text of its header; equal models have equal bytes.
pub fn object(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<(Vec<u8>, String), Stopped> {
    let artifact = artifact(arguments, session, model, variables)?;
    let graph = graph(model);
    let tables = tables(&artifact, graph)
        .map_err(|e| Diagnostic::without_location(&OUTPUT, format!("no shared object: {e}")))?;
    let kernels = kernels(model)?;
    let compiler = compiler(&artifact.target.triple, kernels.is_some())?;
    let own = Own::of(model, &arguments.reading.intrinsics)?;
    let embedded = artifact.embedded.as_ref().map(Embedded::data);
    let most = usize::try_from(MOST_WEIGHTS).unwrap_or(usize::MAX);
    if let Some(embedded) = embedded.filter(|bytes| bytes.len() > most) {
        let message = format!(
            "no shared object: its weights have {} bytes, and it embeds at most {most}",
            embedded.len()
        );
        return Err(Diagnostic::without_location(&OUTPUT, message)
            .with_help("embed them in an artifact, `-o model.skm`, or leave them in files")
            .into());
    }
    let bytes = linked(&compiler, &artifact.object, &tables, embedded, kernels.as_deref(), &own)?;
    Ok((bytes, header(&artifact, graph)))
}

/// The library of the kernels that the model's code calls, if it calls any.
fn kernels(model: &Model) -> Result<Option<PathBuf>, Box<Diagnostic>> {
    let intrinsics = (model.functions.iter()).filter(|f| matches!(f.body, Body::Intrinsic));
    let names: Vec<&str> = intrinsics.map(|f| f.name.as_str()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let locations = folder.map(|f| [f.join(KERNELS), f.join("../lib").join(KERNELS)]);
    let found = locations.into_iter().flatten().find(|location| location.exists());
    match (found, names.first()) {
        (None, Some(name)) => {
            let message =
                format!("`{name}` is an intrinsic, but {KERNELS} is neither next to skript nor in ../lib");
            Err(Box::new(
                Diagnostic::without_location(&OUTPUT, message).with_help(
                    "`cargo build --release -p skript-intrinsics` builds it; or compile an artifact, `-o model.skm`",
                ),
            ))
        }
        (found, _) => Ok(found),
    }
}

/// The maximum size of embedded weights: code refers to what is within 2 GiB of it.
const MOST_WEIGHTS: u64 = 1 << 30;

/// `skript-intrinsics` as a static library.
const KERNELS: &str = "libskript_intrinsics.a";
const RUN_INSTEAD: &str = "compile an artifact, `-o model.skm`, and run it with skript-run";

/// The C compiler that links for a triple: that of this system, or Debian's for another processor.
fn compiler(triple: &str, has_kernels: bool) -> Result<String, Box<Diagnostic>> {
    let wrong =
        |text: String, help: &str| Err(Box::new(Diagnostic::without_location(&OUTPUT, text).with_help(help)));
    let architecture = triple.split('-').next().unwrap_or_default();
    // Those compilers link GNU's C library.
    let is_linked =
        triple.contains("linux") && !["musl", "android"].iter().any(|other| triple.contains(other));
    if architecture == std::env::consts::ARCH && is_linked {
        return Ok("cc".to_owned());
    }
    if !is_linked {
        return wrong(
            format!("there are no shared objects for `{triple}`"),
            "write an object file, `-o model.o`, and its header",
        );
    }
    if has_kernels {
        return wrong(
            format!("the kernels of intrinsics are not built for `{triple}`"),
            "use an operator with a formula in place of the intrinsic",
        );
    }
    Ok(format!("{architecture}-linux-gnu-gcc"))
}

fn linked(
    compiler: &str,
    object: &[u8],
    tables: &str,
    embedded: Option<&[u8]>,
    kernels: Option<&Path>,
    own: &Own,
) -> Result<Vec<u8>, Box<Diagnostic>> {
    let wrong =
        |text: String, help: &str| Box::new(Diagnostic::without_location(&OUTPUT, text).with_help(help));
    let io = |e: std::io::Error| {
        wrong(
            format!("cannot link: {e}"),
            &format!(
                "linking needs a C compiler named `{compiler}`; --emit=obj writes the object file without one"
            ),
        )
    };
    let folder = tempfile::tempdir().map_err(io)?;
    let location = |name: &str| folder.path().join(name);
    std::fs::write(location("model.o"), object).map_err(io)?;
    std::fs::write(location("tables.c"), tables).map_err(io)?;
    std::fs::write(location("kernels.c"), &own.text).map_err(io)?;
    for (name, text) in LIBRARY {
        std::fs::write(location(name), text).map_err(io)?;
    }
    if let Some(embedded) = embedded {
        std::fs::write(location("weights.bin"), embedded).map_err(io)?;
        std::fs::write(location("embedded.s"), weights("weights.bin")).map_err(io)?;
    }
    let sources = LIBRARY.iter().map(|(name, _)| *name);
    let sources = sources.filter(|name| name.ends_with(".c"));
    let run = Command::new(compiler)
        .current_dir(folder.path())
        .args(["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared"])
        .args(["-fvisibility=hidden", "-ffp-contract=off"])
        // The kernels unwind on rejected arguments.
        .arg("-static-libgcc")
        // Its own functions take precedence over those of other models in the process; only the C library's are looked
        // up.
        .args(["-Wl,--build-id=none,-Bsymbolic,-z,defs", "-o", "model.so"])
        .args(sources)
        .args(["tables.c", "kernels.c", "model.o"])
        .args(embedded.map(|_| "embedded.s"))
        .args(kernels)
        .args(&own.flags)
        // Links only the kernels that are called, and exports none of them.
        .args(["-Wl,--gc-sections,--exclude-libs,ALL", "-lm"])
        .output()
        .map_err(io)?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        let missing = said.split("undefined reference to `").nth(1).and_then(|rest| rest.split('\'').next());
        return Err(match missing {
            Some(symbol) => {
                wrong(format!("the model's code calls `{symbol}`, which no shared object has"), RUN_INSTEAD)
            }
            None => wrong(
                format!("{compiler} failed: {}", said.trim()),
                &format!("--emit=obj writes the object file without {compiler}"),
            ),
        });
    }
    std::fs::read(location("model.so")).map_err(io)
}
