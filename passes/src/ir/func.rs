// SPDX-License-Identifier: Apache-2.0
//! Functions and calls: the operations of the dialect `func`, the entry of a module, signatures, arguments.

use super::builder::Builder;
use super::copy::{arguments, operation_name as name};
use super::mutation::set as set_attribute;
use super::typed;
use super::uses::erase;
use super::walk::{children, first_block, nested};
use super::{attribute_names, attributes, context, ops};
use crate::error::CodegenError;
use melior::dialect::llvm;
use melior::ir::attribute::{ArrayAttribute, FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::r#type::FunctionType;
use melior::ir::{
    Attribute, Block, BlockRef, Location, Operation, OperationRef, Region, RegionLike, Type, Value, ValueLike,
};
use melior::{Context, Error};
use skript_dialect::op;
use std::collections::{HashMap, HashSet};

/// On a function: a dictionary for each argument.
const ARGUMENTS: &str = "arg_attrs";

/// The symbol that an operation defines.
pub fn symbol(op: OperationRef) -> Option<String> {
    typed::string(op, "sym_name")
}

/// The symbol of the function that a `func.call` or a `skript.invoke` calls.
pub fn callee(call: OperationRef) -> Option<String> {
    typed::symbol(call, "callee")
}

/// The attribute of the function that a `func.call` or a `skript.invoke` calls.
///
/// # Errors
/// The call has no attribute `callee`.
pub fn callee_attribute<'c>(call: OperationRef<'c, '_>) -> Result<Attribute<'c>, Error> {
    call.attribute("callee")
}

/// Whether a function is private to its module.
pub fn is_private(function: OperationRef) -> bool {
    typed::string(function, "sym_visibility").as_deref() == Some("private")
}

/// Inserts a call of a function without results before an operation.
pub(crate) fn call_before<'c: 'a, 'a>(
    anchor: OperationRef<'c, 'a>,
    function: &str,
    arguments: &[Value<'c, 'a>],
    location: Location<'c>,
) -> Result<(), Error> {
    let context = context::of(anchor);
    let callee = FlatSymbolRefAttribute::new(context, function).into();
    let at = Builder::before(context, anchor)?.with_location(location);
    at.create(ops::func::CALL, arguments, &[("callee", callee)], &[], Vec::new())?;
    Ok(())
}

