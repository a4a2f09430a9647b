// SPDX-License-Identifier: Apache-2.0
//! The target of code generation.

use crate::error::Error;
pub use skript_passes::fast_math::FastMath;
pub use skript_passes::target::Integers;
use skript_passes::target::{Precision, TargetDescription};
use skript_runtime::artifact;
use skript_runtime::device::DeviceChoice;

/// A processor in LLVM's terms, or a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(crate) inner: TargetDescription,
}

impl Target {
    fn described(inner: TargetDescription) -> Self {
        Target { inner }
    }

    /// This processor.
    pub fn host() -> Self {
        Target::described(TargetDescription::host())
    }

    /// A processor by its name (`x86-64-v3`, `znver5`, `neoverse-n1`, or `native` for this one). `features` adds and removes
    /// features that code may use (`+avx512bf16,-avx512vl`), or is empty.
    ///
    /// # Errors
    /// [`Error::Target`] for an unknown name, with the known names.
    pub fn named(cpu: &str, features: &str) -> Result<Self, Error> {
        Ok(Target::described(TargetDescription::named(cpu, features)?))
    }

    /// The target with another level of fast math; the initial level is [`FastMath::Default`].
    #[must_use]
    pub fn with_fast_math(mut self, level: FastMath) -> Self {
        self.inner.fast_math = level;
        self
    }

    /// Selects whether sums of products of quantized tensors are computed in 8-bit integers or, as their formulas state, in
    /// reals. Integer results may differ by one step of a tensor: `docs/numerics.md`. By default, processors compute quantized
    /// ONNX models in integers.
    #[must_use]
    pub fn with_integers(mut self, computes_integers: bool) -> Self {
        self.inner.integers = if computes_integers { Integers::Always } else { Integers::Never };
        self
    }

    /// Selects the type to which tensor cores of a GPU round the inputs of matrix products: `tf32`, `f16` or `bf16`. `f32`, the
    /// default, does not use tensor cores.
    ///
    /// # Errors
    /// [`Error::Name`] if the target has no tensor cores, or the type is unknown.
    pub fn with_tensor_cores(mut self, precision: &str) -> Result<Self, Error> {
        let named = Precision::named(precision);
        let has_units = self.inner.gpu.is_some_and(|gpu| gpu.matrices.is_some());
        self.inner.gpu_precision =
            named.filter(|named| *named == Precision::F32 || has_units).ok_or_else(|| {
                let gpu = self.inner.gpu.map_or("the processor", |gpu| gpu.name);
                Error::Name(format!("{gpu} has no tensor cores for {precision}"))
            })?;
        Ok(self)
    }

    /// The device that executes the code.
    pub fn device(&self) -> DeviceChoice {
        self.inner.device
    }

    /// Any processor that LLVM supports, by its triple (`x86_64-pc-linux-gnu`), its CPU (`znver3`) and its features
    /// (`+avx2,+fma`).
    pub fn new(triple: &str, cpu: &str, features: &str) -> Self {
        Target::described(TargetDescription::new(artifact::Target {
            triple: triple.to_owned(),
            cpu: cpu.to_owned(),
            features: features.to_owned(),
        }))
    }
}
