// SPDX-License-Identifier: Apache-2.0
//! Writes an operator: ports, constants and formulas of a function.

use crate::expr::{inlined, select, substituted};
use crate::extents::{size, symbol};
use crate::formula::access;
use crate::names::Names;
use crate::refusal::{Refusal, internal, refused};
use crate::text::{Vocabulary, brackets, literal, text};
use skript_frontend::model::{
    Accumulation, Body, ConstantData, Expr, Extent, Formula, Function, Init, Node, Target, TensorType,
    ValueId,
};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Writes the operator `name`.
///
/// # Errors
/// The function has something that the language cannot write, or an extent that no input has.
pub fn operator(
    function: &Function,
    name: &str,
    comment: &str,
    inputs: &[ValueId],
    outputs: &[ValueId],
) -> Result<String, Refusal> {
    let Body::Formulas(formulas) = &function.body else {
        return Err(refused(function, function.span, "it has no formulas"));
    };
    let mut writer = Writer::new(function);
    inputs.iter().try_for_each(|input| writer.bind(*input))?;
    let constants: Vec<ValueId> = function.constants.iter().map(|(value, _)| *value).collect();
    for value in inputs.iter().chain(&constants).chain(outputs) {
        writer.name(*value);
    }
    let assignments = needed(formulas, outputs);
    for (_, target) in &assignments {
        writer.name(target.output);
    }
    let lower = writer.formulas(&assignments, outputs)?;
    let mut operator = format!("# {comment}\noperator {name} {{\n");
    for (block, values) in [("input", inputs), ("output", outputs)] {
        if !values.is_empty() {
            let _ = writeln!(operator, "    @{block} {{");
            for value in values {
                let (name, tensor) = (writer.tensor(*value)?, writer.type_text(*value, block == "input")?);
                let _ = writeln!(operator, "        {name}: {tensor};");
            }
            operator.push_str("    }\n");
        }
    }
    if !writer.tables.is_empty() {
        operator.push_str("    @using {\n");
        for (items, name) in &writer.tables {
            let items: Vec<String> = items.iter().map(|item| literal(*item)).collect();
            let _ = writeln!(operator, "        {name} = [{}];", items.join(", "));
        }
        operator.push_str("    }\n");
    }
    if !constants.is_empty() {
        operator.push_str("    @constant {\n");
        for (value, data) in &function.constants {
            let (name, tensor) = (writer.tensor(*value)?, writer.type_text(*value, false)?);
            let _ = writeln!(operator, "        {name}: {tensor} = {};", constant(data));
        }
        operator.push_str("    }\n");
    }
    let _ = write!(operator, "    @lower {{\n{lower}    }}\n}}\n");
    Ok(operator)
}

