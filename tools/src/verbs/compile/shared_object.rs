// SPDX-License-Identifier: Apache-2.0
//! `skript compile -o model.so`: links code, tables and the C library of the runtime with the system's C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use skript::{Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::{self, Body};
use skript_runtime::artifact::Embedded;
use skript_runtime::shared_object::{LIBRARY, header, tables, weights};

use super::user_kernels::UserKernels;
use super::{artifact, default_path};
use crate::command_line::CompileArguments;
use crate::session::Stopped;
use crate::written::write;

/// Writes the shared object and its header. Returns the written file if the user did not name it.
pub fn make(
    arguments: &CompileArguments,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<Option<PathBuf>, Stopped> {
    let path = match arguments.output() {
        Some(path) => path.to_owned(),
        None => default_path(model, "so"),
    };
    let beside = path.with_extension("h");
    if beside == path {
        let message = "a shared object and its header cannot be one file";
        return Err(Diagnostic::without_location(&OUTPUT, message)
            .with_help("name the shared object without the extension .h")
            .into());
    }
    let (bytes, header) = object(arguments, model, variables)?;
    write(&path, &[&bytes])?;
    write(&beside, &[header.as_bytes()])?;
    Ok(arguments.output().is_none().then_some(path))
}

/// The bytes of the shared object and the text of its header. Compilation is deterministic: equal models have equal bytes.
pub fn object(
    arguments: &CompileArguments,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<(Vec<u8>, String), Stopped> {
    let artifact = artifact(arguments, model, variables)?;
    let graph = model.name();
    let tables = tables(&artifact, graph)
        .map_err(|e| Diagnostic::without_location(&OUTPUT, format!("no shared object: {e}")))?;
    let kernels = kernels(model.ir())?;
    let compiler = compiler(&artifact.target.triple, kernels.is_some())?;
    let user_kernels = UserKernels::new(model.ir(), &arguments.reading.intrinsics)?;
    let embedded = artifact.embedded.as_ref().map(Embedded::data);
    if let Some(embedded) = embedded.filter(|bytes| bytes.len() > MAX_WEIGHT_BYTES) {
        let message = format!(
            "no shared object: its weights have {} bytes, and it embeds at most {MAX_WEIGHT_BYTES}",
            embedded.len()
        );
        return Err(Diagnostic::without_location(&OUTPUT, message)
            .with_help("embed them in an artifact, `-o model.skm`, or leave them in files")
            .into());
    }
    let bytes = linked(&compiler, &artifact.object, &tables, embedded, kernels.as_deref(), &user_kernels)?;
    Ok((bytes, header(&artifact, graph)))
}

/// The library of intrinsics, if the model's code calls any.
fn kernels(model: &model::Model) -> Result<Option<PathBuf>, Box<Diagnostic>> {
    let intrinsics = (model.functions.iter()).filter(|f| matches!(f.body, Body::Intrinsic));
    let names: Vec<&str> = intrinsics.map(|f| f.name.as_str()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let locations = folder.map(|f| [f.join(KERNELS), f.join("../lib").join(KERNELS)]);
    let library = locations.into_iter().flatten().find(|location| location.exists());
    match (library, names.first()) {
        (None, Some(name)) => {
            let message =
                format!("`{name}` is an intrinsic, but {KERNELS} is neither next to skript nor in ../lib");
            Err(Box::new(
                Diagnostic::without_location(&OUTPUT, message).with_help(
                    "`cargo build --release -p skript-intrinsics` builds it; or compile an artifact, `-o model.skm`",
                ),
            ))
        }
        (library, _) => Ok(library),
    }
}

/// Maximum size of embedded weights in bytes: code addresses data within 2 GiB.
const MAX_WEIGHT_BYTES: usize = 1 << 30;

/// The static library of the crate `skript-intrinsics`.
const KERNELS: &str = "libskript_intrinsics.a";
const RUN_INSTEAD: &str = "compile an artifact, `-o model.skm`, and run it with skript-run";

/// The C compiler that links for a triple: the compiler of this system, or Debian's cross compiler for another processor.
fn compiler(triple: &str, has_kernels: bool) -> Result<String, Box<Diagnostic>> {
    let wrong =
        |text: String, help: &str| Err(Box::new(Diagnostic::without_location(&OUTPUT, text).with_help(help)));
    let architecture = triple.split_once('-').map_or(triple, |(first, _)| first);
    // These compilers link the GNU C library.
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
    user_kernels: &UserKernels,
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
    std::fs::write(location("kernels.c"), &user_kernels.text).map_err(io)?;
    for (name, text) in LIBRARY {
        std::fs::write(location(name), text).map_err(io)?;
    }
    if let Some(embedded) = embedded {
        std::fs::write(location("weights.bin"), embedded).map_err(io)?;
        std::fs::write(location("embedded.s"), weights("weights.bin")).map_err(io)?;
    }
    let sources = LIBRARY.iter().map(|(name, _)| *name).filter(|name| name.ends_with(".c"));
    let run = Command::new(compiler)
        .current_dir(folder.path())
        .args(["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared"])
        .args(["-fvisibility=hidden", "-ffp-contract=off"])
        // The kernels unwind if arguments are rejected.
        .arg("-static-libgcc")
        // Functions of this object take precedence over functions of other models in the process; only functions of the C
        // library are looked up.
        .args(["-Wl,--build-id=none,-Bsymbolic,-z,defs", "-o", "model.so"])
        .args(sources)
        .args(["tables.c", "kernels.c", "model.o"])
        .args(embedded.map(|_| "embedded.s"))
        .args(kernels)
        .args(&user_kernels.flags)
        // Links only the kernels that are called, and exports none of them.
        .args(["-Wl,--gc-sections,--exclude-libs,ALL", "-lm"])
        .output()
        .map_err(io)?;
    if !run.status.success() {
        let output = String::from_utf8_lossy(&run.stderr);
        let missing =
            output.split("undefined reference to `").nth(1).and_then(|rest| rest.split('\'').next());
        return Err(match missing {
            Some(symbol) => {
                wrong(format!("the model's code calls `{symbol}`, which no shared object has"), RUN_INSTEAD)
            }
            None => wrong(
                format!("{compiler} failed: {}", output.trim()),
                &format!("--emit=obj writes the object file without {compiler}"),
            ),
        });
    }
    std::fs::read(location("model.so")).map_err(io)
}
