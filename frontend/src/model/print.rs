// SPDX-License-Identifier: Apache-2.0
//! The model as text, for `--emit=model` and for tests: deterministic, one operation a line.

use std::fmt::Write as _;

use skript_semantics::{Scalar, ScalarOp};

use super::{
    Accumulation, AttributeValue, Block, Body, Check, ConstantData, Expr, Extent, Formula, Function, Init,
    MessagePart, Model, Node, Operation, Port, PortTensors, TensorType, ValueId,
};

impl Model {
    /// A readable listing of all variables, functions, updates and quantizations.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    // Writing to a string cannot fail, so results of `write!` are dropped here.
    fn write(&self, text: &mut String) {
        for (index, variable) in self.variables.iter().enumerate() {
            let _ = writeln!(text, "variable {index} {}: {}", variable.name, tensor(&variable.tensor));
        }
        for (index, function) in self.functions.iter().enumerate() {
            let entry = if self.entry.0 as usize == index { "entry " } else { "" };
            let _ = write!(text, "{entry}function {index} ");
            Printer { model: self, function, symbol: None }.function(text);
        }
        for (variable, value) in &self.updates {
            let name = self.variable(*variable).map_or("?", |v| v.name.as_str());
            let _ = writeln!(text, "update {name} = %{}", value.0);
        }
        for item in &self.quantization {
            let _ =
                writeln!(text, "quantize {}: {}{}", item.tensor, item.operator, attributes(&item.attributes));
        }
    }
}

impl Function {
    /// The expressions that the formulas assign and the conditions of checks, in order, with texts of dynamic extents without bounds.
    pub fn expressions(&self, model: &Model, symbol: &dyn Fn(&str) -> String) -> Vec<String> {
        let printer = Printer { model, function: self, symbol: Some(symbol) };
        let mut expressions = Vec::new();
        if let Body::Formulas(formulas) = &self.body {
            for formula in formulas {
                expressions.extend(formula.targets.iter().map(|target| printer.expr(formula, &target.value)));
            }
        }
        expressions.extend(self.checks.iter().map(|check| printer.scalar_expr(None, &check.condition)));
        expressions
    }

    /// The condition and the message of a check, with texts of dynamic extents without bounds.
    pub fn check_text(&self, model: &Model, check: &Check, symbol: &dyn Fn(&str) -> String) -> [String; 2] {
        let printer = Printer { model, function: self, symbol: Some(symbol) };
        [printer.scalar_expr(None, &check.condition), printer.message(None, &check.message)]
    }
}

struct Printer<'a> {
    model: &'a Model,
    function: &'a Function,
    /// The texts of dynamic extents; without it, they are printed with their upper bounds.
    symbol: Option<&'a dyn Fn(&str) -> String>,
}

