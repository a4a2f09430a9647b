// SPDX-License-Identifier: Apache-2.0
//! The flags that select the processor that code is generated for.

use clap::Args;
use skript_passes::target::{TargetDescription, TargetError};

#[derive(Clone, Debug, Args)]
pub struct TargetArguments {
    /// Processor to generate code for: native, a level such as x86-64-v3, or a product such as znver5 or neoverse-n1; an
    /// unknown name prints the list
    #[arg(long, value_name = "NAME", default_value = "native")]
    cpu: String,
    /// Features that code may use beyond those of the processor (+), or may not use (-), by LLVM's names: +avx512bf16,-avx512vl
    #[arg(
        long,
        value_name = "+A,-B",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    features: String,
}

impl TargetArguments {
    /// The processor.
    ///
    /// # Errors
    /// [`TargetError`] for unknown names.
    pub fn check(&self) -> Result<TargetDescription, TargetError> {
        TargetDescription::named(&self.cpu, &self.features)
    }

    /// The processor for flags that the command line has checked.
    pub fn target(&self) -> TargetDescription {
        self.check().unwrap_or_else(|_| TargetDescription::host())
    }
}
