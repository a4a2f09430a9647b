// SPDX-License-Identifier: Apache-2.0
//! Functions: signature, constants, body, return.

use super::scope::{Scope, argument_attributes, port_attributes};
use super::signature::{arguments, results};
use super::{EmitError, Emitter, block, branch, check, constant, formula, intrinsic};
use crate::ir::attribute_names::{self, VARIABLE};
use crate::ir::ops;
use crate::ir::{Builder, attributes};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, TypeAttribute};
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, BlockRef, Type};
use skript_frontend::model::{Body, Function, FunctionId, Model, Port, PortTensors, ValueId};

pub(super) fn emit<'c>(
    emitter: &Emitter<'c, '_>,
    id: FunctionId,
    module: BlockRef<'c, '_>,
) -> Result<(), EmitError> {
    let context = emitter.context;
    let function = emitter.model.function(id).ok_or(EmitError::Malformed("no such function"))?;
    let is_entry = id == emitter.model.entry;
    let mut scope = Scope::new(emitter, function);

    let inputs = arguments(function);
    let outputs = results(emitter.model, function, is_entry);
    let mut input_types = scope.types(&inputs)?;
    input_types.resize(inputs.len() + function.extents.len(), Type::index(context));
    let output_types = scope.types(&outputs)?;

    let outer = Builder::at_end(context, module, emitter.location(&function.name, function.span));
    let (region, body, values) = outer.region(&input_types);
    for (id, value) in inputs.iter().zip(&values) {
        scope.set(*id, *value);
        scope.learn(*id, &body)?;
    }
    for (name, value) in function.extents.iter().zip(values.iter().skip(inputs.len())) {
        scope.symbols.insert(name.clone(), *value);
    }
    if is_entry {
        // The extents that the model computes are consistent by construction; the extents of arguments must be checked.
        for id in &inputs {
            scope.test_extents(*id, &body)?;
        }
    }
    check::emit(&scope, &function.checks, &body)?;
    for (id, data) in &function.constants {
        constant::emit(&mut scope, *id, data, &body)?;
    }
    match &function.body {
        Body::Formulas(formulas) => {
            let declared = outputs.iter().copied().zip(output_types.iter().copied());
            formula::emit_all(&mut scope, formulas, &declared.collect::<Vec<_>>(), &body)?;
        }
        Body::Block(operations) => block::emit(&mut scope, operations, &body)?,
        Body::Intrinsic => {
            intrinsic::emit(&mut scope, &inputs, &outputs, &body)?;
        }
    }
    // The elements of an output without formulas are `T()`.
    for output in &outputs {
        formula::ensure_written(&mut scope, *output, &body)?;
    }
    check::emit(&scope, &function.result_checks, &body)?;
    let returned = branch::cast_all(&scope.all(&outputs)?, &output_types, &body)?;
    body.create(ops::func::RETURN, &returned, &[], &[], Vec::new())?;

    let symbol = emitter.symbol(id);
    let r#type = FunctionType::new(context, &input_types, &output_types);
    let mut entries = vec![
        ("sym_name", attributes::string(context, symbol)),
        ("function_type", TypeAttribute::new(r#type.into()).into()),
    ];
    if is_entry {
        entries.extend(entry_attributes(&scope, &inputs, &outputs)?);
    } else {
        entries.push(("sym_visibility", attributes::string(context, "private")));
    }
    outer.create(ops::func::FUNC, &[], &entries, &[], vec![region])?;
    Ok(())
}

/// Returns the attributes that mark the entry and describe its arguments and results.
fn entry_attributes<'c>(
    scope: &Scope<'_, 'c, '_, '_>,
    inputs: &[ValueId],
    outputs: &[ValueId],
) -> Result<Vec<(&'static str, Attribute<'c>)>, EmitError> {
    let (context, model) = (scope.emitter.context, scope.emitter.model);
    let (argument_names, result_names) = names(model, scope.function)?;
    let of_arguments: Vec<Attribute<'c>> = argument_names
        .iter()
        .zip(inputs)
        .map(|(port, id)| {
            let is_updated = port.1 == VARIABLE && result_names.contains(port);
            Ok(argument_attributes(context, port, is_updated, scope.tensor(*id)?))
        })
        .collect::<Result<_, EmitError>>()?;
    let of_results: Vec<Attribute<'c>> = result_names
        .iter()
        .zip(outputs)
        .map(|((name, role), id)| {
            let entries = port_attributes(context, name, role, scope.tensor(*id)?);
            Ok(attributes::dictionary(context, &entries))
        })
        .collect::<Result<_, EmitError>>()?;
    let mut entries = vec![
        ("arg_attrs", ArrayAttribute::new(context, &of_arguments).into()),
        ("res_attrs", ArrayAttribute::new(context, &of_results).into()),
        (attribute_names::ENTRY, attributes::unit(context)),
    ];
    let quantization = quantization(context, model);
    if !quantization.is_empty() {
        entries.push((attribute_names::QUANTIZATION, ArrayAttribute::new(context, &quantization).into()));
    }
    Ok(entries)
}

/// Returns `{tensor = "a.w", operator = "quant.q", attributes = {bits = 8}}` for each entry of `@quantize` (2.14).
fn quantization<'c>(context: &'c Context, model: &Model) -> Vec<Attribute<'c>> {
    let entries = model.quantization.iter().map(|entry| {
        let values: Vec<_> = entry
            .attributes
            .iter()
            .map(|(name, value)| (name.as_str(), attributes::attribute(context, value)))
            .collect();
        attributes::dictionary(
            context,
            &[
                ("tensor", attributes::string(context, &entry.tensor)),
                ("operator", attributes::string(context, &entry.operator)),
                ("attributes", attributes::dictionary(context, &values)),
            ],
        )
    });
    entries.collect()
}

/// Names and roles of arguments or results.
type Names = Vec<(String, &'static str)>;

fn names(model: &Model, entry: &Function) -> Result<(Names, Names), EmitError> {
    let variable =
        |id| model.variable(id).map(|v| v.name.clone()).ok_or(EmitError::Malformed("no such variable"));
    let mut arguments = Names::new();
    for port in &entry.inputs {
        arguments.extend(port_names(port).into_iter().map(|n| (n, "input")));
    }
    for id in &entry.capture_variables {
        arguments.push((variable(*id)?, VARIABLE));
    }
    let mut results = Names::new();
    for port in &entry.outputs {
        results.extend(port_names(port).into_iter().map(|n| (n, "output")));
    }
    for (id, _) in &model.updates {
        results.push((variable(*id)?, VARIABLE));
    }
    Ok((arguments, results))
}

/// Returns the names of a port's tensors: `x`, or `xs:1`, `xs:2` for a pack.
fn port_names(port: &Port) -> Vec<String> {
    match &port.tensors {
        PortTensors::Single(_) | PortTensors::Stack(_) => vec![port.name.clone()],
        PortTensors::Pack(items) => (1..=items.len()).map(|n| format!("{}:{n}", port.name)).collect(),
        PortTensors::Null => Vec::new(),
    }
}