impl Printer<'_> {
    fn function(&self, text: &mut String) {
        let function = self.function;
        let types: Vec<String> =
            function.types.iter().map(|(name, kind)| format!("{name}={}", kind.name())).collect();
        let types = if types.is_empty() { String::new() } else { format!("<{}>", types.join(", ")) };
        let _ = writeln!(text, "{}{types}{} {{", function.name, attributes(&function.attributes));
        for port in &function.inputs {
            let _ = writeln!(text, "  input {}", self.port(port));
        }
        for name in &function.extents {
            let _ = writeln!(text, "  extent {name}");
        }
        for (index, capture) in function.captures.iter().enumerate() {
            let variable = function
                .capture_variables
                .get(index)
                .map_or(String::new(), |v| format!(" = variable {}", v.0));
            let _ = writeln!(text, "  capture {}{variable}", self.declared(*capture));
        }
        for check in &function.checks {
            let _ = writeln!(text, "  {}", self.check(check));
        }
        for (value, data) in &function.constants {
            let _ = writeln!(text, "  constant {} = {}", self.declared(*value), constant(data));
        }
        match &function.body {
            Body::Intrinsic => text.push_str("  intrinsic\n"),
            Body::Formulas(formulas) => {
                for formula in formulas {
                    self.formula(formula, text);
                }
            }
            Body::Block(block) => self.block(block, 1, text),
        }
        for port in &function.outputs {
            let _ = writeln!(text, "  output {}", self.port(port));
        }
        for (capture, value) in &function.updates {
            let old = function.captures.get(*capture).copied();
            let old = old.map_or("?".to_string(), |id| self.name(id));
            let _ = writeln!(text, "  update {old} = {}", self.name(*value));
        }
        for check in &function.result_checks {
            let _ = writeln!(text, "  result {}", self.check(check));
        }
        text.push_str("}\n");
    }

    fn check(&self, check: &Check) -> String {
        format!(
            "check {}: {:?}",
            self.scalar_expr(None, &check.condition),
            self.message(None, &check.message)
        )
    }

    fn message(&self, formula: Option<&Formula>, message: &[MessagePart]) -> String {
        let parts = message.iter().map(|part| match part {
            MessagePart::Text(piece) => piece.clone(),
            MessagePart::Value(expr) => format!("{{{}}}", self.scalar_expr(formula, expr)),
            MessagePart::Choice { condition, then, otherwise } => format!(
                "{{{} ? \"{}\" : \"{}\"}}",
                self.scalar_expr(formula, condition),
                self.message(formula, then),
                self.message(formula, otherwise)
            ),
        });
        parts.collect()
    }

    fn port(&self, port: &Port) -> String {
        let tensors = match &port.tensors {
            PortTensors::Null => "null".to_string(),
            PortTensors::Single(value) => self.declared(*value),
            PortTensors::Stack(value) => format!("pack {}", self.declared(*value)),
            PortTensors::Pack(values) => {
                let items: Vec<String> = values.iter().map(|v| self.declared(*v)).collect();
                format!("[{}]", items.join(", "))
            }
        };
        format!("{} = {tensors}", port.name)
    }

    fn name(&self, value: ValueId) -> String {
        let known = self.function.values.get(value.0 as usize);
        match known.and_then(|v| v.name.as_ref()) {
            Some(name) => format!("%{}:{name}", value.0),
            None => format!("%{}", value.0),
        }
    }

    fn declared(&self, value: ValueId) -> String {
        match self.function.values.get(value.0 as usize) {
            Some(known) => format!("{} {}", self.name(value), tensor(&known.tensor)),
            None => self.name(value),
        }
    }

    fn names(&self, values: &[ValueId]) -> String {
        let names: Vec<String> = values.iter().map(|v| self.name(*v)).collect();
        names.join(", ")
    }

    fn declarations(&self, values: &[ValueId]) -> String {
        let names: Vec<String> = values.iter().map(|v| self.declared(*v)).collect();
        names.join(", ")
    }

    fn block(&self, block: &Block, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        for operation in &block.operations {
            match operation {
                Operation::Invoke(invoke) => {
                    let callee = self.model.function(invoke.callee).map_or("?", |f| f.name.as_str());
                    let label = invoke.label.as_ref().map_or(String::new(), |l| format!("{l}: "));
                    let extents: Vec<String> = invoke.extents.iter().map(ToString::to_string).collect();
                    let extents = if extents.is_empty() {
                        String::new()
                    } else {
                        format!(" extents({})", extents.join(", "))
                    };
                    let outputs: Vec<ValueId> = [invoke.outputs.as_slice(), &invoke.updates].concat();
                    let captures = if invoke.captures.is_empty() {
                        String::new()
                    } else {
                        format!(" captures({})", self.names(&invoke.captures))
                    };
                    let _ = writeln!(
                        text,
                        "{indent}{} = {label}invoke {} {callee}({}){captures}{extents}",
                        self.declarations(&outputs),
                        invoke.callee.0,
                        self.names(&invoke.inputs),
                    );
                }
                Operation::Constant { value, data } => {
                    let _ = writeln!(text, "{indent}{} = constant {}", self.declared(*value), constant(data));
                }
                Operation::If { arms, otherwise, outputs, .. } => {
                    let _ = writeln!(text, "{indent}{} = if {{", self.declarations(outputs));
                    for (index, arm) in arms.iter().enumerate() {
                        if index > 0 {
                            let _ = writeln!(text, "{indent}}} elif {{");
                        }
                        self.block(&arm.condition, depth + 1, text);
                        let _ = writeln!(text, "{indent}}} then {{");
                        self.block(&arm.consequent, depth + 1, text);
                    }
                    let _ = writeln!(text, "{indent}}} else {{");
                    self.block(otherwise, depth + 1, text);
                    let _ = writeln!(text, "{indent}}}");
                }
                Operation::Loop(looping) => self.looping(looping, depth, text),
                Operation::Cut { whole, count, dimension, output, .. } => {
                    let _ = writeln!(
                        text,
                        "{indent}{} = cut {} to {} along {dimension}",
                        self.declarations(&[*output]),
                        self.name(*whole),
                        self.name(*count)
                    );
                }
            }
        }
        if !block.results.is_empty() {
            let _ = writeln!(text, "{indent}yield {}", self.names(&block.results));
        }
    }

    fn looping(&self, looping: &super::Loop, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        let mut results: Vec<ValueId> = looping.carried.iter().map(|c| c.result).collect();
        results.extend(looping.scan_outputs.iter().flatten());
        let _ = write!(text, "{indent}{} = loop", self.declarations(&results));
        for carried in &looping.carried {
            let _ = write!(text, " with {} = {}", self.declared(carried.inner), self.name(carried.init));
        }
        for (item, pack) in &looping.scans {
            let _ = write!(text, " for {} in [{}]", self.declared(*item), self.names(pack));
        }
        if let Some(index) = looping.index {
            let _ = write!(text, " index {}", self.declared(index));
        }
        if let Some(count) = looping.static_count {
            let _ = write!(text, " at most {count}");
        }
        if let Some(capacity) = looping.capacity {
            let _ = write!(text, " capacity {capacity}");
        }
        if let Some(count) = looping.dynamic_count {
            let _ = write!(text, " times {}", self.name(count));
        }
        if let Some(before) = &looping.before {
            let _ = writeln!(text, " while {{");
            self.block(before, depth + 1, text);
            let _ = write!(text, "{indent}}}");
        }
        let _ = writeln!(text, " do {{");
        self.block(&looping.body, depth + 1, text);
        if let Some(after) = &looping.after {
            let _ = writeln!(text, "{indent}}} while {{");
            self.block(after, depth + 1, text);
        }
        let _ = writeln!(text, "{indent}}}");
    }

    fn formula(&self, formula: &Formula, text: &mut String) {
        let indices: Vec<String> =
            formula.indices.iter().map(|i| format!("{} < {}", i.name, i.extent)).collect();
        let _ = writeln!(text, "  {} over {} {{", word(formula.kind), indices.join(", "));
        for local in &formula.locals {
            let _ = writeln!(text, "    {} = {}", local.name, self.expr(formula, &local.value));
        }
        if let Some(predicate) = &formula.predicate {
            let _ = writeln!(text, "    if {}", self.expr(formula, predicate));
        }
        for target in &formula.targets {
            let subscripts: Vec<String> = target.subscripts.iter().map(|s| self.expr(formula, s)).collect();
            let init = match target.init {
                Init::Fill(value) => format!(" from {}", scalar(value)),
                Init::Continue => String::new(),
            };
            let _ = writeln!(
                text,
                "    {}[{}] <- {}{init}",
                self.declared(target.output),
                subscripts.join(", "),
                self.expr(formula, &target.value)
            );
        }
        for finding in &formula.findings {
            let target = formula.targets.get(finding.target);
            let name = target.map_or("?".to_string(), |t| self.name(t.output));
            let message = self.message(Some(formula), &finding.message);
            let _ = writeln!(text, "    require no step in {name}: \"{message}\"");
        }
        text.push_str("  }\n");
    }

    fn expr(&self, formula: &Formula, expr: &Expr) -> String {
        self.scalar_expr(Some(formula), expr)
    }

    fn extent(&self, extent: &Extent) -> String {
        match (extent, self.symbol) {
            (Extent::Dynamic { expr, .. }, Some(symbol)) => expr.text(symbol),
            _ => extent.to_string(),
        }
    }

    /// `formula` is `None` for checks, which are outside of formulas.
    fn scalar_expr(&self, formula: Option<&Formula>, expr: &Expr) -> String {
        let list = |items: &[Expr]| {
            let texts: Vec<String> = items.iter().map(|i| self.scalar_expr(formula, i)).collect();
            texts.join(", ")
        };
        match &expr.node {
            Node::Literal(value) => scalar(*value),
            Node::Index(position) => {
                formula.and_then(|f| f.indices.get(*position)).map_or("?".to_string(), |i| i.name.clone())
            }
            Node::Local(position) => {
                formula.and_then(|f| f.locals.get(*position)).map_or("?".to_string(), |l| l.name.clone())
            }
            Node::Extent(extent) => self.extent(extent),
            Node::Access { tensor, subscripts } => {
                format!("{}[{}]", self.name(*tensor), list(subscripts))
            }
            Node::Table { items, index } => {
                let items: Vec<String> = items.iter().map(|s| scalar(*s)).collect();
                format!("table({})[{}]", items.join(", "), self.scalar_expr(formula, index))
            }
            Node::Apply { op, operands } => match (infix(*op), operands.as_slice()) {
                (Some(sign), [a, b]) => {
                    format!("({} {sign} {})", self.scalar_expr(formula, a), self.scalar_expr(formula, b))
                }
                _ => format!("{op:?}({})", list(operands)).to_lowercase_head(),
            },
            Node::Select { condition, then, otherwise } => format!(
                "({} ? {} : {})",
                self.scalar_expr(formula, condition),
                self.scalar_expr(formula, then),
                self.scalar_expr(formula, otherwise)
            ),
        }
    }
}

