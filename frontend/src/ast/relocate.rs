// SPDX-License-Identifier: Apache-2.0
//! Moves the spans of a statement, so that its tree serves for the same text at another position.

use super::{
    AccessTarget, Argument, AssertedValue, Assertion, AttributeAssignment, Block, Branching, Carried,
    Component, ComponentValue, Declaration, EditionMarks, Expr, ExprKind, ExtentSpec, Ident, Invocation,
    Item, IterationCount, Loop, LoopBound, Lowering, PackSpec, Path, Quantization, Scan, StringLiteral,
    StringPiece, Subscript, Target, TargetItem, TypeParameter, TypeSpec, Using,
};
use crate::source::{FileId, Span};

/// A new position: the file, and the number of bytes that are added to offsets, modulo 2³².
#[derive(Clone, Copy)]
pub(crate) struct Relocation {
    pub(crate) file: FileId,
    pub(crate) by: u32,
}

/// A tree whose spans can be moved. Its recursion is as deep as the tree, which must be shallow.
pub(crate) trait Relocate {
    fn relocate(&mut self, to: Relocation);
}

impl Relocate for Span {
    fn relocate(&mut self, to: Relocation) {
        *self = Span::new(to.file, self.start.wrapping_add(to.by), self.end.wrapping_add(to.by));
    }
}

impl Relocate for String {
    fn relocate(&mut self, _: Relocation) {}
}

impl<T: Relocate> Relocate for Option<T> {
    fn relocate(&mut self, to: Relocation) {
        self.iter_mut().for_each(|item| item.relocate(to));
    }
}

impl<T: Relocate> Relocate for Vec<T> {
    fn relocate(&mut self, to: Relocation) {
        self.iter_mut().for_each(|item| item.relocate(to));
    }
}

impl<T: Relocate> Relocate for Box<T> {
    fn relocate(&mut self, to: Relocation) {
        (**self).relocate(to);
    }
}

impl<A: Relocate, B: Relocate> Relocate for (A, B) {
    fn relocate(&mut self, to: Relocation) {
        self.0.relocate(to);
        self.1.relocate(to);
    }
}

/// Moves the fields of structures. The fields after `|` have no spans; all fields are named, so that none is forgotten.
macro_rules! structures {
    ($($name:ident { $($field:ident),* $(| $($plain:ident),*)? })*) => {
        $(impl Relocate for $name {
            fn relocate(&mut self, to: Relocation) {
                let $name { $($field,)* $($($plain: _,)*)? } = self;
                $($field.relocate(to);)*
            }
        })*
    };
}

structures! {
    Ident { span | name }
    Path { parts, span }
    TypeParameter { name, bound, default, span }
    Declaration { name, type_spec, default, bounds, span }
    TypeSpec { base, rank, shape, pack, span | optional, dynamic }
    ExtentSpec { extent, bound, pack, span | per_item, is_static }
    PackSpec { length, bound, span | is_static }
    LoopBound { name, bound, span }
    Using { target, value, span }
    Assertion { condition, message, values, span }
    AssertedValue { label, value }
    Quantization { tensor, operator, types, attributes, span }
    AttributeAssignment { name, value, span }
    Expr { kind, span }
    StringLiteral { pieces, span }
    Component { targets, value, span }
    Invocation { label, operator, types, attributes, arguments, span }
    Block { label, components, yields, yield_span, span }
    Branching { arms, otherwise, span }
    Loop { carried, scans, before, count, body, after, span | unroll }
    Carried { name, type_spec, init, span }
    Scan { item, pack, span }
    IterationCount { index, count, span }
    Lowering { unroll, locals, target, op_span, value, bounds, condition, span | op }
    AccessTarget { name, item, subscripts, span | trailing_comma }
    EditionMarks { draft_only, khronos_only, khronos_first }
}

/// Moves the fields of enumerations, all of which are named.
macro_rules! enumerations {
    ($($name:ident { $($pattern:pat => [$($field:ident),*],)* })*) => {
        $(impl Relocate for $name {
            fn relocate(&mut self, to: Relocation) {
                match self {
                    $($pattern => { let _ = to; $($field.relocate(to);)* })*
                }
            }
        })*
    };
}

enumerations! {
    ExprKind {
        ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bool(_) | ExprKind::Error => [],
        ExprKind::Str(text) => [text],
        ExprKind::Name(name) | ExprKind::Default(name) => [name],
        ExprKind::Property { base, property: _ } => [base],
        ExprKind::List(items) => [items],
        ExprKind::Index { base, subscripts, trailing_comma: _ } => [base, subscripts],
        ExprKind::Substitute { base, subscript, value } => [base, subscript, value],
        ExprKind::Unary { op: _, operand } => [operand],
        ExprKind::Binary { op: _, left, right } => [left, right],
        ExprKind::Select { condition, then, otherwise } => [condition, then, otherwise],
        ExprKind::Coalesce { value, fallback } => [value, fallback],
        ExprKind::NullTest(value) => [value],
        ExprKind::Is { left, right } => [left, right],
        ExprKind::In { item, pack } => [item, pack],
        ExprKind::Fold { pack, op: _, cumulative: _ } => [pack],
        ExprKind::Cast { target, value } => [target, value],
        ExprKind::Builtin { name, argument } => [name, argument],
        ExprKind::Guard { index, remap } => [index, remap],
    }
    Item {
        Item::Expr(value) => [value],
        Item::Range { begin, end, stride, span } => [begin, end, stride, span],
        Item::Expand { value, count, span } => [value, count, span],
        Item::Zip { packs, count, span } => [packs, count, span],
    }
    Subscript {
        Subscript::Expr(index) => [index],
        Subscript::Range { begin, end, stride, span } => [begin, end, stride, span],
        Subscript::Expand { value, count, span } => [value, count, span],
        Subscript::Guard { index, remap, expand: _, span } => [index, remap, span],
    }
    StringPiece {
        StringPiece::Text(_) => [],
        StringPiece::Format(value) => [value],
    }
    Target {
        Target::Item(item) => [item],
        Target::List { items, span } => [items, span],
    }
    TargetItem {
        TargetItem::Name { name, type_spec, pack, span } => [name, type_spec, pack, span],
        TargetItem::Zip { names, pack, span } => [names, pack, span],
        TargetItem::Omitted(span) => [span],
    }
    ComponentValue {
        ComponentValue::Invocation(invocation) => [invocation],
        ComponentValue::Expr(expr) => [expr],
        ComponentValue::Block(block) => [block],
        ComponentValue::If(branching) => [branching],
        ComponentValue::Loop(looping) => [looping],
        ComponentValue::Error(span) => [span],
    }
    Argument {
        Argument::Expr(expr) => [expr],
        Argument::Omitted(span) => [span],
    }
}
