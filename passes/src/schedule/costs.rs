// SPDX-License-Identifier: Apache-2.0
//! Costs of operations on a processor: the parameters of the cost model that selects kernel plans.
//!
//! `bench/fit_costs.py` fits them to the measurements of `skript tune`.

use skript_dialect::{Options, PassError, PassOption};

/// The costs of a processor, in cycles unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Fused multiply-adds of the widest vectors that start per cycle. The number of vector loads per cycle is the same.
    pub fma_ports: u32,
    /// Latency of a fused multiply-add.
    pub fma_latency: u32,
    /// Bytes per cycle read from the L2 cache.
    pub l2_bytes: u32,
    /// Cost of computing the predicate of one vector.
    pub predicate: u32,
    /// Cost of a load in addition to the multiply-adds, in hundredths of a cycle: among otherwise equally fast tiles, the tile with
    /// fewer loads is better.
    pub load_percent: u32,
    /// Cost of copying one row of a packed operand, as the number of rows of a product that take the same time.
    pub packing_rows: u32,
    /// Cost of writing a vector to noncontiguous elements, as the number of reduction steps that take the same time.
    pub scatter_steps: u32,
}

impl Costs {
    /// Costs of processors with 256-bit vectors, as measured on Zen 3.
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
    /// Fails if a value is out of range.
    pub(crate) fn from_options(options: &Options) -> Result<Self, PassError> {
        let number = |name: &str, min: u32| {
            let value: u32 = options.get(name)?;
            if (min..=1024).contains(&value) {
                Ok(value)
            } else {
                Err(PassError::from(format!("option {name} is {value}, which is not between {min} and 1024")))
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

    /// Returns the costs as options of a pass.
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