/// Converts variant names to function names, with a lower-case first letter.
trait LowercaseHead {
    fn to_lowercase_head(self) -> String;
}

impl LowercaseHead for String {
    fn to_lowercase_head(self) -> String {
        let mut characters = self.chars();
        match characters.next() {
            Some(first) => first.to_lowercase().collect::<String>() + characters.as_str(),
            None => String::new(),
        }
    }
}

/// The operator of a binary operation in the language.
pub(crate) fn infix(op: ScalarOp) -> Option<&'static str> {
    Some(match op {
        ScalarOp::Add => "+",
        ScalarOp::Sub => "-",
        ScalarOp::Mul => "*",
        ScalarOp::Div => "/",
        ScalarOp::CeilDiv => "\\",
        ScalarOp::Mod => "%",
        ScalarOp::Pow => "**",
        ScalarOp::Lt => "<",
        ScalarOp::Le => "<=",
        ScalarOp::Gt => ">",
        ScalarOp::Ge => ">=",
        ScalarOp::Eq => "==",
        ScalarOp::Ne => "!=",
        ScalarOp::And => "&&",
        ScalarOp::Or => "||",
        ScalarOp::Xor => "^",
        ScalarOp::Implies => "=>",
        _ => return None,
    })
}

fn word(kind: Accumulation) -> &'static str {
    match kind {
        Accumulation::Assign => "assign",
        Accumulation::Sum => "sum",
        Accumulation::Product => "product",
        Accumulation::All => "all",
        Accumulation::Any => "any",
        Accumulation::Min => "min",
        Accumulation::Max => "max",
        Accumulation::Replace => "replace",
    }
}

