// SPDX-License-Identifier: Apache-2.0
//! Inserts operations from MLIR text.

use crate::ir;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Module, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;

/// Text under construction. Every line with a result defines a new name.
#[derive(Default)]
pub struct Lines {
    text: String,
    next: usize,
}

impl Lines {
    /// Appends `%vN = rhs` and returns `%vN`.
    pub fn value(&mut self, rhs: impl AsRef<str>) -> String {
        let name = format!("%v{}", self.next);
        self.next += 1;
        self.line(format!("{name} = {}", rhs.as_ref()));
        name
    }

    /// Appends `%vN:count = rhs` and returns the names of the results.
    pub fn values(&mut self, count: usize, rhs: impl AsRef<str>) -> Vec<String> {
        let name = format!("%v{}", self.next);
        self.next += 1;
        if count == 1 {
            self.line(format!("{name} = {}", rhs.as_ref()));
            return vec![name];
        }
        self.line(format!("{name}:{count} = {}", rhs.as_ref()));
        (0..count).map(|n| format!("{name}#{n}")).collect()
    }

    /// A new name for a value that a line defines.
    pub fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next - 1)
    }

    /// Appends one or more lines.
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Takes all lines so far. Later names differ from the names in these lines.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// The text of all lines.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The result of [`splice`].
pub struct Spliced<'c, 'a> {
    /// The requested values.
    pub values: Vec<Value<'c, 'a>>,
    /// The operations, in order, without nested ones.
    pub operations: Vec<OperationRef<'c, 'a>>,
}

/// Inserts the operations of `text` before `at`, with its location. The text refers to operands as `%0`, `%1`, …. Returns
/// the values with the names and types in `results`.
///
/// # Errors
/// The text does not parse, which is an internal error of the caller.
pub fn splice<'c: 'a, 'a>(
    at: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    text: &str,
    results: &[(String, String)],
) -> Result<Spliced<'c, 'a>, PassError> {
    let location = at.location();
    let arguments: Vec<String> =
        operands.iter().enumerate().map(|(n, v)| format!("%{n}: {}", v.r#type())).collect();
    let types: Vec<&str> = results.iter().map(|r| r.1.as_str()).collect();
    let names: Vec<&str> = results.iter().map(|r| r.0.as_str()).collect();
    let colon = if names.is_empty() { "" } else { " : " };
    let source = format!(
        "func.func private @t({}) -> ({types}) {{\n{text}\nreturn {}{colon}{types}\n}}",
        arguments.join(", "),
        names.join(", "),
        types = types.join(", "),
    );
    // SAFETY: a context outlives its modules.
    let owner = location.context();
    let context = unsafe { owner.to_ref() };
    let (parsed, messages) = ir::collecting(context, || Module::parse(context, &source));
    let parsed = parsed.ok_or_else(|| {
        // Without the locations: users do not have the generated text.
        let reasons = messages.iter().map(|m| m.split_once("): ").map_or(m.as_str(), |m| m.1));
        PassError::from(format!(
            "internal compiler error: {}",
            reasons.filter_map(|m| m.lines().next()).collect::<Vec<_>>().join("; ")
        ))
    })?;
    insert(&parsed, at, operands)
}

/// Moves the operations of the first function of a module before `at`, with its location. The operands replace the arguments of the
/// function. Returns the values that the function returns.
///
/// # Errors
/// The module has no such function.
pub fn insert<'c: 'a, 'a>(
    module: &Module<'c>,
    at: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
) -> Result<Spliced<'c, 'a>, PassError> {
    let block = at.block().ok_or("an operation outside of a block")?;
    let location = at.location();
    let function = ir::operations(module.body()).first().copied();
    let body = ir::body(function.ok_or("a module without functions")?)?;
    for (n, operand) in operands.iter().enumerate() {
        ir::replace_uses(body.argument(n)?.into(), *operand);
    }
    let operations = ir::operations(body);
    let (terminator, others) = operations.split_last().ok_or("a function without a terminator")?;
    // SAFETY: the values live on in the block that receives the operations.
    let values = terminator.operands().map(|v| unsafe { Value::from_raw(v.to_raw()) }).collect();
    let mut moved = Vec::new();
    for op in others {
        // SAFETY: the operation moves from the module to the block, which then owns it; the remaining terminator refers to
        // it only until the module is dropped.
        unsafe {
            let raw = op.to_raw();
            mlir_sys::mlirOperationRemoveFromParent(raw);
            mlir_sys::mlirBlockInsertOwnedOperationBefore(block.to_raw(), at.to_raw(), raw);
            mlir_sys::mlirOperationSetLocation(raw, location.to_raw());
            moved.push(OperationRef::from_raw(raw));
        }
    }
    Ok(Spliced { values, operations: moved })
}
