// SPDX-License-Identifier: Apache-2.0
//! What a function consists of beside its integer constants.

use crate::ir::llvm::{Division, ElementPointer};
use crate::ir::{self, ValueKey, ops, typed};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{AttributeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::op::is;
use std::collections::HashMap;

/// Where a number of a function is.
#[derive(Clone, Copy)]
pub(super) enum Place<'c, 'a> {
    /// A constant operand.
    Operand(OperationRef<'c, 'a>, usize),
    /// A static index of an address.
    Index(OperationRef<'c, 'a>, usize),
}

/// An integer that other functions of the same structure may have another for.
pub(super) struct Number<'c, 'a> {
    pub(super) place: Place<'c, 'a>,
    pub(super) value: i64,
    pub(super) r#type: Type<'c>,
}

/// A function in the LLVM dialect.
pub(super) struct Shape<'c, 'a> {
    pub(super) function: OperationRef<'c, 'a>,
    /// Equal for functions of one structure.
    pub(super) key: Vec<usize>,
    /// In the order of the key.
    pub(super) numbers: Vec<Number<'c, 'a>>,
    /// The numbers of values and blocks.
    known: HashMap<usize, usize>,
    /// Whether addresses of such elements have no numbers of fields, by the type attribute.
    elements: HashMap<usize, bool>,
}

/// Begins the operations, operands, … of a list.
const MARK: usize = usize::MAX;

/// Stands for the number of a value that is a constant.
const CONSTANT: usize = usize::MAX - 1;

impl<'c: 'a, 'a> Shape<'c, 'a> {
    /// `None` for a function without a body, one that other modules see, and one with regions in its operations.
    pub(super) fn of(function: OperationRef<'c, 'a>) -> Option<Self> {
        let has = |name, value| function.attribute(name).is_ok_and(|a| a.to_string() == value);
        if !has("linkage", INTERNAL) && !has("sym_visibility", PRIVATE) {
            return None;
        }
        ir::first_block(function)?;
        let mut shape = Shape {
            function,
            key: Vec::new(),
            numbers: Vec::new(),
            known: HashMap::new(),
            elements: HashMap::new(),
        };
        shape.attributes(function, &["sym_name"]);
        for block in ir::blocks(function) {
            shape.named(block.to_raw().ptr as usize);
            for argument in ir::arguments(block) {
                shape.value(argument);
            }
            for op in ir::operations(block) {
                if op.region_count() != 0 {
                    return None;
                }
                shape.operation(op);
            }
        }
        Some(shape)
    }

    fn operation(&mut self, op: OperationRef<'c, 'a>) {
        // Constants belong to their users: their order differs where one value has several meanings.
        if is(&op, ops::llvm::MLIR_CONSTANT) {
            return;
        }
        self.key.extend([MARK, op.name().to_raw().ptr as usize]);
        for (position, operand) in op.operands().enumerate() {
            self.operand(op, position, operand);
        }
        self.key.push(MARK);
        op.results().for_each(|result| self.value(result.into()));
        self.key.push(MARK);
        for successor in op.successors() {
            self.named(successor.to_raw().ptr as usize);
        }
        let without: &[&str] = if is(&op, ops::llvm::GETELEMENTPTR) && self.indices(op).is_some() {
            &[ElementPointer::INDICES]
        } else {
            &[]
        };
        self.attributes(op, without);
    }

    fn operand(&mut self, op: OperationRef<'c, 'a>, position: usize, operand: Value<'c, 'a>) {
        let constant = ir::definition(operand).map(|(maker, _)| maker);
        let Some(value) = constant
            .filter(|maker| is(maker, ops::llvm::MLIR_CONSTANT))
            .and_then(|maker| maker.attribute("value").ok())
        else {
            return self.value(operand);
        };
        let r#type = operand.r#type();
        self.key.extend([CONSTANT, r#type.to_raw().ptr as usize]);
        let integer = IntegerType::try_from(r#type);
        let is_wide = integer.is_ok_and(|integer| [32, 64].contains(&integer.width()));
        match IntegerAttribute::try_from(value) {
            Ok(number) if is_wide && !self.stays(op, operand) => self.numbers.push(Number {
                place: Place::Operand(op, position),
                value: number.value(),
                r#type,
            }),
            _ => self.key.push(value.to_raw().ptr as usize),
        }
    }

    /// Whether code for a variable operand would be slower, or of another kind.
    fn stays(&self, user: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> bool {
        let is_divisor =
            Division::cast(user).is_some_and(|own| own.divisor().is_ok_and(|divisor| divisor == value));
        // What the first block divides, it divides once.
        let is_repeated = user.block() != ir::first_block(self.function);
        is_divisor && is_repeated || KEEP_CONSTANTS.iter().any(|name| is(&user, name))
    }

    /// A value by its number and its type.
    fn value(&mut self, value: Value<'c, 'a>) {
        self.named(ValueKey::of(value).number());
        self.key.push(value.r#type().to_raw().ptr as usize);
    }

    /// What MLIR has at an address, by its number in the function.
    fn named(&mut self, address: usize) {
        let next = self.known.len();
        self.key.push(*self.known.entry(address).or_insert(next));
    }

    fn attributes(&mut self, op: OperationRef<'c, 'a>, without: &[&str]) {
        self.key.push(MARK);
        for (name, value) in op.attributes() {
            let text = name.as_string_ref();
            let is_left_out = || text.as_str().is_ok_and(|name| without.contains(&name));
            if without.is_empty() || !is_left_out() {
                let attribute = value.to_raw().ptr as usize;
                self.key.extend([name.to_raw().ptr as usize, attribute]);
            }
        }
    }

    /// Adds the indices of an address, if none of them is the number of a field.
    fn indices(&mut self, op: OperationRef<'c, 'a>) -> Option<()> {
        let element = op.attribute("elem_type").ok()?;
        let number = element.to_raw().ptr as usize;
        let is_scalar =
            *(self.elements.entry(number)).or_insert_with(|| !element.to_string().starts_with("!llvm."));
        if !is_scalar {
            return None;
        }
        let i64 = Type::from(IntegerType::new(ir::context::of(op), 64));
        for (position, index) in typed::i32s(op, ElementPointer::INDICES).into_iter().enumerate() {
            let is_static = index != ElementPointer::DYNAMIC;
            self.key.push(usize::from(is_static));
            if is_static {
                self.numbers.push(Number {
                    place: Place::Index(op, position),
                    value: i64::from(index),
                    r#type: i64,
                });
            }
        }
        Some(())
    }
}

/// The linkage of functions that no other module sees.
const INTERNAL: &str = "#llvm.linkage<internal>";

/// The visibility of functions that get this linkage.
const PRIVATE: &str = "\"private\"";

/// Operations whose integer operands stay constants.
const KEEP_CONSTANTS: &[&str] = &[ops::llvm::ALLOCA, ops::llvm::EXTRACTELEMENT, ops::llvm::INSERTELEMENT];