/// The value of a constant.
pub fn constant(data: &ConstantData) -> String {
    match data {
        ConstantData::Splat(value) => literal(*value),
        list => {
            let items: Vec<String> = list.scalars().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

/// A name for an extent; those that the composition makes have dots.
pub fn extent_name(symbol: &str) -> &str {
    if symbol.contains('.') { "n" } else { symbol }
}

struct Writer<'a> {
    function: &'a Function,
    names: Names,
    tensors: HashMap<ValueId, String>,
    /// The names of dynamic extents.
    extents: HashMap<String, String>,
    tables: Vec<(Vec<Scalar>, String)>,
    indices: Vec<String>,
    locals: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(function: &'a Function) -> Self {
        Writer {
            function,
            names: Names::default(),
            tensors: HashMap::new(),
            extents: HashMap::new(),
            tables: Vec::new(),
            indices: Vec::new(),
            locals: Vec::new(),
        }
    }

    fn tensor_type(&self, value: ValueId) -> Result<&TensorType, Refusal> {
        let value = self.function.values.get(value.0 as usize).map(|value| &value.tensor);
        value.ok_or_else(|| self.unwritable("a tensor has no type"))
    }

    /// Names the extents of an input that are not computed.
    fn bind(&mut self, input: ValueId) -> Result<(), Refusal> {
        for extent in &self.tensor_type(input)?.shape.clone() {
            if let Some(symbol) = symbol(extent)
                && !self.extents.contains_key(symbol)
            {
                let name = self.names.fresh(extent_name(symbol));
                self.extents.insert(symbol.to_owned(), name);
            }
        }
        Ok(())
    }

    /// `real[n,3]`. Inputs have computed extents without a name.
    fn type_text(&mut self, value: ValueId, is_input: bool) -> Result<String, Refusal> {
        let tensor = self.tensor_type(value)?.clone();
        let mut extents = Vec::new();
        for extent in &tensor.shape {
            let is_unnamed = is_input && extent.fixed().is_none() && symbol(extent).is_none();
            extents.push(if is_unnamed { "~".to_owned() } else { text(&size(extent), self)? });
        }
        Ok(format!("{}[{}]", tensor.kind.name(), extents.join(",")))
    }

    fn name(&mut self, value: ValueId) {
        if !self.tensors.contains_key(&value) {
            let known = self.function.values.get(value.0 as usize).and_then(|value| value.name.clone());
            let name = self.names.fresh(known.as_deref().unwrap_or("t"));
            self.tensors.insert(value, name);
        }
    }

    fn check(&self, formula: &Formula) -> Result<(), Refusal> {
        match formula.findings.as_slice() {
            [] => Ok(()),
            _ => Err(self.unwritable("the bounds of an access are checked at run time")),
        }
    }

    /// The text of assignments. A tensor has at most a formula for its start values and another one, so that the results of more
    /// formulas, as of an unrolled pack, are copied to the next of several local tensors.
    fn formulas(
        &mut self,
        assignments: &[(&Formula, &Target)],
        outputs: &[ValueId],
    ) -> Result<String, Refusal> {
        let mut text = String::new();
        let stages = self.stages(assignments, outputs)?;
        let last: HashMap<ValueId, usize> = assignments
            .iter()
            .zip(&stages)
            .map(|((_, target), stage)| (target.output, stage.number))
            .collect();
        let names = self.tensors.clone();
        let steps: Vec<(&Formula, &Target, Stage)> = assignments
            .iter()
            .zip(stages)
            .map(|((formula, target), stage)| (*formula, *target, stage))
            .collect();
        // The start values of tensors that advance together come before their steps.
        for group in steps.chunk_by(|(formula, ..), (next, ..)| std::ptr::eq(*formula, *next)) {
            for (formula, target, stage) in group {
                self.check(formula)?;
                let is_last = last.get(&target.output) == Some(&stage.number);
                if stage.begins {
                    let before = self.tensor(target.output)?;
                    let name = match names.get(&target.output) {
                        Some(name) if is_last => name.clone(),
                        _ => self.names.fresh(&before),
                    };
                    self.tensors.insert(target.output, name);
                    if stage.number > 0 {
                        self.fill(target, &|subscripts| format!("{before}{subscripts}"), &mut text)?;
                    }
                }
                if let (true, Init::Fill(value)) = (stage.has_start, target.init) {
                    self.fill(target, &|_| literal(value), &mut text)?;
                }
            }
            let targets: Vec<Target> = group.iter().map(|(_, target, _)| (*target).clone()).collect();
            let Some((formula, ..)) = group.first() else { continue };
            for ((formula, _, stage), single) in group.iter().zip(joined(formula, &targets)) {
                let kind = match formula.kind {
                    Accumulation::Assign if stage.has_start || stage.number > 0 || !stage.begins => {
                        Accumulation::Replace
                    }
                    kind => kind,
                };
                self.assignment(single, kind, &mut text)?;
            }
        }
        Ok(text)
    }

    /// The stage of each assignment. The first stages of an output are local tensors.
    fn stages(
        &self,
        assignments: &[(&Formula, &Target)],
        outputs: &[ValueId],
    ) -> Result<Vec<Stage>, Refusal> {
        let single = self.stages_with(assignments, &|value| !outputs.contains(&value))?;
        let numbered = assignments.iter().zip(&single).filter(|(_, stage)| stage.number > 0);
        let staged: HashSet<ValueId> = numbered.map(|((_, target), _)| target.output).collect();
        self.stages_with(assignments, &|value| !outputs.contains(&value) || staged.contains(&value))
    }

    fn stages_with(
        &self,
        assignments: &[(&Formula, &Target)],
        is_local: &dyn Fn(ValueId) -> bool,
    ) -> Result<Vec<Stage>, Refusal> {
        // The stage of each tensor, and whether it accepts another formula.
        let mut current: HashMap<ValueId, (usize, bool)> = HashMap::new();
        let mut stages = Vec::new();
        for (formula, target) in assignments {
            let stage = match current.get(&target.output) {
                None => {
                    let has_start = self.needs_start(formula, target, is_local(target.output))?;
                    Stage { number: 0, begins: true, has_start }
                }
                Some((number, true)) => Stage { number: *number, begins: false, has_start: false },
                Some((number, false)) => Stage { number: number + 1, begins: true, has_start: false },
            };
            let accepts =
                stage.number == 0 && stage.begins && !stage.has_start && formula.kind == Accumulation::Assign;
            current.insert(target.output, (stage.number, accepts));
            stages.push(stage);
        }
        Ok(stages)
    }

    /// Whether the first formula of a tensor does not determine its start values, or the extents of a local tensor.
    fn needs_start(&self, formula: &Formula, target: &Target, is_local: bool) -> Result<bool, Refusal> {
        let tensor = self.tensor_type(target.output)?;
        let Init::Fill(value) = target.init else { return Ok(false) };
        if value != formula.kind.identity(tensor.kind) || formula.kind == Accumulation::Replace {
            return Ok(true);
        }
        let mut bare = HashSet::new();
        let has_extents = target.subscripts.iter().zip(&tensor.shape).all(|(subscript, extent)| {
            let Node::Index(at) = subscript.node else { return false };
            let index = formula.indices.get(at);
            bare.insert(at) && index.is_some_and(|index| index.extent == *extent)
        });
        Ok(is_local && !has_extents)
    }

    /// `y[i0, i1] = value` for all elements; the value is that at the subscripts `[i0, i1]`.
    fn fill(
        &mut self,
        target: &Target,
        value: &dyn Fn(&str) -> String,
        text: &mut String,
    ) -> Result<(), Refusal> {
        let shape = self.tensor_type(target.output)?.shape.clone();
        let mut names = self.names.clone();
        let indices: Vec<String> = shape.iter().map(|_| names.fresh("i")).collect();
        let mut bounds = String::new();
        for (name, extent) in indices.iter().zip(&shape) {
            bounds.push_str(&self.bound(name, extent)?);
        }
        let comma = if indices.len() == 1 { "," } else { "" };
        let subscripts = format!("[{}{comma}]", indices.join(", "));
        let value = value(&subscripts);
        text.push_str(&format!("        {}{subscripts} = {value}{bounds};\n", self.tensor(target.output)?));
        Ok(())
    }

    /// `, i < n`
    fn bound(&mut self, index: &str, extent: &Extent) -> Result<String, Refusal> {
        Ok(format!(", {index} < {}", text(&size(extent), self)?))
    }

    fn assignment(&mut self, single: Formula, kind: Accumulation, out: &mut String) -> Result<(), Refusal> {
        let mut names = self.names.clone();
        let Some(target) = single.targets.first() else { return Ok(()) };
        self.indices = single.indices.iter().map(|index| names.fresh(&index.name.replace('.', ""))).collect();
        self.locals = single.locals.iter().map(|local| names.fresh(&local.name)).collect();
        out.push_str("        ");
        for (at, local) in single.locals.iter().enumerate() {
            let value = text(&local.value, self)?;
            let _ = write!(out, "{} = {value},\n        ", self.local(at)?);
        }
        let subscripts = brackets(&target.subscripts, self)?;
        let value = text(&target.value, self)?;
        let _ = write!(out, "{}{subscripts} {} {value}", self.tensor(target.output)?, sign(kind));
        for (at, index) in single.indices.iter().enumerate() {
            out.push_str(&self.bound(&self.index(at)?, &index.extent)?);
        }
        if let Some(predicate) = &single.predicate {
            let _ = write!(out, " | {}", text(predicate, self)?);
        }
        out.push_str(";\n");
        Ok(())
    }
}

/// Which of the tensors that hold the contents of one tensor an assignment writes.
struct Stage {
    /// From 0; the last one is the tensor itself.
    number: usize,
    /// Whether the assignment is the first one of the stage.
    begins: bool,
    /// Whether a formula with the start values precedes it.
    has_start: bool,
}

/// The formula of one of the targets that are written in a step, after those of the earlier ones: where it has the value of an earlier
/// target, it reads the element. Other elements of these were different ones when the formulas were composed.
fn in_sequence(formula: &Formula, targets: &[Target], position: usize) -> Option<Formula> {
    let (earlier, [target, ..]) = targets.split_at_checked(position)? else { return None };
    let mut single = Formula { targets: vec![target.clone()], ..formula.clone() };
    if targets.len() > 1 {
        // The conditions of all must be equal, with their locals.
        single.predicate = formula.predicate.as_ref().map(|predicate| inlined(predicate, &formula.locals));
    }
    let written = |expr: &Expr| {
        substituted(expr, &|part| {
            let is_value = |target: &&Target| matches!(part.node, Node::Local(_)) && target.value == *part;
            let target = earlier.iter().find(is_value)?;
            Some(access(target.output, part.kind, target.subscripts.clone()))
        })
    };
    single.locals.iter_mut().for_each(|local| local.value = written(&local.value));
    for target in &mut single.targets {
        target.value = written(&target.value);
        target.subscripts.iter_mut().for_each(|subscript| *subscript = written(subscript));
    }
    crate::formula::prune(&mut single);
    Some(single)
}

/// The assignments that the outputs depend on, in order.
fn needed<'f>(formulas: &'f [Formula], outputs: &[ValueId]) -> Vec<(&'f Formula, &'f Target)> {
    let mut read: HashSet<ValueId> = outputs.iter().copied().collect();
    let mut assignments = Vec::new();
    for formula in formulas.iter().rev() {
        let is_needed = needed_targets(formula, &mut read);
        let targets = formula.targets.iter().zip(is_needed).filter(|(_, is_needed)| *is_needed);
        assignments.extend(targets.rev().map(|(target, _)| (formula, target)));
    }
    assignments.reverse();
    assignments
}

/// Which targets of a formula are needed: those that are read, also by needed ones alone. Several of them are written one after the
/// other, so that one whose value others contain is written for them.
fn needed_targets(formula: &Formula, read: &mut HashSet<ValueId>) -> Vec<bool> {
    let mut is_needed = vec![false; formula.targets.len()];
    let mut values: Vec<Expr> = Vec::new();
    for _ in &formula.targets {
        let is_group = is_needed.iter().filter(|is_needed| **is_needed).count() > 1;
        for (target, is_needed) in formula.targets.iter().zip(&mut is_needed) {
            let is_read = read.contains(&target.output) || (is_group && values.contains(&target.value));
            if !*is_needed && is_read {
                *is_needed = true;
                let mut single = Formula { targets: vec![target.clone()], ..formula.clone() };
                values.extend(locals_of(&single));
                crate::formula::prune(&mut single);
                read.extend(crate::formula::reads(&single));
            }
        }
    }
    is_needed
}

/// The formulas of the targets that are written in a step, which must advance together: consecutive formulas do up to one that reads no later
/// target. If formulas behind it read an earlier target, it gets a read of a later one, which no step executes.
fn joined(formula: &Formula, targets: &[Target]) -> Vec<Formula> {
    let mut singles: Vec<Formula> =
        (0..targets.len()).filter_map(|position| in_sequence(formula, targets, position)).collect();
    for next in 1..targets.len() {
        let (earlier, later) = targets.split_at(next);
        let (first, rest) = singles.split_at_mut(next);
        let is_reading = |formulas: &[Formula], written: &[Target]| {
            let mut reads = formulas.iter().flat_map(crate::formula::reads);
            reads.any(|read| written.iter().any(|target| target.output == read))
        };
        if formula.indices.is_empty() || is_reading(first, later) || !is_reading(rest, earlier) {
            continue;
        }
        let target = first.last_mut().and_then(|formula| formula.targets.first_mut());
        if let (Some(target), Some(later)) = (target, later.first()) {
            let first = later.subscripts.iter().map(|_| Expr::int(0)).collect();
            let read = converted(access(later.output, later.value.kind, first), target.value.kind);
            let is_never = Expr::apply(ScalarKind::Bool, ScalarOp::Lt, vec![Expr::index(0), Expr::int(0)]);
            target.value = select(is_never, read, target.value.clone());
        }
    }
    singles
}

fn converted(expr: Expr, kind: ScalarKind) -> Expr {
    let op = match kind {
        _ if expr.kind == kind => return expr,
        ScalarKind::Bool => ScalarOp::ToBool,
        ScalarKind::Int => ScalarOp::ToInt,
        ScalarKind::Real => ScalarOp::ToReal,
    };
    Expr::apply(kind, op, vec![expr])
}

/// The locals that a formula uses, as expressions.
fn locals_of(formula: &Formula) -> Vec<Expr> {
    let mut locals: Vec<Expr> = Vec::new();
    let values = formula.targets.iter().flat_map(|target| target.subscripts.iter().chain([&target.value]));
    let mut open: Vec<&Expr> = values.collect();
    while let Some(expr) = open.pop() {
        if let Node::Local(at) = expr.node
            && !locals.contains(expr)
        {
            locals.push(expr.clone());
            open.extend(formula.locals.get(at).map(|local| &local.value));
        }
        open.extend(expr.children());
    }
    locals
}

fn sign(kind: Accumulation) -> &'static str {
    match kind {
        Accumulation::Assign => "=",
        Accumulation::Replace => ":=",
        Accumulation::Sum => "+=",
        Accumulation::Product => "*=",
        Accumulation::All => "&=",
        Accumulation::Any => "|=",
        Accumulation::Min => "<=",
        Accumulation::Max => ">=",
    }
}

impl Vocabulary for Writer<'_> {
    fn tensor(&self, tensor: ValueId) -> Result<String, Refusal> {
        self.tensors.get(&tensor).cloned().ok_or_else(|| internal("a tensor without a name"))
    }

    fn index(&self, at: usize) -> Result<String, Refusal> {
        self.indices.get(at).cloned().ok_or_else(|| internal("an index without a name"))
    }

    fn local(&self, at: usize) -> Result<String, Refusal> {
        self.locals.get(at).cloned().ok_or_else(|| internal("a local value without a name"))
    }

    fn extent(&self, symbol: &str) -> Result<String, Refusal> {
        let name = self.extents.get(symbol).cloned();
        name.ok_or_else(|| self.unwritable("it has an extent that no input has"))
    }

    fn table(&mut self, items: &[Scalar]) -> String {
        if let Some((_, name)) = self.tables.iter().find(|(known, _)| known == items) {
            return name.clone();
        }
        let name = self.names.fresh("table");
        self.tables.push((items.to_vec(), name.clone()));
        name
    }

    fn unwritable(&self, reason: &str) -> Refusal {
        refused(self.function, self.function.span, reason)
    }
}
