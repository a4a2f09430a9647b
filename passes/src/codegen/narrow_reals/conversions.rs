// SPDX-License-Identifier: Apache-2.0
//! Emits conversions of f16 and bf16 as functions on integers in the dialect `llvm`, from the expansions in [`narrow`].

use super::types::Narrow;
use crate::ir::steps::{self, Steps};
use crate::ir::vector::{element_or_self, shaped_like};
use crate::ir::{self, Builder, attributes, ops};
use melior::dialect::llvm;
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, ValueLike};
use skript_dialect::PassError;
use skript_semantics::expansion::{self, narrow};
use skript_semantics::{Class, Expansion};
use std::collections::BTreeMap;

/// A conversion between a 16-bit float type and f32 or f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conversion {
    narrow: Narrow,
    is_double: bool,
}

impl Conversion {
    /// The conversions that the option of the pass accepts.
    const NAMED: [(&'static str, Conversion); 2] = [
        ("f16-f32", Conversion { narrow: Narrow::Half, is_double: false }),
        ("f16-f64", Conversion { narrow: Narrow::Half, is_double: true }),
    ];

    pub(super) fn named(name: &str) -> Option<Conversion> {
        Conversion::NAMED.iter().find(|(known, _)| *known == name).map(|(_, conversion)| *conversion)
    }

    pub(super) fn names() -> String {
        Conversion::NAMED.map(|(name, _)| name).join(" or ")
    }

    /// The conversion between a 16-bit float type, or vectors of it, and f32 or f64.
    pub(super) fn between(narrow: Type, wide: Type) -> Result<Conversion, PassError> {
        let is_double = match element_or_self(wide).to_string().as_str() {
            "f32" => false,
            "f64" => true,
            other => {
                let message = format!(
                    "conversions between {narrow} and {other} are not supported: convert to f64 first"
                );
                return Err(PassError::from(message));
            }
        };
        Ok(Conversion { narrow: kind(narrow)?, is_double })
    }
}

/// The functions that a module calls, by their symbols.
#[derive(Default)]
pub(super) struct Functions<'c> {
    known: BTreeMap<String, Function<'c>>,
}

/// A function on values with the shape of `model`.
struct Function<'c> {
    expansion: Expansion,
    model: Type<'c>,
}

impl<'c> Functions<'c> {
    /// Returns the symbol of the function from the bits of a 16-bit float type to f32.
    pub(super) fn widening(&mut self, narrow: Type<'c>) -> Result<String, PassError> {
        Ok(match kind(narrow)? {
            Narrow::Half => self.function("f32_of_f16", narrow, Class::I16, narrow::f32_of_f16),
            Narrow::Brain => self.function("f32_of_bf16", narrow, Class::I16, narrow::f32_of_bf16),
        })
    }

    /// Returns the symbol of the function from f32 to the bits of a 16-bit float type.
    pub(super) fn narrowing(&mut self, narrow: Type<'c>) -> Result<String, PassError> {
        Ok(match kind(narrow)? {
            Narrow::Half => self.function("f16_of_f32", narrow, Class::F32, narrow::f16_of_f32),
            Narrow::Brain => self.function("bf16_of_f32", narrow, Class::F32, narrow::bf16_of_f32),
        })
    }

    /// Returns the symbol of the function from f64 to f32, on values with the shape of `narrow`, that rounds to odd: a second
    /// rounding, to a 16-bit float type, then yields the correctly rounded result.
    pub(super) fn rounding_to_odd(&mut self, narrow: Type<'c>) -> String {
        self.function("odd_f32_of_f64", narrow, Class::F64, narrow::odd_f32_of_f64)
    }

    fn function(
        &mut self,
        name: &str,
        model: Type<'c>,
        from: Class,
        function: fn(expansion::Value) -> expansion::Value,
    ) -> String {
        let text = model.to_string();
        let lanes = text.strip_prefix("vector<").and_then(|vector| Some(vector.rsplit_once('x')?.0));
        let symbol = match lanes {
            None => format!("skript.{name}"),
            Some(lanes) => format!("skript.{name}.{}", lanes.replace('[', "x").replace(']', "")),
        };
        let expansion = || Expansion::record([from], |[x]| function(x));
        self.known.entry(symbol.clone()).or_insert_with(|| Function { expansion: expansion(), model });
        symbol
    }

    /// Appends the functions that are missing in a module.
    pub(super) fn append<'a>(&self, module: OperationRef<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        let present = ir::symbols(module);
        for (symbol, function) in self.known.iter().filter(|(symbol, _)| !present.contains(*symbol)) {
            function.append(module, symbol)?;
        }
        Ok(())
    }
}

impl<'c> Function<'c> {
    fn append<'a>(&self, module: OperationRef<'c, 'a>, symbol: &str) -> Result<(), PassError>
    where
        'c: 'a,
    {
        let context = ir::context::of(module);
        let block = ir::first_block(module).ok_or("a module without a body")?;
        let at = Builder::at_end(context, block, module.location());
        let shaped = |class: &Class| shaped_like(self.model, steps::type_of(context, *class));
        let from: Vec<Type> = self.expansion.arguments.iter().map(shaped).collect();
        let (region, inside, arguments) = at.region(&from);
        let value = self.expansion.emit(&mut Steps::new(inside, self.model).in_llvm(), &arguments)?;
        inside.create(ops::llvm::RETURN, &[value], &[], &[], Vec::new())?;
        let r#type = llvm::r#type::function(value.r#type(), &from, false);
        let attributes = [
            ("sym_name", attributes::string(context, symbol)),
            ("function_type", TypeAttribute::new(r#type).into()),
            ("linkage", attributes::internal(context)),
            ("passthrough", attributes::strings(context, &["alwaysinline"])),
        ];
        at.create(ops::llvm::FUNC, &[], &attributes, &[], vec![region])?;
        Ok(())
    }
}

fn kind(narrow: Type) -> Result<Narrow, PassError> {
    Narrow::from_type(narrow).ok_or_else(|| "a conversion of a type that is not narrow".into())
}
