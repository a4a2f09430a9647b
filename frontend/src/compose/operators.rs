// SPDX-License-Identifier: Apache-2.0
//! The definitions of a program by module and name.

use crate::ast::{Definition, DefinitionKind, Path};
use crate::model::FunctionRole;
use crate::program::{Origin, Program};

/// A definition with its module.
#[derive(Clone, Copy)]
pub(crate) struct OperatorRef<'p> {
    pub definition: &'p Definition,
    pub module: &'p str,
}

impl<'p> OperatorRef<'p> {
    pub(crate) fn key(&self) -> (&'p str, &'p str) {
        (self.module, &self.definition.name.name)
    }

    pub(crate) fn role(&self) -> FunctionRole {
        match self.definition.kind {
            DefinitionKind::Graph => FunctionRole::Graph,
            DefinitionKind::Operator => FunctionRole::Operator,
        }
    }
}

/// All definitions of a program; the first one of each name.
pub(crate) struct OperatorTable<'p> {
    program: &'p Program,
}

impl<'p> OperatorTable<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        OperatorTable { program }
    }

    /// The operator that `path` names inside the module with key `from`.
    pub(crate) fn lookup(&self, from: &str, path: &Path) -> Option<OperatorRef<'p>> {
        let (last, qualifiers) = path.parts.split_last()?;
        let module = if qualifiers.is_empty() {
            from
        } else {
            let parts: Vec<&str> = qualifiers.iter().map(|p| p.name.as_str()).collect();
            self.program.resolve(from, &parts.join("."))?.0
        };
        let (module, definition) = self.program.definition(module, &last.name)?;
        Some(OperatorRef { definition, module })
    }

    /// `nn.conv`, with the module's dotted name.
    pub(crate) fn qualified(&self, operator: &OperatorRef) -> String {
        let module = self.program.modules.get(operator.module).map_or(operator.module, |m| m.name.as_str());
        format!("{module}.{}", operator.definition.name.name)
    }

    /// The name in diagnostics: without a module for definitions of the main module.
    pub(super) fn displayed(&self, operator: &OperatorRef) -> String {
        let is_main = operator.module == self.program.main;
        if is_main && self.program.origin(operator.module) != Origin::Library {
            operator.definition.name.name.clone()
        } else {
            self.qualified(operator)
        }
    }
}
