//! Proof that accesses stay in their tensors; what cannot be proven is clamped (reads) or guarded (writes). A read of a
//! tensor without elements gives the kind's default.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};

mod remapped;

use super::packed::Beside;
use crate::ast::Lowering;
use crate::diagnostics::codes::{ACCESS_OUT_OF_RANGE, INDEX_OUT_OF_RANGE};
use crate::eval::affine::Affine;
use crate::eval::evaluator::{EvalResult, literal_bool, stop};
use crate::eval::ranges::{ALL, Known, Work, box_facts, collect_facts, extent_expr, implied};
use crate::eval::{Demand, Position, runtime};
use crate::model::check::is_shape_scalar;
use crate::model::{
    Expr, Extent, Formula, FormulaIndex, FormulaLocal, Function, MessagePart, Node, Value, ValueId,
};
use crate::source::Span;

/// Makes every access of the formula in bounds (the invariant of [`crate::model::formula`]).
///
/// Gives what the run must test, besides the lengths `beside`: that accesses which depend on nothing else stay in tensors
/// whose extents it brings, and that the `positions` of items are there.
pub fn secure(
    formula: &mut Formula,
    function: &Function,
    (beside, positions): (&[Beside], &[Position]),
    lowering: &Lowering,
) -> EvalResult<Vec<Demand>> {
    let values = &function.values;
    let mut tested = Vec::new();
    for check in &function.checks {
        collect_facts(&check.condition, true, &mut tested);
    }
    for (length, other, _) in beside {
        let equal = runtime::compare(ScalarOp::Eq, extent_expr(length), extent_expr(other));
        collect_facts(&equal, true, &mut tested);
    }
    // Nothing runs over an empty domain, so nothing can leave its tensor.
    let empty = formula.indices.iter().any(|i| i.extent.bound() == 0);
    let indices = std::mem::take(&mut formula.indices);
    let mut locals: Vec<FormulaLocal> = Vec::new();
    let mut pass = Pass {
        values,
        indices: &indices,
        span: lowering.value.span,
        strict: formula.predicate.is_none() && !empty,
        predicate: formula.predicate.clone(),
        always: Vec::new(),
        work: Work::default(),
        tested,
        demands: Vec::new(),
    };
    let mut facts = box_facts(&indices);
    pass.always = facts.clone();
    if let Some(predicate) = &formula.predicate {
        collect_facts(predicate, true, &mut facts);
    }
    let used = locals_below(formula.predicate.as_ref(), &formula.locals);
    for (position, local) in std::mem::take(&mut formula.locals).into_iter().enumerate() {
        // The predicate's own locals are evaluated before it holds.
        let always = pass.always.clone();
        let (known, predicate): (&[Affine], _) = if used.contains(&position) {
            (&always, None)
        } else {
            (&facts, formula.predicate.clone())
        };
        pass.predicate = predicate;
        let value = pass.expr(local.value, &locals, known, true)?;
        locals.push(FormulaLocal {
            name: local.name,
            value,
        });
    }
    if let Some(predicate) = formula.predicate.take() {
        // The predicate proves nothing about itself.
        let implying = predicate.clone();
        pass.predicate = None;
        formula.predicate = Some(pass.condition(predicate, &locals)?);
        pass.predicate = Some(implying);
    }
    let mut guards = Vec::new();
    for target in &mut formula.targets {
        let value = std::mem::replace(&mut target.value, Expr::int(0));
        target.value = pass.expr(value, &locals, &facts, false)?;
        let shape = pass.shape(target.output);
        let mut subscripts = Vec::with_capacity(shape.len());
        for (subscript, extent) in std::mem::take(&mut target.subscripts)
            .into_iter()
            .zip(shape)
        {
            if pass.strict {
                pass.remapped(&subscript, &extent, &[], lowering.target.span);
            }
            let subscript = pass.expr(subscript, &locals, &facts, false)?;
            let known = pass.known(&locals, &facts);
            let size = i128::from(extent.bound());
            let (low, high) = known.interval(&subscript);
            let above = known.may_reach(&subscript, &extent);
            if low < 0 || above {
                if pass.strict && certain(&subscript, &indices) && extent.fixed().is_some() {
                    return out_of_range(lowering.target.span, low, high, size, true);
                }
                if pass.strict {
                    pass.demand(&subscript, &extent, &[], lowering.target.span, true);
                }
                if low < 0 {
                    guards.push(runtime::compare(
                        ScalarOp::Ge,
                        subscript.clone(),
                        Expr::int(0),
                    ));
                }
                if above {
                    let size = extent_expr(&extent);
                    guards.push(runtime::compare(ScalarOp::Lt, subscript.clone(), size));
                }
            }
            subscripts.push(subscript);
        }
        target.subscripts = subscripts;
    }
    for guard in guards {
        formula.predicate = Some(match formula.predicate.take() {
            Some(predicate) if runtime::reads(&guard) => runtime::and(predicate, guard),
            Some(predicate) => runtime::and(guard, predicate),
            None => guard,
        });
    }
    if formula
        .predicate
        .as_ref()
        .is_some_and(|p| runtime::bool_literal(p) == Some(true))
    {
        formula.predicate = None;
    }
    if pass.strict {
        positions.iter().for_each(|p| pass.position(p));
    }
    let demands = pass.demands;
    formula.indices = indices;
    formula.locals = locals;
    drop_unused_units(formula);
    Ok(demands)
}

