// SPDX-License-Identifier: Apache-2.0
//! How far the results of compiled code may differ from the formulas by rounding.

use std::str::FromStr;

/// A level of `--fast-math`. `docs/numerics.md` has the errors that each one brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FastMath {
    /// Each operation rounds, and sums are computed in the order of the formula.
    None,
    /// Products are contracted with sums, sums are computed in an order that is fixed for a target, and constant factors
    /// of sums become part of weights.
    #[default]
    Default,
    /// Windows may be computed by Winograd's minimal filtering, with larger errors.
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
        let found = FastMath::ALL.into_iter().find(|level| level.name() == name);
        found.ok_or_else(|| format!("there is no level `{name}` of fast math"))
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
