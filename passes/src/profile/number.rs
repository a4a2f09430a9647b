// SPDX-License-Identifier: Apache-2.0
//! `skript-number-steps`: numbers the marks of `skript-mark-steps`, and lists the steps in an attribute of the module.
//!
//! Between a mark and the next mark are the operations that replace the marked operation. Without such operations, a later kernel
//! may compute it, which its location shows. Then the steps are merged. Otherwise, the operation was prepared, and has no step.

use super::mark::call_with;
use super::work;
use super::{OPERATORS, Role, TABLE, UNCOUNTED, WEIGHT, is_choice, is_mark, lists, read_lists};
use crate::ir::attribute_names::PLAN;
use crate::ir::effects::Effects;
use crate::ir::func::{self, callee};
use crate::ir::linalg::Generic;
use crate::ir::outline::captured;
use crate::ir::skript::Intrinsic;
use crate::ir::{self, Builder, attributes, context, location, ops, typed, types};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, BlockRef, Identifier, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::HashMap;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-number-steps",
    summary: "number the steps of the entry, and list them in an attribute of the module",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::MemRef],
    run: |root, _, rewriter| {
        if root.has_attribute(TABLE) {
            return Ok(());
        }
        let entry = ir::entry(root)?;
        let functions = func::functions(root);
        let mut numbering =
            Numbering { effects: Effects::new(functions.clone()), functions, rows: Vec::new() };
        let mut pending = ir::blocks(entry);
        pending.reverse();
        while let Some(block) = pending.pop() {
            let operations = ir::operations(block);
            let mut inner: Vec<BlockRef> = operations.into_iter().flat_map(ir::blocks).collect();
            numbering.number_block(block)?;
            inner.reverse();
            pending.extend(inner);
        }
        // Preparation is not part of a call, and has no step.
        for op in ir::nested(root) {
            if is_mark(op) && op.has_attribute(OPERATORS) {
                ir::erase(op);
            }
        }
        let rows = ArrayAttribute::new(rewriter.context(), &numbering.rows);
        ir::set_attribute(root, TABLE, rows.into());
        Ok(())
    },
    ..Pass::NONE
};

/// The steps that are numbered.
struct Numbering<'c, 'a> {
    functions: HashMap<String, OperationRef<'c, 'a>>,
    effects: Effects<'c, 'a>,
    rows: Vec<Attribute<'c>>,
}