/// Removes indices of extent 1 that nothing uses.
fn drop_unused_units(formula: &mut Formula) {
    let mut used = vec![false; formula.indices.len()];
    let mut visit = |expr: &Expr| {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if let Node::Index(position) = expr.node
                && let Some(slot) = used.get_mut(position)
            {
                *slot = true;
            }
            open.extend(expr.children());
        }
    };
    for local in &formula.locals {
        visit(&local.value);
    }
    formula.predicate.iter().for_each(&mut visit);
    for target in &formula.targets {
        visit(&target.value);
        target.subscripts.iter().for_each(&mut visit);
    }
    let mut positions = Vec::with_capacity(used.len());
    let mut kept = Vec::new();
    for (index, used) in std::mem::take(&mut formula.indices).into_iter().zip(used) {
        positions.push(kept.len());
        if used || index.extent != Extent::Fixed(1) {
            kept.push(index);
        }
    }
    if kept.len() < positions.len() {
        for local in &mut formula.locals {
            renumber(&mut local.value, &positions);
        }
        if let Some(predicate) = &mut formula.predicate {
            renumber(predicate, &positions);
        }
        for target in &mut formula.targets {
            renumber(&mut target.value, &positions);
            for subscript in &mut target.subscripts {
                renumber(subscript, &positions);
            }
        }
    }
    formula.indices = kept;
}

fn renumber(expr: &mut Expr, positions: &[usize]) {
    match &mut expr.node {
        Node::Index(position) => {
            if let Some(new) = positions.get(*position) {
                *position = *new;
            }
        }
        Node::Literal(_) | Node::Local(_) | Node::Extent(_) => {}
        Node::Access { subscripts, .. } => {
            for subscript in subscripts {
                renumber(subscript, positions);
            }
        }
        Node::Table { index, .. } => renumber(index, positions),
        Node::Apply { operands, .. } => {
            for operand in operands {
                renumber(operand, positions);
            }
        }
        Node::Select {
            condition,
            then,
            otherwise,
        } => {
            renumber(condition, positions);
            renumber(then, positions);
            renumber(otherwise, positions);
        }
    }
}

fn out_of_range<T>(span: Span, low: i128, high: i128, size: i128, write: bool) -> EvalResult<T> {
    let what = if write { "the target" } else { "an access" };
    stop(
        &ACCESS_OUT_OF_RANGE,
        span,
        format!(
            "an index of {what} runs from {low} to {high}, the tensor's extent is {size}; guard it with `| |`"
        ),
    )
}

/// Whether the interval of an index is exact: it is affine in index variables, and their extents are fixed.
fn certain(expr: &Expr, indices: &[FormulaIndex]) -> bool {
    Affine::of(expr)
        .terms
        .iter()
        .all(|(term, _)| match term.node {
            Node::Index(position) => indices
                .get(position)
                .is_some_and(|index| index.extent.fixed().is_some()),
            _ => false,
        })
}

struct Pass<'a> {
    values: &'a [Value],
    indices: &'a [FormulaIndex],
    span: Span,
    /// Whether an unconditional access out of range is an error.
    strict: bool,
    predicate: Option<Expr>,
    /// What the loops themselves tell.
    always: Vec<Affine>,
    work: Work,
    /// What the run has tested before.
    tested: Vec<Affine>,
    /// What the run must test.
    demands: Vec<Demand>,
}

