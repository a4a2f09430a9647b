// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `skript`.

use super::builder::{self, Builder};
use super::typed::{self, typed};
use super::{attributes, context, mutation, ops, read_back};
use melior::Error;
use melior::ir::attribute::{DenseI32ArrayAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{BlockRef, RegionLike, Value};

// The attributes of a check.
const CODE: &str = "code";
const MESSAGE: &str = "message";
const STATUS: &str = "status";
/// On an invocation or an intrinsic: the qualified name of the operator.
const OPERATOR: &str = "operator_name";

typed! {
    /// `skript.access`: an element of a tensor.
    Access = ops::skript::ACCESS { tensor = 0 };
    /// `skript.check`: ends the run if its condition is false.
    Check = ops::skript::CHECK { condition = 0 };
    /// `skript.formula`: one `@lower` statement in normal form.
    Formula = ops::skript::FORMULA;
    /// `skript.intrinsic`: an operator that is computed by a kernel of the runtime.
    Intrinsic = ops::skript::INTRINSIC;
    /// `skript.invoke`: calls the function of an operator instance.
    Invoke = ops::skript::INVOKE;
    /// `skript.yield`: the terminator of the body of a formula.
    Yield = ops::skript::YIELD;
}

impl<'c: 'a, 'a> Access<'c, 'a> {
    /// The subscripts of each dimension.
    pub(crate) fn subscripts(self) -> Vec<Value<'c, 'a>> {
        self.op().operands().skip(1).collect()
    }
}

impl<'c: 'a, 'a> Yield<'c, 'a> {
    /// The number of subscripts of each destination.
    pub(crate) fn ranks(self) -> Result<DenseI32ArrayAttribute<'c>, Error> {
        DenseI32ArrayAttribute::try_from(self.op().attribute("ranks")?)
    }
}

impl<'c: 'a, 'a> Check<'c, 'a> {
    /// The i64 values that the message prints.
    pub(crate) fn values(self) -> Vec<Value<'c, 'a>> {
        self.op().operands().skip(1).collect()
    }

    /// The code of the diagnostic, such as `SK9203`.
    pub(crate) fn code(self) -> String {
        typed::verified_string(self.op(), CODE)
    }

    /// The message, in the format of [`skript_runtime::artifact::Check`].
    pub(crate) fn message(self) -> String {
        typed::verified_string(self.op(), MESSAGE)
    }

    /// The number that the entry returns if the check fails, from 1; `None` before checks are numbered.
    pub(crate) fn status(self) -> Option<i64> {
        typed::integer(self.op(), STATUS)
    }

    /// Sets the number of the check.
    pub(crate) fn set_status(self, status: i32) {
        let holder = self.op().context();
        let int = IntegerType::new(context::borrow(&holder), 32);
        let status = IntegerAttribute::new(int.into(), status.into());
        mutation::set(self.op(), STATUS, status.into());
    }
}

impl<'c: 'a, 'a> Formula<'c, 'a> {
    /// The bound of each index, outermost first; [`types::DYNAMIC`] if the bound is an operand.
    pub(crate) fn static_bounds(self) -> Vec<i64> {
        typed::i64s(self.op(), "static_bounds")
    }

    /// The keyword of its kind, such as `sum`.
    pub(crate) fn kind(self) -> String {
        let text = self.op().attribute("kind").map_or_else(|_| String::new(), |kind| kind.to_string());
        let keyword = text.split_once('<').and_then(|(_, text)| text.strip_suffix('>'));
        keyword.unwrap_or_else(|| unreachable!("internal compiler error: a formula of no kind")).to_owned()
    }

    /// The block of the predicate, if the formula has one.
    pub(crate) fn predicate(self) -> Option<BlockRef<'c, 'a>> {
        self.op().region(0).ok()?.first_block()
    }

    /// The block of the body.
    pub(crate) fn body(self) -> Result<BlockRef<'c, 'a>, Error> {
        builder::only_block(self.op().region(1)?)
    }
}

