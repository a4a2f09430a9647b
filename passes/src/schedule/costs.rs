// SPDX-License-Identifier: Apache-2.0
//! What operations cost on a processor: the parameters of the model that plans of kernels are selected by.
//!
//! `bench/fit_costs.py` fits them to what `skript tune` measures.

use skript_dialect::{Options, PassError, PassOption};

/// The costs of a processor, in cycles where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Fused multiply-adds of the widest vectors that start in one cycle; as many vectors are loaded.
    pub fma_ports: u32,
    /// From a fused multiply-add to one that depends on it.
    pub fma_latency: u32,
    /// Bytes per cycle that come from the cache of level 2.
    pub l2_bytes: u32,
    /// The predicate of one vector.
    pub predicate: u32,
    /// The cost of a load beside the multiply-adds, in hundredths: of two tiles that are as fast otherwise, the one with fewer loads
    /// is better.
    pub load_percent: u32,
    /// Rows of a product that take as long as to copy one row of a packed operand.
    pub packing_rows: u32,
    /// Steps of a reduction that take as long as to write a vector whose elements are apart.
    pub scatter_steps: u32,
}

impl Costs {
    /// Those of processors with vectors of 256 bits: as measured on Zen 3.
    pub const TYPICAL: Costs = Costs {
        fma_ports: 2,
        fma_latency: 4,
        l2_bytes: 24,
        predicate: 4,
        load_percent: 5,
        packing_rows: 48,
        scatter_steps: 8,
    };

    /// The options of a pass that estimates costs.
    pub(crate) const OPTIONS: [PassOption; 7] = [
        PassOption {
            name: "fma-ports",
            summary: "fused multiply-adds of vectors that start in one cycle",
            default: "2",
        },
        PassOption {
            name: "fma-latency",
            summary: "cycles from a fused multiply-add to one that depends on it",
            default: "4",
        },
        PassOption {
            name: "l2-bytes",
            summary: "bytes per cycle that come from the cache of level 2",
            default: "24",
        },
        PassOption {
            name: "predicate-cycles",
            summary: "cycles of the predicate of one vector",
            default: "4",
        },
        PassOption {
            name: "load-percent",
            summary: "cost of a load beside the multiply-adds, in hundredths of a cycle",
            default: "5",
        },
        PassOption {
            name: "packing-rows",
            summary: "rows of a product that take as long as to copy one row of a packed operand",
            default: "48",
        },
        PassOption {
            name: "scatter-steps",
            summary: "steps of a reduction that take as long as to write a vector whose elements are apart",
            default: "8",
        },
    ];

    /// The values of [`Costs::OPTIONS`].
    ///
    /// # Errors
    /// A value that no processor has.
    pub(crate) fn of(options: &Options) -> Result<Self, PassError> {
        let number = |name: &str, least: u32| {
            let value: u32 = options.get(name)?;
            if (least..=1024).contains(&value) {
                Ok(value)
            } else {
                Err(PassError::from(format!(
                    "option {name} is {value}, which is not between {least} and 1024"
                )))
            }
        };
        Ok(Costs {
            fma_ports: number("fma-ports", 1)?,
            fma_latency: number("fma-latency", 1)?,
            l2_bytes: number("l2-bytes", 1)?,
            predicate: number("predicate-cycles", 0)?,
            load_percent: number("load-percent", 0)?,
            packing_rows: number("packing-rows", 0)?,
            scatter_steps: number("scatter-steps", 0)?,
        })
    }

    /// The costs as the options of a pass.
    pub(crate) fn options(&self) -> [(&'static str, u32); 7] {
        [
            ("fma-ports", self.fma_ports),
            ("fma-latency", self.fma_latency),
            ("l2-bytes", self.l2_bytes),
            ("predicate-cycles", self.predicate),
            ("load-percent", self.load_percent),
            ("packing-rows", self.packing_rows),
            ("scatter-steps", self.scatter_steps),
        ]
    }
}
