// SPDX-License-Identifier: Apache-2.0
//! Limits on the resources of a document; exceeding one is a diagnostic, never a crash or a hang.

use crate::meter::Meter;

/// A limit as the command line presents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name for `--limit NAME=N`, and in messages.
    pub name: &'static str,
    /// The counted quantity.
    pub summary: &'static str,
    /// The default.
    pub default: u64,
    /// The maximum, which the program itself can handle.
    pub most: u64,
}

/// Why a limit was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // The message of each variant describes its fields.
pub enum LimitError {
    #[error("there is no limit `{0}`")]
    Unknown(String),
    #[error("limit `{name}` is at most {most}")]
    TooLarge { name: &'static str, most: u64 },
}

macro_rules! limits {
    ($($(#[doc = $summary:literal])* $name:ident: $type:ty = $default:expr, at most $most:expr;)*) => {
        /// Named limits with their defaults.
        #[derive(Clone, Debug)]
        pub struct Limits {
            $($(#[doc = $summary])* pub $name: $type,)*
            /// The work so far.
            pub meter: Meter,
        }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($name: $default,)* meter: Meter::default() }
            }
        }

        impl Limits {
            /// Every limit.
            pub const ALL: &[Limit] = &[$(Limit {
                name: stringify!($name),
                summary: concat!($($summary),*),
                default: $default,
                most: $most,
            },)*];

            /// Sets a limit by its name.
            ///
            /// # Errors
            /// There is no such limit, or the value exceeds its maximum.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
                match name {
                    $(stringify!($name) => {
                        let too_large = LimitError::TooLarge { name: stringify!($name), most: $most };
                        if value > $most {
                            return Err(too_large);
                        }
                        self.$name = <$type>::try_from(value).map_err(|_| too_large)?;
                        Ok(())
                    })*
                    _ => Err(LimitError::Unknown(name.to_owned())),
                }
            }
        }
    };
}

limits! {
    /// Bytes of one source file.
    source_bytes: usize = 64 << 20, at most 2 << 30;
    /// Bytes of a StableHLO program's text.
    program_bytes: u64 = 1 << 30, at most 1 << 40;
    /// Bytes of the file of a batch.
    batch_bytes: u64 = 64 << 20, at most 1 << 40;
    /// Bytes of a packed model, or of one compressed array of an .npz file, unpacked.
    unpacked_bytes: u64 = 2 << 30, at most 1 << 40;
    /// Bytes of weights that a StableHLO program holds itself.
    inline_bytes: u64 = 64 << 20, at most 1 << 31;
    /// Nested brackets, blocks, choices and unary operators of one statement.
    nesting: usize = 256, at most 4096;
    /// Operators in sequence in one statement: `a + b + c`.
    chain: usize = 1024, at most 8192;
    /// Chained operator invocations while composing.
    call_depth: usize = 128, at most 2048;
    /// Chained imports.
    import_depth: usize = 64, at most 1024;
    /// Items of one compile-time pack.
    pack_length: usize = 1 << 22, at most 1 << 28;
    /// Items of all named compile-time packs of one model; 24 bytes of strings count as one.
    pack_items: usize = 1 << 22, at most 1 << 32;
    /// Operator instances of one model.
    instances: usize = 1 << 16, at most 1 << 28;
    /// Invocations of one model; unrolled ones count each, those of an operator as often as it is reached.
    invocations: usize = 1 << 17, at most 1 << 28;
    /// Formulas or loop bodies that one `unroll` (or pack index) produces, including nested ones.
    unrolled: usize = 1 << 16, at most 1 << 24;
    /// Operations in one expression over dynamic extents.
    extent_operations: usize = 1 << 13, at most 1 << 16;
    /// Terms of one sum of ints that is computed at run time: indices, elements, extents.
    polynomial_terms: usize = 1024, at most 1 << 14;
    /// Elements of all constants of one model that are computed at compile time.
    constant_elements: usize = 1 << 24, at most 1 << 32;
    /// Elements of one tensor.
    tensor_elements: u64 = 1 << 40, at most 1 << 56;
    /// Iterations of a loop that only a condition ends.
    loop_steps: u64 = 1 << 22, at most 1 << 62;
    /// Dimensions of one tensor.
    rank: usize = 64, at most 1024;
    /// Steps of composing all graphs of one command: expressions, items, elements, proofs; more for long documents.
    work: u64 = 1 << 26, at most 1 << 56;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_set_by_name() {
        let mut limits = Limits::default();
        limits.set("unrolled", 3).unwrap();
        assert_eq!(limits.unrolled, 3);
        assert_eq!(limits.set("unroled", 3), Err(LimitError::Unknown("unroled".into())));
        let most = Limits::ALL.iter().find(|l| l.name == "rank").unwrap().most;
        assert_eq!(limits.set("rank", most + 1), Err(LimitError::TooLarge { name: "rank", most }));
    }

    #[test]
    fn defaults_match_the_table() {
        assert!(Limits::ALL.iter().all(|l| l.default <= l.most && !l.summary.is_empty()));
        let unrolled = Limits::ALL.iter().find(|l| l.name == "unrolled").unwrap();
        assert_eq!(Limits::default().unrolled as u64, unrolled.default);
    }
}