impl<'c: 'a, 'a> Intrinsic<'c, 'a> {
    /// The qualified name of the operator.
    pub fn operator(self) -> String {
        typed::verified_string(self.op(), OPERATOR)
    }

    /// The attributes of the operator, by name. `None` if an attribute has an unsupported kind.
    pub fn operator_attributes(self) -> Option<Vec<(String, skript_intrinsics::Value)>> {
        match self.op().attribute("operator_attributes") {
            Ok(dictionary) => read_back::entries(dictionary),
            Err(_) => Some(Vec::new()),
        }
    }

    /// The number of inputs. Destinations follow the inputs.
    pub fn input_count(self) -> Option<usize> {
        typed::segments(self.op()).first().copied()
    }

    /// The positions of the outputs whose extents depend on data.
    pub(crate) fn dynamic_outputs(self) -> Vec<i64> {
        typed::i64s(self.op(), "dynamic_outputs")
    }

    /// The attributes of the operator whose values are inputs.
    pub fn dynamic_attributes(self) -> Vec<String> {
        read_back::strings(self.op(), "given")
    }

    /// Whether each execution returns different random numbers.
    pub fn is_random(self) -> bool {
        self.op().has_attribute("random")
    }
}

impl<'c: 'a, 'a> Invoke<'c, 'a> {
    /// The qualified name of the operator.
    pub fn operator(self) -> String {
        typed::verified_string(self.op(), OPERATOR)
    }
}

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// Emits a run-time check. If `condition` is false, the run ends with this message, which contains the i64 `values`.
    pub(crate) fn check(
        &self,
        condition: Value<'c, 'a>,
        code: &str,
        message: &str,
        values: &[Value<'c, 'a>],
    ) -> Result<Check<'c, 'a>, Error> {
        let operands: Vec<_> = std::iter::once(condition).chain(values.iter().copied()).collect();
        let entries = [CODE, MESSAGE].into_iter().zip([code, message]);
        let entries: Vec<_> =
            entries.map(|(name, text)| (name, attributes::string(self.context, text))).collect();
        self.create(ops::skript::CHECK, &operands, &entries, &[], Vec::new()).map(Check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir;
    use melior::ir::{Location, Module};
    use skript_intrinsics::compiled::VALUES;

    #[test]
    fn the_verifier_limits_the_values_of_a_check_to_those_of_a_context() {
        let context = ir::new_context();
        for (count, valid) in [(0, true), (VALUES, true), (VALUES + 1, false)] {
            let (verified, messages) = ir::collecting(&context, || {
                let module = Module::new(Location::unknown(&context));
                let location = Location::unknown(&context);
                let at = Builder::at_end(&context, module.body(), location);
                let [flag, word] = [1, 64].map(|width| IntegerType::new(&context, width).into());
                let one = |r#type| {
                    let value = IntegerAttribute::new(r#type, 1).into();
                    at.value(ops::arith::CONSTANT, &[], &[("value", value)], r#type).unwrap()
                };
                let check = at.check(one(flag), "SK9203", "{text}", &vec![one(word); count]);
                assert_eq!(check.unwrap().values().len(), count);
                module.as_operation().verify().then_some(())
            });
            assert_eq!(verified.is_some(), valid, "{count}: {messages:?}");
        }
    }

    #[test]
    fn a_numbered_check_has_a_status() {
        let context = ir::new_context();
        let text = r#"func.func @f(%ok: i1, %n: i64) { skript.check %ok, "SK9204", "{0}"(%n) return }"#;
        let module = Module::parse(&context, text).unwrap();
        let checks: Vec<_> = ir::nested(module.as_operation()).into_iter().filter_map(Check::cast).collect();
        let [check] = checks.as_slice() else {
            panic!("{} checks", checks.len());
        };
        assert_eq!((check.code(), check.message()), ("SK9204".into(), "{0}".into()));
        assert_eq!(check.status(), None);
        check.set_status(3);
        assert_eq!(check.status(), Some(3));
        assert!(module.as_operation().verify());
        assert!(module.as_operation().to_string().contains("(%arg1) status 3"));
    }
}
