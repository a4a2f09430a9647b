// SPDX-License-Identifier: Apache-2.0
//! Typed operations of StableHLO, as [`skript_passes::typed!`] declares them.

use melior::Error;
use melior::ir::Attribute;
use melior::ir::attribute::StringAttribute;
use skript_dialect::melior;
use skript_passes::ir::ops;
use skript_passes::ir::typed::OperationLike;
use skript_passes::typed;

/// The attribute for the `backend_config` of a call; older printers write it as an attribute of another dialect.
pub(crate) const BACKEND_CONFIG: &str = "mhlo.backend_config";

typed! {
    /// `stablehlo.broadcast_in_dim`: repetition along new dimensions.
    BroadcastInDim = ops::stablehlo::BROADCAST_IN_DIM { operand = 0 };
    /// `stablehlo.compare`: a comparison.
    Compare = ops::stablehlo::COMPARE { lhs = 0, rhs = 1 };
    /// `stablehlo.composite`: an operation whose semantics is defined by a function.
    Composite = ops::stablehlo::COMPOSITE;
    /// `stablehlo.constant`: a tensor.
    Constant = ops::stablehlo::CONSTANT;
    /// `stablehlo.custom_call`: a call of a function that the consumer implements.
    CustomCall = ops::stablehlo::CUSTOM_CALL;
    /// `stablehlo.select`: elements of one of two tensors.
    Select = ops::stablehlo::SELECT { predicate = 0, then = 1, otherwise = 2 };
}

impl<'c: 'a, 'a> Composite<'c, 'a> {
    /// The symbol of the function.
    pub(crate) fn decomposition(self) -> Result<Attribute<'c>, Error> {
        self.op().attribute("decomposition")
    }
}

impl<'c: 'a, 'a> Constant<'c, 'a> {
    /// The elements.
    pub(crate) fn value(self) -> Result<Attribute<'c>, Error> {
        self.op().attribute("value")
    }
}

impl<'c: 'a, 'a> CustomCall<'c, 'a> {
    /// The name of the function.
    pub(crate) fn target(self) -> String {
        let target = self.op().attribute("call_target_name");
        let target = target.and_then(StringAttribute::try_from);
        target.map_or(String::new(), |target| target.value().to_owned())
    }

    /// The dictionary that the call passes to the function.
    pub(crate) fn configuration(self) -> Option<Attribute<'c>> {
        // If both attributes exist, `backend_config` of the operation itself is only a string.
        let foreign = self.op().attribute(BACKEND_CONFIG);
        foreign.or_else(|_| self.op().attribute("backend_config")).ok()
    }
}