impl<'a> Pass<'a> {
    fn shape(&self, tensor: ValueId) -> Vec<Extent> {
        self.values
            .get(tensor.0 as usize)
            .map(|v| v.tensor.shape.clone())
            .unwrap_or_default()
    }

    /// The predicate itself: each conjunct is evaluated where those before it hold.
    fn condition(&mut self, predicate: Expr, locals: &[FormulaLocal]) -> EvalResult<Expr> {
        let always = self.always.clone();
        self.expr(predicate, locals, &always, true)
    }

    fn expr(
        &mut self,
        expr: Expr,
        locals: &[FormulaLocal],
        facts: &[Affine],
        conditional: bool,
    ) -> EvalResult<Expr> {
        let kind = expr.kind;
        let node = match expr.node {
            Node::Access { tensor, subscripts } => {
                return self.access(kind, tensor, subscripts, locals, facts, conditional);
            }
            Node::Table { items, index } => {
                let index = self.expr(*index, locals, facts, conditional)?;
                let size = i128::try_from(items.len()).unwrap_or(i128::MAX);
                let index = self.clamped(
                    index,
                    &Extent::Fixed(u64::try_from(size).unwrap_or(0)),
                    locals,
                    facts,
                );
                Node::Table {
                    items,
                    index: Box::new(index),
                }
            }
            Node::Select {
                condition,
                then,
                otherwise,
            } => {
                let original = *condition;
                let condition = self.expr(original.clone(), locals, facts, conditional)?;
                match runtime::bool_literal(&condition) {
                    Some(true) => return self.expr(*then, locals, facts, conditional),
                    Some(false) => return self.expr(*otherwise, locals, facts, conditional),
                    None => {}
                }
                let mut when_true = facts.to_vec();
                let mut when_false = facts.to_vec();
                collect_facts(&condition, true, &mut when_true);
                collect_facts(&condition, false, &mut when_false);
                if let Some(predicate) = &self.predicate {
                    implied(predicate, &original, &mut when_true, &mut when_false);
                }
                let then = self.expr(*then, locals, &when_true, true)?;
                let otherwise = self.expr(*otherwise, locals, &when_false, true)?;
                return Ok(runtime::select(condition, then, otherwise));
            }
            Node::Apply { op, operands } => {
                let mut secured = Vec::with_capacity(operands.len());
                for operand in operands {
                    secured.push(self.expr(operand, locals, facts, conditional)?);
                }
                return Ok(self.simplified(kind, op, secured, locals, facts));
            }
            leaf @ (Node::Literal(_) | Node::Index(_) | Node::Local(_) | Node::Extent(_)) => leaf,
        };
        Ok(Expr { kind, node })
    }

    /// Comparisons that the ranges decide, choices that they make, indices that are always zero.
    fn simplified(
        &self,
        kind: ScalarKind,
        op: ScalarOp,
        operands: Vec<Expr>,
        locals: &[FormulaLocal],
        facts: &[Affine],
    ) -> Expr {
        match (op, operands.as_slice()) {
            (ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Neg, _)
                if kind == ScalarKind::Int =>
            {
                let mut sum = Affine::of(&Expr::apply(kind, op, operands));
                sum.terms.retain(|(term, _)| !self.is_unit(term));
                return sum.into_expr();
            }
            (
                ScalarOp::Lt
                | ScalarOp::Le
                | ScalarOp::Gt
                | ScalarOp::Ge
                | ScalarOp::Eq
                | ScalarOp::Ne,
                [a, b],
            ) if a.kind == ScalarKind::Int => {
                let difference = Affine::of(a).plus(&Affine::of(b), -1).into_expr();
                let (low, high) = self.known(locals, facts).interval(&difference);
                let decided = match op {
                    ScalarOp::Lt if high < 0 => Some(true),
                    ScalarOp::Lt if low >= 0 => Some(false),
                    ScalarOp::Le if high <= 0 => Some(true),
                    ScalarOp::Le if low > 0 => Some(false),
                    ScalarOp::Gt if low > 0 => Some(true),
                    ScalarOp::Gt if high <= 0 => Some(false),
                    ScalarOp::Ge if low >= 0 => Some(true),
                    ScalarOp::Ge if high < 0 => Some(false),
                    ScalarOp::Eq if low > 0 || high < 0 => Some(false),
                    ScalarOp::Ne if low > 0 || high < 0 => Some(true),
                    _ => None,
                };
                if let Some(value) = decided
                    // A difference that wraps around tells nothing about the order.
                    && self.orders(a, b, locals, facts)
                {
                    return literal_bool(value);
                }
            }
            // Both sides are computed as they are written: what is lazy is a choice.
            (ScalarOp::And | ScalarOp::Or, _) => return runtime::simplified(op, kind, operands),
            (ScalarOp::Not, [a]) => {
                if let Some(value) = runtime::bool_literal(a) {
                    return literal_bool(!value);
                }
            }
            (ScalarOp::Select, [c, a, b]) => match runtime::bool_literal(c) {
                Some(true) => return a.clone(),
                Some(false) => return b.clone(),
                None => {}
            },
            _ => {}
        }
        Expr::apply(kind, op, operands)
    }

