// SPDX-License-Identifier: Apache-2.0
//! The target of code generation.

use crate::error::Error;
pub use skript_passes::fast_math::FastMath;
use skript_passes::target::{Precision, TargetDescription};
use skript_runtime::artifact;
use skript_runtime::device::DeviceChoice;

/// A processor, in LLVM's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(crate) inner: TargetDescription,
}

impl Target {
    /// This processor.
    pub fn host() -> Self {
        Target { inner: TargetDescription::host() }
    }

    /// A processor by its name (`x86-64-v3`, `znver5`, `neoverse-n1`, or `native` for this one), with changes of the
    /// features that code may use (`+avx512bf16,-avx512vl`), or `""`.
    ///
    /// # Errors
    /// [`Error::Target`] for an unknown name; its text lists the known ones.
    pub fn named(cpu: &str, features: &str) -> Result<Self, Error> {
        Ok(Target { inner: TargetDescription::named(cpu, features)? })
    }

    /// The same target with another level of fast math; [`FastMath::Default`] is that of the other functions.
    #[must_use]
    pub fn with_fast_math(mut self, level: FastMath) -> Self {
        self.inner.fast_math = level;
        self
    }

    /// The same target, with sums of products of quantized values in integers of 8 bits or in reals, as their formulas say. Integers
    /// come close: `docs/numerics.md` has the difference.
    #[must_use]
    pub fn with_integers(mut self, computes_integers: bool) -> Self {
        self.inner.computes_integers = computes_integers;
        self
    }

    /// The same GPU, with products of matrices on tensor cores, whose inputs are rounded to a type: `tf32`, `f16` or `bf16`; `f32`, the
    /// default, uses none.
    ///
    /// # Errors
    /// [`Error::Name`] if the target has no tensor cores, or there is no such type.
    pub fn with_tensor_cores(mut self, precision: &str) -> Result<Self, Error> {
        let found = Precision::named(precision);
        let has_units = self.inner.gpu.is_some_and(|gpu| gpu.matrices.is_some());
        self.inner.gpu_precision =
            found.filter(|found| *found == Precision::F32 || has_units).ok_or_else(|| {
                let gpu = self.inner.gpu.map_or("the processor", |gpu| gpu.name);
                Error::Name(format!("{gpu} has no tensor cores for {precision}"))
            })?;
        Ok(self)
    }

    /// The device that code runs on.
    pub fn device(&self) -> DeviceChoice {
        self.inner.device
    }

    /// Any processor that LLVM knows, by its triple (`x86_64-pc-linux-gnu`), its CPU (`znver3`) and its features
    /// (`+avx2,+fma`).
    pub fn new(triple: &str, cpu: &str, features: &str) -> Self {
        Target {
            inner: TargetDescription::of(artifact::Target {
                triple: triple.to_owned(),
                cpu: cpu.to_owned(),
                features: features.to_owned(),
            }),
        }
    }
}