fn tensor(tensor: &TensorType) -> String {
    let extents: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
    format!("{}[{}]", tensor.kind.name(), extents.join(","))
}

fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        real @ Scalar::Real(_) => real.to_string(),
    }
}

/// The first elements of a constant; long constants are truncated.
fn constant(data: &ConstantData) -> String {
    const MAX_SHOWN: usize = 16;
    let (texts, length): (Vec<String>, usize) = match data {
        ConstantData::Splat(value) => return format!("splat {}", scalar(*value)),
        ConstantData::Bool(items) => {
            (items.iter().take(MAX_SHOWN).map(bool::to_string).collect(), items.len())
        }
        ConstantData::Int(items) => (items.iter().take(MAX_SHOWN).map(i64::to_string).collect(), items.len()),
        ConstantData::Real(items) => {
            (items.iter().take(MAX_SHOWN).map(|r| scalar(Scalar::Real(*r))).collect(), items.len())
        }
    };
    let more = if length > MAX_SHOWN { format!(", … {length} in all") } else { String::new() };
    format!("[{}{more}]", texts.join(", "))
}

fn attributes(attributes: &[(String, AttributeValue)]) -> String {
    if attributes.is_empty() {
        return String::new();
    }
    let texts: Vec<String> =
        attributes.iter().map(|(name, value)| format!("{name}={}", attribute(value))).collect();
    format!("{{{}}}", texts.join(", "))
}

fn attribute(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Null => "null".to_string(),
        AttributeValue::Unknown => "?".to_string(),
        AttributeValue::Bool(b) => b.to_string(),
        AttributeValue::Int(i) => i.to_string(),
        AttributeValue::Real(r) => scalar(Scalar::Real(*r)),
        AttributeValue::Str(s) => format!("{s:?}"),
        AttributeValue::List(items) => {
            let texts: Vec<String> = items.iter().map(attribute).collect();
            format!("[{}]", texts.join(", "))
        }
        AttributeValue::Run { value, .. } => value.to_string(),
    }
}
