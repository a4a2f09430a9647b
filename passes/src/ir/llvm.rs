// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `llvm`.

use super::counts::segment;
use super::typed::{self, typed};
use super::{Builder, attributes, mutation, ops};
use melior::Context;
use melior::dialect::llvm;
use melior::ir::attribute::{IntegerAttribute, TypeAttribute};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Attribute, Location, Operation, OperationRef, Region, Type, TypeLike, Value};

typed! {
    /// `llvm.load`.
    Load = ops::llvm::LOAD { address = 0 };
    /// `llvm.store`.
    Store = ops::llvm::STORE { value = 0, address = 1 };
    /// `llvm.getelementptr`.
    ElementPointer = ops::llvm::GETELEMENTPTR { base = 0 };
    /// `llvm.cond_br`.
    ConditionalBranch = ops::llvm::COND_BR { condition = 0 };
    /// An integer division or remainder.
    Division = ops::llvm::SDIV | ops::llvm::UDIV | ops::llvm::SREM | ops::llvm::UREM {
        dividend = 0,
        divisor = 1
    };
}

impl<'c: 'a, 'a> ElementPointer<'c, 'a> {
    /// The attribute with the constant indices, and [`ElementPointer::DYNAMIC`] for indices that are operands.
    pub(crate) const INDICES: &'static str = "rawConstantIndices";

    /// The placeholder of an index that is an operand.
    pub(crate) const DYNAMIC: i32 = i32::MIN;

    /// Replaces the constant indices at these positions by values.
    pub(crate) fn set_indices(self, context: &'c Context, values: &[(usize, Value<'c, 'a>)]) {
        let op = self.op();
        let present: Vec<Value> = op.operands().collect();
        let mut present = present.into_iter();
        let mut operands: Vec<Value> = present.by_ref().take(1).collect();
        let mut indices = typed::i32s(op, Self::INDICES);
        for (position, index) in indices.iter_mut().enumerate() {
            let new = values.iter().find(|(replaced, _)| *replaced == position);
            match (*index == Self::DYNAMIC, new) {
                (true, _) => operands.extend(present.next()),
                (false, Some((_, value))) => {
                    operands.push(*value);
                    *index = Self::DYNAMIC;
                }
                (false, None) => {}
            }
        }
        mutation::set_operands(op, &operands);
        mutation::set(op, Self::INDICES, attributes::i32s(context, &indices));
    }
}

/// Whether a function has this LLVM attribute, which has no value.
pub(crate) fn has_function_attribute(function: OperationRef, name: &str) -> bool {
    typed::array(function, "passthrough")
        .into_iter()
        .any(|attribute| attributes::text(attribute).as_deref() == Some(name))
}

/// An integer constant.
pub(crate) fn constant<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    value: i64,
    r#type: Type<'c>,
) -> Result<Value<'c, 'a>, melior::Error> {
    let value = IntegerAttribute::new(r#type, value).into();
    at.value(ops::llvm::MLIR_CONSTANT, &[], &[("value", value)], r#type)
}

/// The declaration of a function without results.
pub(crate) fn declaration<'c>(
    context: &'c Context,
    location: Location<'c>,
    name: &str,
    arguments: &[Type<'c>],
    entries: &[(&str, Attribute<'c>)],
) -> Operation<'c> {
    let r#type = llvm::r#type::function(llvm::r#type::void(context), arguments, false);
    let signature = [
        ("sym_name", attributes::string(context, name)),
        ("function_type", TypeAttribute::new(r#type).into()),
    ];
    OperationBuilder::new(ops::llvm::FUNC, location)
        .add_attributes(&attributes::named(context, &[&signature, entries].concat()))
        .add_regions([Region::new()])
        .build()
        .unwrap_or_else(|error| unreachable!("internal compiler error: {name}: {error}"))
}

/// Calls an LLVM intrinsic with at most one result.
pub(crate) fn call_intrinsic<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    name: &str,
    operands: &[Value<'c, 'a>],
    results: &[Type<'c>],
) -> Result<OperationRef<'c, 'a>, melior::Error> {
    let attributes = [
        ("intrin", attributes::string(at.context, name)),
        at.segments(&[segment(operands.len()), 0]),
        ("op_bundle_sizes", attributes::i32s(at.context, &[])),
    ];
    at.create(ops::llvm::CALL_INTRINSIC, operands, &attributes, results, Vec::new())
}

/// The LLVM operation for an operation of `arith` or `math`. The predicates of comparisons have the same numbers.
pub(crate) fn of_arith(name: &str) -> Option<&'static str> {
    Some(match name {
        ops::arith::ADDF => ops::llvm::FADD,
        ops::arith::ADDI => ops::llvm::ADD,
        ops::arith::ANDI => ops::llvm::AND,
        ops::arith::BITCAST => ops::llvm::BITCAST,
        ops::arith::CMPF => ops::llvm::FCMP,
        ops::arith::CMPI => ops::llvm::ICMP,
        ops::arith::EXTF => ops::llvm::FPEXT,
        ops::arith::EXTUI => ops::llvm::ZEXT,
        ops::arith::ORI => ops::llvm::OR,
        ops::arith::SELECT => ops::llvm::SELECT,
        ops::arith::SHLI => ops::llvm::SHL,
        ops::arith::SHRUI => ops::llvm::LSHR,
        ops::arith::SUBF => ops::llvm::FSUB,
        ops::arith::SUBI => ops::llvm::SUB,
        ops::arith::TRUNCF => ops::llvm::FPTRUNC,
        ops::arith::TRUNCI => ops::llvm::TRUNC,
        ops::math::ABSF => ops::llvm::INTR_FABS,
        _ => return None,
    })
}

/// The function type with additional arguments before the others.
pub(crate) fn with_arguments<'c>(r#type: Type<'c>, arguments: &[Type<'c>]) -> Type<'c> {
    let raw = r#type.to_raw();
    // SAFETY: callers pass the type of an `llvm.func`; positions are below the number of inputs.
    let (inputs, result): (Vec<Type>, Type) = unsafe {
        let count = mlir_sys::mlirLLVMFunctionTypeGetNumInputs(raw);
        let inputs = (0..count).map(|n| Type::from_raw(mlir_sys::mlirLLVMFunctionTypeGetInput(raw, n)));
        (inputs.collect(), Type::from_raw(mlir_sys::mlirLLVMFunctionTypeGetReturnType(raw)))
    };
    llvm::r#type::function(result, &[arguments, &inputs].concat(), false)
}