/// Declares a C function, unless the module has a symbol of this name.
pub(crate) fn declare<'c: 'a, 'a>(
    module: OperationRef<'c, 'a>,
    name: &str,
    operands: &[Type<'c>],
    results: &[Type<'c>],
) -> Result<(), Error> {
    if symbols(module).contains(name) {
        return Ok(());
    }
    let context = context::of(module);
    let body = first_block(module).ok_or(Error::OperationBuild)?;
    let r#type = FunctionType::new(context, operands, results);
    let entries = [
        ("sym_name", attributes::string(context, name)),
        ("sym_visibility", attributes::string(context, "private")),
        ("function_type", TypeAttribute::new(r#type.into()).into()),
    ];
    let at = Builder::at_end(context, body, module.location());
    at.create(ops::func::FUNC, &[], &entries, &[], vec![Region::new()])?;
    Ok(())
}

/// A function under construction.
pub(crate) struct Definition<'c, 'a> {
    region: Region<'c>,
    /// The end of the entry block.
    pub(crate) at: Builder<'c, 'a>,
    pub(crate) arguments: Vec<Value<'c, 'a>>,
    attributes: Vec<Attribute<'c>>,
}

impl<'c: 'a, 'a> Definition<'c, 'a> {
    /// Starts a function with these arguments, each with the names of its unit attributes.
    pub(crate) fn new(
        context: &'c Context,
        location: Location<'c>,
        arguments: &[(Type<'c>, &[&str])],
    ) -> Definition<'c, 'a> {
        let types: Vec<_> = arguments.iter().map(|(r#type, _)| (*r#type, location)).collect();
        let region = Region::new();
        let block: BlockRef<'c, 'a> = region.append_block(Block::new(&types));
        Definition {
            region,
            at: Builder::at_end(context, block, location),
            arguments: super::arguments(block),
            attributes: arguments.iter().map(|(_, names)| attributes::units(context, names)).collect(),
        }
    }

    /// Appends a block, and returns a builder at its end.
    pub(crate) fn block(&self) -> Builder<'c, 'a> {
        let block: BlockRef<'c, 'a> = self.region.append_block(Block::new(&[]));
        Builder::at_end(self.at.context, block, self.at.location)
    }

    /// Ends the function with `func.return`, and returns it as a private `func.func`.
    pub(crate) fn finish(
        self,
        name: &str,
        results: &[Value<'c, 'a>],
        entries: &[(&str, Attribute<'c>)],
    ) -> Operation<'c> {
        let context = self.at.context;
        self.at.op(ops::func::RETURN, results, &[], &[], Vec::new());
        let types: Vec<Type> = results.iter().map(|result| result.r#type()).collect();
        let r#type = FunctionType::new(context, &self.types(), &types);
        let local = [
            ("sym_visibility", attributes::string(context, "private")),
            ("llvm.linkage", attributes::internal(context)),
        ];
        self.complete(ops::func::FUNC, name, r#type.into(), &[&local, entries].concat())
    }

    /// Ends the function with `llvm.return`, and returns it as an `llvm.func`.
    pub(crate) fn finish_llvm(
        self,
        name: &str,
        result: Option<Value<'c, 'a>>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> Operation<'c> {
        let results: Vec<Value> = result.into_iter().collect();
        self.at.op(ops::llvm::RETURN, &results, &[], &[], Vec::new());
        self.complete_llvm(name, results.first().map(|result| result.r#type()), attributes)
    }

    /// Returns an `llvm.func` whose blocks already have terminators.
    pub(crate) fn complete_llvm(
        self,
        name: &str,
        result: Option<Type<'c>>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> Operation<'c> {
        let result = result.unwrap_or_else(|| llvm::r#type::void(self.at.context));
        let r#type = llvm::r#type::function(result, &self.types(), false);
        self.complete(ops::llvm::FUNC, name, r#type, attributes)
    }

    fn types(&self) -> Vec<Type<'c>> {
        self.arguments.iter().map(|argument| argument.r#type()).collect()
    }

    fn complete(
        self,
        operation: &str,
        name: &str,
        r#type: Type<'c>,
        entries: &[(&str, Attribute<'c>)],
    ) -> Operation<'c> {
        let context = self.at.context;
        let signature = [
            ("sym_name", attributes::string(context, name)),
            ("function_type", TypeAttribute::new(r#type).into()),
            (ARGUMENTS, ArrayAttribute::new(context, &self.attributes).into()),
        ];
        OperationBuilder::new(operation, self.at.location)
            .add_attributes(&attributes::named(context, &[&signature, entries].concat()))
            .add_regions([self.region])
            .build()
            .unwrap_or_else(|error| unreachable!("internal compiler error: {name}: {error}"))
    }
}

/// Appends a private function that LLVM always inlines. `body` emits its operations, and returns its result.
pub(crate) fn define_inline<'c: 'a, 'a>(
    module: OperationRef<'c, 'a>,
    name: &str,
    arguments: &[Type<'c>],
    result: Type<'c>,
    body: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, Error>,
) -> Result<(), Error> {
    let context = context::of(module);
    let block = first_block(module).ok_or(Error::OperationBuild)?;
    let at = Builder::at_end(context, block, module.location());
    let (region, inside, values) = at.region(arguments);
    let value = body(&inside, &values)?;
    inside.create(ops::func::RETURN, &[value], &[], &[], Vec::new())?;
    let entries = [
        ("sym_name", attributes::string(context, name)),
        ("sym_visibility", attributes::string(context, "private")),
        ("function_type", TypeAttribute::new(FunctionType::new(context, arguments, &[result]).into()).into()),
        ("llvm.linkage", attributes::internal(context)),
        ("passthrough", attributes::strings(context, &["alwaysinline"])),
    ];
    at.create(ops::func::FUNC, &[], &entries, &[], vec![region])?;
    Ok(())
}

/// The builtin function type of a function, in any dialect.
///
/// # Errors
/// The operation has no attribute `function_type`.
pub fn function_type<'c>(function: OperationRef<'c, '_>) -> Result<FunctionType<'c>, Error> {
    let r#type = TypeAttribute::try_from(function.attribute("function_type")?)?;
    FunctionType::try_from(r#type.value())
}

/// All `func.func` below an operation, by name.
pub(crate) fn functions<'c, 'a>(root: OperationRef<'c, 'a>) -> HashMap<String, OperationRef<'c, 'a>> {
    skript_dialect::op::collect(&root, |op| skript_dialect::op::is(&op, ops::func::FUNC))
        .into_iter()
        .filter_map(|function| Some((symbol(function)?, function)))
        .collect()
}

/// The names of the symbols of a module.
pub(crate) fn symbols(module: OperationRef) -> HashSet<String> {
    children(module).into_iter().filter_map(symbol).collect()
}

/// Appends functions to a module, except declarations of functions that it already has.
///
/// # Errors
/// [`CodegenError::Module`] if the module has a function with the name of a definition.
pub(crate) fn append<'c>(
    module: OperationRef<'c, '_>,
    functions: impl IntoIterator<Item = Operation<'c>>,
) -> Result<(), CodegenError> {
    let block = first_block(module).ok_or_else(|| CodegenError::Module("not a module".to_owned()))?;
    let present = symbols(module);
    for function in functions {
        let name = function.attribute("sym_name").map_or_else(|_| String::new(), |name| name.to_string());
        if !present.contains(name.trim_matches('"')) {
            block.append_operation(function);
        } else if function.region(0).is_ok_and(|body| body.first_block().is_some()) {
            return Err(CodegenError::Module(format!("the module has a function named {name} already")));
        }
    }
    Ok(())
}

/// The function with the attribute `skript.entry`, or the only public function with a body.
///
/// # Errors
/// [`CodegenError::Module`] if the module has no such function.
pub fn entry<'c, 'a>(module: OperationRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let functions: Vec<_> = children(module)
        .into_iter()
        .filter(|op| name(*op) == ops::func::FUNC)
        .filter(|op| op.regions().any(|r| r.first_block().is_some()))
        .collect();
    let marked = functions.iter().find(|op| op.has_attribute(attribute_names::ENTRY));
    if let Some(op) = marked {
        return Ok(*op);
    }
    let public: Vec<_> = functions.into_iter().filter(|op| !op.has_attribute("sym_visibility")).collect();
    match public.as_slice() {
        [op] => Ok(*op),
        _ => Err(CodegenError::Module(format!(
            "the module has {} public functions and none is marked `skript.entry`",
            public.len()
        ))),
    }
}

/// The entry of a module, for passes that change its arguments. It must not have calls, which would also have to change.
pub(crate) fn uncalled_entry<'c, 'a>(
    module: OperationRef<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let entry = entry(module)?;
    let symbol = symbol(entry);
    let calls = |op: &&OperationRef| symbol.is_some() && callee(**op) == symbol;
    match nested(module).iter().find(calls) {
        Some(call) => Err(CodegenError::Module(format!(
            "the entry is called by a '{}' of the module, and cannot get other arguments",
            name(*call)
        ))),
        None => Ok(entry),
    }
}

/// The body of a function with one block.
///
/// # Errors
/// [`CodegenError::Module`] if the function has no body.
pub fn body<'c, 'a>(function: OperationRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, CodegenError> {
    match first_block(function) {
        Some(block) if block.next_in_region().is_none() => Ok(block),
        _ => Err(CodegenError::Module("the entry is not one block".to_owned())),
    }
}

/// The attribute dictionary of each argument of a function; empty if no argument has attributes.
pub(crate) fn argument_attributes<'c>(function: OperationRef<'c, '_>) -> Vec<Attribute<'c>> {
    typed::array(function, ARGUMENTS)
}

/// Shifts the argument attributes of a function or a call by `count` new first arguments without attributes.
pub(crate) fn shift_attributes(op: OperationRef, count: usize) {
    let present = argument_attributes(op);
    if present.is_empty() {
        return;
    }
    let none = attributes::units(context::of(op), &[]);
    let all = [vec![none; count], present].concat();
    set_attribute(op, ARGUMENTS, ArrayAttribute::new(context::of(op), &all).into());
}

/// Appends an argument with the attributes `dictionary` to a function.
pub(crate) fn append_argument<'c, 'a>(
    function: OperationRef<'c, 'a>,
    r#type: Type<'c>,
    dictionary: Attribute<'c>,
) -> Result<Value<'c, 'a>, CodegenError> {
    let block = first_block(function).ok_or_else(no_body)?;
    let argument = block.add_argument(r#type, function.location());
    let mut dictionaries = argument_attributes(function);
    let context = context::of(function);
    dictionaries.resize(block.argument_count() - 1, attributes::units(context, &[]));
    dictionaries.push(dictionary);
    set_type(function, block, None)?;
    set_attribute(function, ARGUMENTS, ArrayAttribute::new(context, &dictionaries).into());
    Ok(argument)
}

/// Sets the type of the function from its block arguments, with `results` or with the current results.
pub(crate) fn set_signature<'c>(
    function: OperationRef<'c, '_>,
    results: Option<&[Type<'c>]>,
) -> Result<(), CodegenError> {
    set_type(function, body(function)?, results)
}

/// Like [`set_signature`], for functions with several blocks.
///
/// # Errors
/// [`CodegenError`] if the function has no body or no type.
pub fn retype<'c>(function: OperationRef<'c, '_>, results: &[Type<'c>]) -> Result<(), CodegenError> {
    set_type(function, first_block(function).ok_or_else(no_body)?, Some(results))
}

fn no_body() -> CodegenError {
    CodegenError::Module("the entry has no body".to_owned())
}

fn set_type<'c>(
    function: OperationRef<'c, '_>,
    block: BlockRef<'c, '_>,
    results: Option<&[Type<'c>]>,
) -> Result<(), CodegenError> {
    let inputs: Vec<Type> = arguments(block).iter().map(|argument| argument.r#type()).collect();
    let results = match results {
        Some(results) => results.to_vec(),
        None => signature(function)?.1,
    };
    let r#type = FunctionType::new(context::of(function), &inputs, &results);
    set_attribute(function, "function_type", TypeAttribute::new(r#type.into()).into());
    Ok(())
}

/// The types of the arguments and results of a function.
///
/// # Errors
/// [`CodegenError`] if the operation is not a function.
pub fn signature<'c>(function: OperationRef<'c, '_>) -> Result<(Vec<Type<'c>>, Vec<Type<'c>>), CodegenError> {
    let r#type = function_type(function)?;
    let inputs = (0..r#type.input_count()).map(|n| r#type.input(n));
    let results = (0..r#type.result_count()).map(|n| r#type.result(n));
    Ok((inputs.collect::<Result<_, _>>()?, results.collect::<Result<_, _>>()?))
}
/// Functions of which no two are equal except for their names and locations.
pub(crate) struct Distinct<F>(HashMap<usize, Vec<F>>);

impl<F> Default for Distinct<F> {
    fn default() -> Self {
        Distinct(HashMap::new())
    }
}

impl<F: Clone> Distinct<F> {
    /// The first function that is equal to `function` by `is_equal`; otherwise adds `function` as `new` and returns `None`.
    pub(crate) fn find_or_add<'c: 'a, 'a>(
        &mut self,
        function: &impl OperationLike<'c, 'a>,
        new: F,
        is_equal: impl Fn(&F) -> bool,
    ) -> Option<F> {
        let candidates = self.0.entry(op::fingerprint(function)).or_default();
        let known = candidates.iter().find(|known| is_equal(known)).cloned();
        if known.is_none() {
            candidates.push(new);
        }
        known
    }
}

impl<'c: 'a, 'a> Distinct<OperationRef<'c, 'a>> {
    /// Erases `function` if an equal one is known, and returns the name of that one; otherwise returns `name`.
    pub(crate) fn merged(&mut self, function: OperationRef<'c, 'a>, name: String) -> String {
        let is_equal = |known: &OperationRef<'c, 'a>| op::are_equal_functions(known, &function);
        match self.find_or_add(&function, function, is_equal) {
            Some(known) => {
                erase(function);
                typed::verified_string(known, "sym_name")
            }
            None => name,
        }
    }
}
