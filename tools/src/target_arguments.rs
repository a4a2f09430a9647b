// SPDX-License-Identifier: Apache-2.0
//! The flags that select the processor that code is generated for, and how code may round.

use crate::command_line::{ModelArguments, QuantizeArgument};
use clap::{Args, ValueEnum};
use skript_passes::fast_math::FastMath;
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
    /// How far results may differ from the formulas by rounding: docs/numerics.md has the errors
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Level::Default)]
    fast_math: Level,
}

/// The levels of `--fast-math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Each operation rounds, sums are computed in the order of the formula
    None,
    /// Fused multiply-adds, sums in an order that is fixed for a target, constant factors become part of weights
    Default,
    /// As default, and windows of 3 × 3 with unit strides in f32 by Winograd's minimal filtering where that is faster: sums lose 5 bits
    /// more at most on ordinary data, and an infinity or NaN reaches all sums of a tile of 4 × 4
    Winograd,
}

impl TargetArguments {
    /// The processor.
    ///
    /// # Errors
    /// [`TargetError`] for unknown names.
    pub fn check(&self) -> Result<TargetDescription, TargetError> {
        let target = TargetDescription::named(&self.cpu, &self.features)?;
        let fast_math = match self.fast_math {
            Level::None => FastMath::None,
            Level::Default => FastMath::Default,
            Level::Winograd => FastMath::Winograd,
        };
        Ok(TargetDescription {
            fast_math,
            ..target
        })
    }

    /// The processor for flags that the command line has checked.
    pub fn target(&self) -> TargetDescription {
        self.check().unwrap_or_else(|_| TargetDescription::host())
    }

    /// The same for a model that is read with these options.
    pub fn target_of(&self, reading: &ModelArguments) -> TargetDescription {
        TargetDescription {
            computes_integers: reading.quantize == Some(QuantizeArgument::Integer),
            ..self.target()
        }
    }
}