/// A mark and the operations after it.
struct Segment<'c, 'a> {
    /// The mark, and the marks of other operations that the step computes.
    marks: Vec<OperationRef<'c, 'a>>,
    work: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Numbering<'c, 'a> {
    fn number_block(&mut self, block: BlockRef<'c, 'a>) -> Result<(), PassError> {
        let mut segments: Vec<Segment> = Vec::new();
        for op in ir::operations(block) {
            if is_mark(op) {
                segments.push(Segment { marks: vec![op], work: Vec::new() });
            } else if Role::from_op(op) == Role::Step
                && let Some(segment) = segments.last_mut()
            {
                segment.work.push(op);
            }
        }
        segments.retain(|s| s.marks.iter().all(|mark| mark.has_attribute(OPERATORS)));
        let mut numbered: Vec<Segment> = Vec::new();
        let mut empty: Vec<OperationRef> = Vec::new();
        for mut segment in segments {
            if segment.work.is_empty() {
                empty.append(&mut segment.marks);
                continue;
            }
            let computed = segment.work.iter().flat_map(|op| location::parts(op.location()));
            let computed: Vec<_> = computed.collect();
            empty.retain(|mark| {
                let mut parts = location::parts(mark.location()).into_iter();
                let is_part = parts.any(|part| computed.contains(&part));
                if is_part {
                    segment.marks.push(*mark);
                }
                !is_part
            });
            numbered.push(segment);
        }
        empty.into_iter().for_each(ir::erase);
        for segment in numbered {
            self.number(&segment)?;
            segment.marks.into_iter().for_each(ir::erase);
        }
        Ok(())
    }

    /// Inserts the numbered mark of a step before its first operation, and adds its row.
    fn number(&mut self, segment: &Segment<'c, 'a>) -> Result<(), PassError> {
        let Some(first) = segment.work.first().copied() else {
            return Ok(());
        };
        let context = context::of(first);
        let at = Builder::before(context, first)?;
        let mut flops = at.idx(0);
        for mark in &segment.marks {
            flops = at.addi(flops, mark.operand(1)?);
        }
        let is_array = |value: &Value<'c, 'a>| value.r#type().is_mem_ref();
        let arrays = segment.work.iter().flat_map(|op| captured(*op));
        let arrays: Vec<Value> = arrays.filter(is_array).map(|a| before(a, first)).collect();
        let bytes = work::bytes_of(&arrays).value(&at)?;
        let number = at.idx(i64::try_from(self.rows.len() + 1).unwrap_or(i64::MAX));
        call_with(&at, [number, flops, bytes])?;
        let row = self.row(segment, context);
        self.rows.push(row);
        Ok(())
    }

    /// The row of the table.
    fn row(&mut self, segment: &Segment<'c, 'a>, context: &'c Context) -> Attribute<'c> {
        let weight = |mark: &&OperationRef| typed::integer(**mark, WEIGHT).unwrap_or(0);
        let mut marks: Vec<&OperationRef> = segment.marks.iter().collect();
        // Merged operations precede the remaining operation.
        marks.rotate_left(1);
        let maximum = marks.iter().map(&weight).max().unwrap_or(0);
        if let Some(main) = marks.iter().position(|mark| weight(mark) == maximum) {
            let main = marks.remove(main);
            marks.insert(0, main);
        }
        let mut operators: Vec<Vec<String>> = Vec::new();
        for mark in &marks {
            let lists = mark.attribute(OPERATORS).map(read_lists);
            for calls in lists.unwrap_or_default() {
                // A fill may initialize the sums of several calls of an operator. It is not listed for any of them.
                let is_known = match weight(mark) {
                    0 => operators.iter().any(|known| names(known) == names(&calls)),
                    _ => operators.contains(&calls),
                };
                if !is_known {
                    operators.push(calls);
                }
            }
        }
        let mut kernels: Vec<String> = Vec::new();
        for op in &segment.work {
            let name = kernel(*op);
            if !kernels.contains(&name) {
                kernels.push(name);
            }
        }
        let written = segment.work.last().map(|op| self.effects.written(*op)).unwrap_or_default();
        let mut layouts = vec![match written.last() {
            Some(array) => layout(array.r#type()),
            None => String::new(),
        }];
        layouts.extend(segment.work.iter().filter_map(|op| location::remark(op.location())));
        let entry = |name: &str, value| (Identifier::new(context, name), value);
        let text = |text: &str| attributes::string(context, text);
        let mut entries = vec![
            entry("operators", lists(context, &operators)),
            entry("kernel", text(&kernels.join(", "))),
            entry("layout", text(&layouts.join(", "))),
        ];
        if !marks.iter().any(|mark| mark.has_attribute(UNCOUNTED)) {
            entries.push(entry("counted", attributes::unit(context)));
        }
        entries.extend(self.plan(segment).map(|plan| entry("plan", plan)));
        DictionaryAttribute::new(context, &entries).into()
    }

    /// The plan of the first kernel with a selected plan.
    fn plan(&self, segment: &Segment<'c, 'a>) -> Option<Attribute<'c>> {
        let all = segment.work.iter().flat_map(|op| ir::nested(*op).into_iter().chain([*op]));
        let mut functions = all.filter_map(|op| self.functions.get(&callee(op)?));
        functions.find_map(|function| function.attribute(PLAN).ok())
    }
}

/// The array that is available before an operation, if later operations define views of it.
fn before<'c: 'a, 'a>(mut array: Value<'c, 'a>, first: OperationRef<'c, 'a>) -> Value<'c, 'a> {
    while let Some((view, _)) = ir::definition(array)
        && (ir::name(view) == ops::memref::REINTERPRET_CAST
            || view.block() == first.block() && !ir::is_before(view, first))
        && let Ok(viewed) = view.operand(0)
        && viewed.r#type().is_mem_ref()
    {
        array = viewed;
    }
    array
}

/// The names of calls, without their locations.
fn names(calls: &[String]) -> Vec<&str> {
    let name = |call: &'_ String| call.rfind(": ").map_or(0, |at| at + 2);
    calls.iter().filter_map(|call| call.get(name(call)..)).collect()
}

/// The symbol of the kernel, or the kind of the loops.
fn kernel(op: OperationRef) -> String {
    let name = ir::name(op);
    if let Some(generic) = Generic::cast(op) {
        let reduces = generic.reduces();
        return if reduces { "reduction" } else { "map" }.to_owned();
    }
    match name.as_str() {
        ops::func::CALL => callee(op).unwrap_or_default(),
        ops::memref::COPY => "copy".to_owned(),
        _ if Intrinsic::cast(op).is_some() => "intrinsic".to_owned(),
        ops::scf::IF if is_choice(op) => {
            ir::nested(op).into_iter().filter_map(callee).collect::<Vec<_>>().join(" or ")
        }
        _ => match name.strip_prefix("linalg.") {
            Some(name) => name.to_owned(),
            None => "loop".to_owned(),
        },
    }
}

/// The layout of an array in memory: its extents, and strides if there are gaps.
fn layout(r#type: Type) -> String {
    let Ok(memref) = MemRefType::try_from(r#type) else {
        return String::new();
    };
    let shape = types::shape(r#type);
    let extents: Vec<String> = shape.iter().map(|extent| extent_text(*extent)).collect();
    let extents = extents.join("×");
    let (strides, _) = memref.strides_and_offset();
    let mut dense = 1_i64;
    for (extent, stride) in shape.iter().zip(&strides).rev() {
        // The stride along a single element has no effect.
        if *extent != 1 && *stride != dense && dense >= 0 {
            let strides: Vec<String> = strides.iter().map(|s| extent_text(*s)).collect();
            return format!("{extents} strides [{}]", strides.join(", "));
        }
        dense = if *extent >= 0 && dense >= 0 { dense.saturating_mul(*extent) } else { -1 };
    }
    format!("{extents} row-major")
}

fn extent_text(stride: i64) -> String {
    match stride {
        s if s < 0 => "?".to_owned(),
        s => s.to_string(),
    }
}
