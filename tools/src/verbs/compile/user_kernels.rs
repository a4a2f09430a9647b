// SPDX-License-Identifier: Apache-2.0
//! User kernels of a shared object, which is linked with their libraries and binds them when it is loaded.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::{Body, Model};
use skript_runtime::shared_object::literal;

use crate::command_line::IntrinsicArgument;

/// The C file and the linker flags for the user kernels of a model.
#[derive(Debug)]
pub struct UserKernels {
    /// The text of a C file whose constructor binds the kernels; empty without kernels.
    pub text: String,
    pub flags: Vec<OsString>,
}

/// The declaration of the runtime's `skript_bind_kernel` in C.
const HEADER: &str = "#include <stdint.h>\n\
    typedef int32_t kernel(const void *call);\n\
    void skript_bind_kernel(const char *name, const char *symbol, const char *library, kernel *function, kernel *wide);\n";

impl UserKernels {
    /// The user kernels of the operators without a body that the model invokes and that are not intrinsics.
    ///
    /// # Errors
    /// An operator without a kernel; kernels that the linker cannot distinguish.
    pub fn new(model: &Model, given: &[IntrinsicArgument]) -> Result<UserKernels, Box<Diagnostic>> {
        let wrong =
            |text: String, help: &str| Box::new(Diagnostic::without_location(&OUTPUT, text).with_help(help));
        let mut kernels = UserKernels { text: String::new(), flags: Vec::new() };
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
                    "--intrinsic NAME=SYMBOL@LIBRARY binds a kernel (docs/intrinsics.md)",
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
            // The assembler would parse other names differently.
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
            if !symbol.chars().all(plain) {
                return Err(wrong(
                    format!("`{symbol}` is not a function name that a linker accepts"),
                    "use letters, digits, `_`, `.` and `$`",
                ));
            }
            let _ = writeln!(
                kernels.text,
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
                kernels.link(&kernel.library);
            }
            taken.push(kernel);
        }
        if !taken.is_empty() {
            kernels.text = format!(
                "{HEADER}{}__attribute__((constructor)) static void bind(void) {{\n{calls}}}\n",
                kernels.text
            );
        }
        Ok(kernels)
    }

    /// Links with a library by file name. The loader searches for it beside the shared object, then at its current path.
    fn link(&mut self, library: &Path) {
        let absolute = std::path::absolute(library).unwrap_or_else(|_| library.to_owned());
        let named = library.components().count() == 1 && !library.exists();
        // A name without a folder is searched in the system's library folders, as the loader does.
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
        name.extend(library.file_name());
        self.flags.push(name);
    }
}
