// SPDX-License-Identifier: Apache-2.0
//! The structure of a function without its integer constants.

use crate::ir::llvm::{Division, ElementPointer};
use crate::ir::{self, ValueKey, ops, typed, types};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{AttributeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::op::is;
use std::collections::HashMap;

/// The position of a constant in a function.
#[derive(Clone, Copy)]
pub(super) enum Place<'c, 'a> {
    /// A constant operand.
    Operand(OperationRef<'c, 'a>, usize),
    /// A static index of an address.
    Index(OperationRef<'c, 'a>, usize),
}

/// An integer constant, which may differ between functions of the same structure.
pub(super) struct Number<'c, 'a> {
    pub(super) place: Place<'c, 'a>,
    pub(super) value: i64,
    pub(super) r#type: Type<'c>,
}

/// A function in the LLVM dialect.
pub(super) struct Shape<'c, 'a> {
    pub(super) function: OperationRef<'c, 'a>,
    /// The structure: equal for functions that differ only in their constants.
    pub(super) key: Vec<usize>,
    /// The constants, in the order of the key.
    pub(super) numbers: Vec<Number<'c, 'a>>,
    /// The numbers of values and blocks, by address.
    known: HashMap<usize, usize>,
    /// Whether the element type of a pointer computation is a scalar, by the type attribute.
    elements: HashMap<usize, bool>,
}

/// The separator of operations, operands, results, … in the key.
const MARK: usize = usize::MAX;

/// The placeholder of a constant operand.
const CONSTANT: usize = usize::MAX - 1;

impl<'c: 'a, 'a> Shape<'c, 'a> {
    /// `None` for functions without a body, functions that are visible to other modules, and operations with regions.
    pub(super) fn read(function: OperationRef<'c, 'a>) -> Option<Self> {
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
        // Constants are added with their users: if some constants of a function are equal, it defines fewer constants, in
        // another order.
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
        let constant = ir::defined_by(operand, ops::llvm::MLIR_CONSTANT);
        let Some(value) = constant.and_then(|constant| constant.attribute("value").ok()) else {
            return self.value(operand);
        };
        let r#type = operand.r#type();
        self.key.extend([CONSTANT, r#type.to_raw().ptr as usize]);
        let integer = IntegerType::try_from(r#type);
        let is_wide = integer.is_ok_and(|integer| [32, 64].contains(&integer.width()));
        match IntegerAttribute::try_from(value) {
            Ok(number) if is_wide && !self.must_be_constant(op, operand) => self.numbers.push(Number {
                place: Place::Operand(op, position),
                value: number.value(),
                r#type,
            }),
            _ => self.key.push(value.to_raw().ptr as usize),
        }
    }

    /// Whether an operand must remain a constant, because code for a variable would be slower or invalid.
    fn must_be_constant(&self, user: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> bool {
        let is_divisor = Division::cast(user).is_some_and(|division| division.divisor() == Ok(value));
        // The first block is executed only once.
        let is_repeated = user.block() != ir::first_block(self.function);
        is_divisor && is_repeated || CONSTANT_OPERANDS.iter().any(|name| is(&user, name))
    }

    /// Adds a value by its number and its type.
    fn value(&mut self, value: Value<'c, 'a>) {
        self.named(ValueKey::of(value).number());
        self.key.push(value.r#type().to_raw().ptr as usize);
    }

    /// Adds the value or block at an address by its number in the function.
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

    /// Adds the indices of a pointer computation; `None` if one of them may be a struct field.
    fn indices(&mut self, op: OperationRef<'c, 'a>) -> Option<()> {
        let element = op.attribute("elem_type").ok()?;
        let number = element.to_raw().ptr as usize;
        let is_scalar =
            *(self.elements.entry(number)).or_insert_with(|| !element.to_string().starts_with("!llvm."));
        if !is_scalar {
            return None;
        }
        let word = types::word(ir::context::of(op));
        for (position, index) in typed::i32s(op, ElementPointer::INDICES).into_iter().enumerate() {
            let is_static = index != ElementPointer::DYNAMIC;
            self.key.push(usize::from(is_static));
            if is_static {
                self.numbers.push(Number {
                    place: Place::Index(op, position),
                    value: i64::from(index),
                    r#type: word,
                });
            }
        }
        Some(())
    }
}

/// The linkage of functions that are local to their module.
const INTERNAL: &str = "#llvm.linkage<internal>";

/// The visibility of functions whose linkage becomes internal later.
const PRIVATE: &str = "\"private\"";

/// Operations whose integer operands must be constants.
const CONSTANT_OPERANDS: &[&str] = &[ops::llvm::ALLOCA, ops::llvm::EXTRACTELEMENT, ops::llvm::INSERTELEMENT];
