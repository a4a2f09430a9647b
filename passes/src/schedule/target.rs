// SPDX-License-Identifier: Apache-2.0
//! Properties of the target that schedules depend on, as options of passes.

use super::costs::Costs;
use super::dot::{Instruction, OF_BF16, OF_BYTES};
use super::plan::Vectors;
use skript_dialect::{Options, PassError, PassOption};

/// The vector registers and the cache of the target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Bits of one vector register.
    pub vector_bits: i64,
    /// The number of vector registers.
    pub vector_registers: i64,
    /// Bytes of the L2 cache.
    pub cache_bytes: i64,
    /// Whether sums and products of reals are computed in the order of the loops.
    pub keep_order: bool,
    /// The instructions for sums of products of bytes.
    pub dot: Instruction,
    /// The instructions for sums of products of bf16.
    pub half_dot: Instruction,
    /// Costs of operations.
    pub costs: Costs,
}

/// The option that selects the instructions for products of bf16.
pub(crate) const BF16_PRODUCTS: PassOption = PassOption {
    name: "bf16-products",
    summary: "instructions for sums of products of bf16: none or vdpbf16ps",
    default: "none",
};

/// The option that selects the instructions for products of bytes.
pub(crate) const BYTE_PRODUCTS: PassOption = PassOption {
    name: "byte-products",
    summary: "instructions for sums of products of bytes: none, vpdpbusd, vpmaddwd or usdot",
    default: "none",
};

/// Parses the option [`BYTE_PRODUCTS`].
pub(crate) fn byte_products(options: &Options) -> Result<Instruction, PassError> {
    of_list(options, BYTE_PRODUCTS.name, OF_BYTES)
}

/// Parses the option [`BF16_PRODUCTS`].
pub(crate) fn bf16_products(options: &Options) -> Result<Instruction, PassError> {
    of_list(options, BF16_PRODUCTS.name, OF_BF16)
}

fn of_list(options: &Options, name: &str, list: &[Instruction]) -> Result<Instruction, PassError> {
    Instruction::named(options.text(name), list).map_err(|e| PassError::from(format!("option {name}: {e}")))
}

/// Concatenates two lists of options.
pub(crate) const fn joined<const A: usize, const B: usize, const ALL: usize>(
    first: [PassOption; A],
    second: [PassOption; B],
) -> [PassOption; ALL] {
    let mut all = [PassOption::NONE; ALL];
    let (start, end) = all.split_at_mut(A);
    start.copy_from_slice(&first);
    end.copy_from_slice(&second);
    all
}

impl Target {
    /// The options of a pass whose decisions depend on the target.
    pub(crate) const OPTIONS: [PassOption; 13] = joined(Self::REGISTER_OPTIONS, Costs::OPTIONS);

    const REGISTER_OPTIONS: [PassOption; 6] = [
        PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" },
        PassOption { name: "vector-registers", summary: "number of vector registers", default: "32" },
        PassOption {
            name: "cache-bytes",
            summary: "bytes of the per-core cache that holds data a kernel reads repeatedly",
            default: "1048576",
        },
        PassOption {
            name: "keep-order",
            summary: "combine reals in the order of the loops",
            default: "false",
        },
        BYTE_PRODUCTS,
        BF16_PRODUCTS,
    ];

    /// The values of [`Target::OPTIONS`].
    ///
    /// # Errors
    /// Fails if a value is out of range.
    pub(crate) fn from_options(options: &Options) -> Result<Self, PassError> {
        let vector_bits: i64 = options.get("vector-bits")?;
        if !(64..=4096).contains(&vector_bits) || vector_bits.count_ones() != 1 {
            return Err(PassError::from(format!(
                "option vector-bits is {vector_bits}, which is not a power of two from 64 to 4096"
            )));
        }
        let vector_registers: i64 = options.get("vector-registers")?;
        if !(8..=256).contains(&vector_registers) {
            return Err(PassError::from(format!(
                "option vector-registers is {vector_registers}, which is not between 8 and 256"
            )));
        }
        Ok(Target {
            vector_bits,
            vector_registers,
            cache_bytes: options.get("cache-bytes")?,
            keep_order: options.get("keep-order")?,
            dot: byte_products(options)?,
            half_dot: bf16_products(options)?,
            costs: Costs::from_options(options)?,
        })
    }

    /// Returns the properties of vector registers for elements of `bits` bits.
    pub(crate) fn vectors(self, bits: i64) -> Vectors {
        Vectors {
            lanes: self.vector_bits / bits,
            bytes: self.vector_bits / 8,
            registers: self.vector_registers,
            cache: self.cache_bytes * 8 / bits,
            costs: self.costs,
        }
    }
}