    /// Whether both sides stay far enough from the ends of i64 for their difference to be exact.
    fn orders(&self, a: &Expr, b: &Expr, locals: &[FormulaLocal], facts: &[Affine]) -> bool {
        let small = |e: &Expr| {
            let (low, high) = self.known(locals, facts).interval(e);
            low > ALL.0 / 4 && high < ALL.1 / 4
        };
        small(a) && small(b)
    }

    fn is_unit(&self, expr: &Expr) -> bool {
        match expr.node {
            Node::Index(position) => self
                .indices
                .get(position)
                .is_some_and(|i| i.extent == Extent::Fixed(1)),
            _ => false,
        }
    }

    fn access(
        &mut self,
        kind: ScalarKind,
        tensor: ValueId,
        subscripts: Vec<Expr>,
        locals: &[FormulaLocal],
        facts: &[Affine],
        conditional: bool,
    ) -> EvalResult<Expr> {
        let shape = self.shape(tensor);
        if shape.iter().any(|e| e.bound() == 0) {
            // An empty tensor has no element to read; the value stands for one that never counts.
            return Ok(Expr::literal(kind.default_value()));
        }
        let mut secured = Vec::with_capacity(subscripts.len());
        let mut has_elements = Expr::literal(Scalar::Bool(true));
        for (subscript, extent) in subscripts.into_iter().zip(shape.clone()) {
            if self.strict && !conditional {
                self.remapped(&subscript, &extent, &shape, self.span);
            }
            let subscript = self.expr(subscript, locals, facts, conditional)?;
            let size = i128::from(extent.bound());
            if self.strict
                && !conditional
                && certain(&subscript, self.indices)
                && extent.fixed().is_some()
            {
                let known = self.known(locals, facts);
                let (low, high) = known.interval(&subscript);
                if low < 0 || high >= size {
                    return out_of_range(self.span, low, high, size, false);
                }
            }
            let clamped = self.clamped(subscript.clone(), &extent, locals, facts);
            if clamped != subscript && self.strict && !conditional {
                self.demand(&subscript, &extent, &shape, self.span, false);
            }
            let known = self.known(locals, facts);
            if clamped != subscript && known.may_reach(&Expr::int(0), &extent) {
                // Only the run knows whether there is an element to be the nearest.
                let some = runtime::compare(ScalarOp::Gt, extent_expr(&extent), Expr::int(0));
                has_elements = runtime::and(has_elements, some);
            }
            secured.push(clamped);
        }
        let access = Expr {
            kind,
            node: Node::Access {
                tensor,
                subscripts: secured,
            },
        };
        let nothing = Expr::literal(kind.default_value());
        Ok(runtime::select(has_elements, access, nothing))
    }

    /// Where an index that goes straight through its tensor begins and ends is known by the run: it must be inside, unless
    /// the formula has no steps, or an extent of `empty` is zero: what is read of a tensor without elements is known.
    fn demand(
        &mut self,
        subscript: &Expr,
        extent: &Extent,
        empty: &[Extent],
        span: Span,
        write: bool,
    ) {
        let Some((low, high)) = self.ends(subscript) else {
            return;
        };
        let size = extent_expr(extent);
        let known = self.known(&[], &self.tested);
        if known.interval(&low).0 >= 0 && !known.may_reach(&high, extent) {
            return;
        }
        let condition = self.in_some_step(Demand::within(&low, &high, &size), empty);
        let what = if write { "the target" } else { "an access" };
        self.demanded(Demand {
            condition,
            message: vec![
                MessagePart::Text(format!("an index of {what} runs from ")),
                MessagePart::Value(low),
                MessagePart::Text(" to ".to_string()),
                MessagePart::Value(high),
                MessagePart::Text(", the tensor's extent is ".to_string()),
                MessagePart::Value(size),
                MessagePart::Text("; guard it with `| |`".to_string()),
            ],
            code: &ACCESS_OUT_OF_RANGE,
            span,
        });
    }

