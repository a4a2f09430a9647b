// SPDX-License-Identifier: Apache-2.0
//! User kernels in a shared object: links it with their libraries and binds them when it is loaded.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::{Body, Model};
use skript_runtime::shared_object::literal;

use crate::command_line::IntrinsicArgument;

/// The input that links a model with the libraries of its kernels.
#[derive(Debug)]
pub struct Own {
    /// The path of a C file.
    pub text: String,
    /// Arguments of the linker.
    pub flags: Vec<OsString>,
}

/// The declaration of the runtime's `skript_bind_kernel` in C.
const HEADER: &str = "#include <stdint.h>\n\
    typedef int32_t kernel(const void *call);\n\
    void skript_bind_kernel(const char *name, const char *symbol, const char *library, kernel *function, kernel *wide);\n";

impl Own {
    /// The user kernels of the operators that the model invokes and that are not intrinsics.
    ///
    /// # Errors
    /// An operator without a kernel; kernels that the linker cannot distinguish.
    pub fn of(model: &Model, given: &[IntrinsicArgument]) -> Result<Own, Box<Diagnostic>> {
        let wrong =
            |text: String, help: &str| Box::new(Diagnostic::without_location(&OUTPUT, text).with_help(help));
        let mut own = Own { text: String::new(), flags: Vec::new() };
        let mut calls = String::new();
        let mut taken: Vec<&IntrinsicArgument> = Vec::new();
        let intrinsics = (model.functions.iter()).filter(|f| matches!(f.body, Body::Intrinsic));
        let mut names: Vec<&str> = intrinsics.map(|f| f.name.as_str()).collect();
        names.retain(|name| !skript_intrinsics::names().any(|known| known == *name));
        names.sort_unstable();
        names.dedup();
        for (n, name) in names.into_iter().enumerate() {
            let Some(kernel) = given.iter().find(|k| k.operator == name) else {
                return Err(wrong(
                    format!("`{name}` has neither a body nor a kernel"),
                    "--intrinsic NAME=SYMBOL@LIBRARY binds one (docs/intrinsics.md)",
                ));
            };
            let other = taken.iter().find(|k| k.symbol == kernel.symbol);
            if let Some(other) = other.filter(|other| other.library != kernel.library) {
                return Err(wrong(
                    format!(
                        "{} and {} both have a kernel `{}`, but a linker accepts only one",
                        other.library.display(),
                        kernel.library.display(),
                        kernel.symbol
                    ),
                    "rename one of the functions; or compile an artifact, `-o model.skm`",
                ));
            }
            let (symbol, library) = (&kernel.symbol, kernel.library.display().to_string());
            // Names that the assembler would parse differently.
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
            if !symbol.chars().all(plain) {
                return Err(wrong(
                    format!("`{symbol}` is not a function name that a linker accepts"),
                    "letters, digits, `_`, `.` and `$` are",
                ));
            }
            let _ = writeln!(
                own.text,
                "extern kernel kernel_{n} __asm__(\"{symbol}\");\n\
                 extern kernel wide_{n} __asm__(\"{symbol}_f64\") __attribute__((weak));"
            );
            let _ = writeln!(
                calls,
                "  skript_bind_kernel({}, {}, {}, kernel_{n}, wide_{n});",
                literal(name),
                literal(symbol),
                literal(&library)
            );
            if !taken.iter().any(|k| k.library == kernel.library) {
                own.link(&kernel.library);
            }
            taken.push(kernel);
        }
        if !taken.is_empty() {
            own.text = format!(
                "{HEADER}{}__attribute__((constructor)) static void bind(void) {{\n{calls}}}\n",
                own.text
            );
        }
        Ok(own)
    }

    /// Links with a library by file name: the loader searches it beside the shared object, then at its current path.
    fn link(&mut self, library: &Path) {
        let absolute = std::path::absolute(library).unwrap_or_else(|_| library.to_owned());
        let named = library.components().count() == 1 && !library.exists();
        // Without a folder, the system's folders are searched, as the loader does.
        if let Some(folder) = absolute.parent().filter(|_| !named) {
            let mut location = OsString::from("-L");
            location.push(folder);
            self.flags.push(location);
            for folder in [Path::new("$ORIGIN"), folder] {
                self.flags.extend(["-Xlinker", "-rpath", "-Xlinker"].map(OsString::from));
                self.flags.push(folder.into());
            }
        }
        let mut name = OsString::from("-l:");
        name.push(library.file_name().unwrap_or_default());
        self.flags.push(name);
    }
}
