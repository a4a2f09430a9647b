// SPDX-License-Identifier: Apache-2.0
//! Handles invocations of operator instances that are not inlined.

pub(crate) mod keep_operators;
pub(crate) mod lower_invocations;

pub(crate) use crate::ir::func::functions;
use crate::ir::{argument_attributes, first_block, signature};
use crate::ir::{attributes, copy, mutation};
use skript_dialect::PassError;
use skript_dialect::melior::Context;
use skript_dialect::melior::ir::attribute::{ArrayAttribute, DictionaryAttribute};
use skript_dialect::melior::ir::{Attribute, OperationRef, TypeLike, Value, ValueLike};

/// The attribute of an argument for whether bufferization may write into it.
const WRITABLE: &str = "bufferization.writable";

/// Marks the tensor arguments of a function as never written. Does nothing for functions that are defined elsewhere.
pub(crate) fn read_only(function: OperationRef, context: &Context) -> Result<(), PassError> {
    if first_block(function).is_none() {
        return Ok(());
    }
    let (inputs, _) = signature(function).map_err(|e| PassError::at(function, e.to_string()))?;
    let mut known = argument_attributes(function);
    known.resize(inputs.len(), DictionaryAttribute::new(context, &[]).into());
    let read = attributes::boolean(context, false);
    let all: Vec<Attribute> = inputs
        .iter()
        .zip(known)
        .map(|(input, known)| {
            if input.is_ranked_tensor() {
                attributes::with_entry(context, known, WRITABLE, read)
            } else {
                known
            }
        })
        .collect();
    mutation::set(function, "arg_attrs", ArrayAttribute::new(context, &all).into());
    Ok(())
}

/// The tensor arguments of a function that are marked as never written.
pub(crate) fn read_only_arguments<'c: 'a, 'a>(function: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let arguments = first_block(function).map(copy::arguments);
    let known = argument_attributes(function);
    let both = arguments.unwrap_or_default().into_iter().zip(known);
    let read = both.filter(|(argument, known)| {
        let writable = attributes::entry(*known, WRITABLE);
        argument.r#type().is_ranked_tensor() && writable.is_some_and(|w| w.to_string() == "false")
    });
    read.map(|(argument, _)| argument).collect()
}
