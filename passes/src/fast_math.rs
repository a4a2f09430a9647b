// SPDX-License-Identifier: Apache-2.0
//! Levels of allowed rounding differences between compiled code and formulas.

use std::str::FromStr;

/// A level of `--fast-math`. `docs/numerics.md` has the errors of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FastMath {
    /// Each operation is rounded, and sums are computed in the order of the formula.
    None,
    /// Products are contracted with sums, sums are computed in an order that is fixed for a target, and constant factors
    /// of sums become part of weights.
    #[default]
    Default,
    /// Windows may also be computed by Winograd's minimal filtering, with larger errors.
    Winograd,
}

impl FastMath {
    /// Every level.
    pub const ALL: [FastMath; 3] = [FastMath::None, FastMath::Default, FastMath::Winograd];

    /// The name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            FastMath::None => "none",
            FastMath::Default => "default",
            FastMath::Winograd => "winograd",
        }
    }
}

impl FromStr for FastMath {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut levels = FastMath::ALL.into_iter();
        levels
            .find(|level| level.name() == name)
            .ok_or_else(|| format!("`{name}` is not a level of fast math"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names() {
        for level in FastMath::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert!("all".parse::<FastMath>().is_err());
    }
}