    /// Every step finds its item.
    fn position(&mut self, position: &Position) {
        let Some((low, high)) = self.ends(&position.index) else {
            return;
        };
        let first = match position.from_end {
            true => Affine::of(&low)
                .plus(&Affine::of(&position.length), 1)
                .into_expr(),
            false => low.clone(),
        };
        let within = Demand::within(&first, &high, &position.places);
        let condition = self.in_some_step(within, &[]);
        let demand = Demand {
            condition,
            message: vec![
                MessagePart::Text("an index runs from ".to_string()),
                MessagePart::Value(low),
                MessagePart::Text(" to ".to_string()),
                MessagePart::Value(high),
                MessagePart::Text(": the pack has ".to_string()),
                MessagePart::Value(position.length.clone()),
                MessagePart::Text(" items".to_string()),
            ],
            code: &INDEX_OUT_OF_RANGE,
            span: position.span,
        };
        self.demanded(demand.unless(&position.unless));
    }

    fn demanded(&mut self, demand: Demand) {
        if !self.demands.contains(&demand) {
            self.demands.push(demand);
        }
    }

    /// The smallest and the largest value of an index that is a sum of loops' indices and extents.
    fn ends(&self, index: &Expr) -> Option<(Expr, Expr)> {
        let sum = Affine::of(index);
        let mut low = Affine::constant(sum.constant);
        let mut high = low.clone();
        for (term, factor) in &sum.terms {
            let Node::Index(position) = term.node else {
                if !is_shape_scalar(term) {
                    return None;
                }
                low = low.plus(&Affine::of(term), *factor);
                high = high.plus(&Affine::of(term), *factor);
                continue;
            };
            let index = self.indices.get(position)?;
            let last = Affine::of(&extent_expr(&index.extent)).plus(&Affine::constant(1), -1);
            let end = if *factor < 0 { &mut low } else { &mut high };
            *end = end.clone().plus(&last, *factor);
        }
        Some((low.into_expr(), high.into_expr()))
    }

    /// The condition, unless there are no steps, or one of the extents is zero.
    fn in_some_step(&self, condition: Expr, empty: &[Extent]) -> Expr {
        let steps = self.indices.iter().map(|index| &index.extent);
        let mut open: Vec<&Extent> = Vec::new();
        for extent in steps.chain(empty).filter(|e| e.fixed().is_none()) {
            if !open.contains(&extent) {
                open.push(extent);
            }
        }
        open.into_iter().fold(condition, |all, extent| {
            let none = runtime::compare(ScalarOp::Le, extent_expr(extent), Expr::int(0));
            match (runtime::bool_literal(&all), runtime::bool_literal(&none)) {
                (Some(true), _) | (_, Some(false)) => all,
                _ => Expr::apply(ScalarKind::Bool, ScalarOp::Or, vec![none, all]),
            }
        })
    }

    fn known<'b>(&'b self, locals: &'b [FormulaLocal], facts: &'b [Affine]) -> Known<'b> {
        Known::new((self.indices, locals), facts, &self.work)
    }

    /// The index if it is in range, else the nearest that is.
    fn clamped(
        &self,
        index: Expr,
        extent: &Extent,
        locals: &[FormulaLocal],
        facts: &[Affine],
    ) -> Expr {
        let known = self.known(locals, facts);
        let (low, _) = known.interval(&index);
        let above = known.may_reach(&index, extent);
        let int = |op, a, b| Expr::apply(ScalarKind::Int, op, vec![a, b]);
        let mut index = index;
        if above {
            let last = Affine::of(&extent_expr(extent)).plus(&Affine::constant(1), -1);
            index = int(ScalarOp::Min, index, last.into_expr());
        }
        if low < 0 {
            index = int(ScalarOp::Max, index, Expr::int(0));
        }
        index
    }
}

/// Positions of the locals that an expression rests on, those of locals included.
fn locals_below(expr: Option<&Expr>, locals: &[FormulaLocal]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open: Vec<&Expr> = expr.into_iter().collect();
    while let Some(expr) = open.pop() {
        if let Node::Local(position) = expr.node
            && !found.contains(&position)
        {
            found.push(position);
            open.extend(locals.get(position).map(|local| &local.value));
        }
        open.extend(expr.children());
    }
    found
}
