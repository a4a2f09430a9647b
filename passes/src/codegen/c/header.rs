// SPDX-License-Identifier: Apache-2.0
//! The declarations of a program: parameters, constants, and the comment that states how to call the function.

use super::array::{Array, Number};
use super::element::Element;
use super::names::Names;
use super::weights::{offsets, table};
use super::writer::Writer;
use super::{Role, Weights, element, extents_owner, rank, receives_extents, with_role};
use crate::codegen::Interface;
use crate::error::CodegenError;
use crate::ir;
use melior::ir::OperationRef;
use skript_runtime::artifact::{ArenaLayout, Check, Port, PortExtent};
use std::fmt::Write as _;

pub(super) use skript_runtime::shared_object::in_comment;

/// A parameter of the function, or a member of its weights.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) role: Role,
    element: Element,
    /// The name in the model, and the extents; those of extents are their number.
    port: Port,
}

impl Parameter {
    /// Whether the parameter is a member of the weights.
    pub(super) fn is_weight(&self) -> bool {
        self.role == Role::Weight
    }

    fn is_constant(&self) -> bool {
        matches!(self.role, Role::Input | Role::Weight | Role::Extents)
    }

    /// The parameter as an array. Views have the extents.
    pub(super) fn array(&self) -> Array {
        Array {
            element: self.element,
            pointer: self.name.clone(),
            extents: Vec::new(),
            strides: vec![Number::Known(1)],
            is_constant: self.is_constant(),
        }
    }

    /// The type of the pointer.
    fn pointer(&self) -> String {
        let constant = if self.is_constant() { "const " } else { "" };
        format!("{constant}{} *", self.element.name())
    }

    /// The declaration of the local pointer to a weight.
    pub(super) fn weight_pointer(&self) -> String {
        format!("{}restrict {} = weights->{};", self.pointer(), self.name, self.name)
    }

    /// The number of elements, with upper bounds for dynamic extents.
    fn elements(&self) -> u64 {
        self.port.shape.iter().map(|extent| extent.bound()).product()
    }

    /// A line of the comment: the name, the type and the extents.
    fn described(&self) -> String {
        let extents = self.port.shape.iter().map(|extent| match extent {
            PortExtent::Fixed(extent) => extent.to_string(),
            PortExtent::Dynamic(bound) => format!("<= {bound}"),
        });
        let extents: Vec<String> = extents.collect();
        let tensor = in_comment(&self.port.name);
        let renamed = if tensor == self.name { String::new() } else { format!(" ({tensor})") };
        let narrow = if self.element.is_narrow_real() {
            format!(", bits of {}", self.port.element)
        } else {
            String::new()
        };
        format!("{}{renamed}: {}[{}]{narrow}", self.name, self.element.name(), extents.join(", "))
    }
}

/// The parameters of an entry in the order of its arguments, without the arena.
///
/// # Errors
/// [`CodegenError::Module`] if the entry does not have this interface.
pub(super) fn parameters(
    entry: OperationRef,
    interface: &Interface,
    names: &mut Names,
) -> Result<Vec<Parameter>, CodegenError> {
    let graph_outputs = interface.outputs.len().saturating_sub(interface.updates.len());
    let (outputs, updates) = interface.outputs.split_at(graph_outputs);
    let roles = [
        (Role::Input, &interface.inputs[..]),
        (Role::Weight, &interface.variables[..]),
        (Role::Output, outputs),
        (Role::Update, updates),
    ];
    let mut parameters: Vec<Parameter> = Vec::new();
    for (role, ports) in roles {
        for port in ports {
            let suffix = if role == Role::Update { "_next" } else { "" };
            let short = short(&port.name, role);
            let name = names.unique(&format!("{short}{suffix}"));
            parameters.push(Parameter {
                name,
                role,
                element: Element::from(port.element),
                port: port.clone(),
            });
        }
    }
    let dynamic: Vec<usize> = (interface.inputs.len() + interface.variables.len()..parameters.len())
        .filter(|n| parameters.get(*n).is_some_and(|parameter| parameter.port.is_dynamic()))
        .collect();
    let mut dynamic = dynamic.into_iter();
    let arguments = ir::arguments(ir::body(entry)?);
    for (number, argument) in arguments.iter().enumerate().skip(parameters.len()) {
        let (owner, role) = match extents_owner(entry, number) {
            Some(owner) => (Some(owner), Role::Extents),
            None if receives_extents(entry, number) => (dynamic.next(), Role::ResultExtents),
            None => break,
        };
        let owner = owner.and_then(|owner| parameters.get(owner));
        let owner = owner.ok_or_else(|| CodegenError::Module("extents of no argument".to_owned()))?;
        let name = names.unique(&format!("{}_extents", owner.name));
        let count = u64::try_from(rank(*argument));
        let count = count.map_err(|_| CodegenError::Module("extents of unknown rank".to_owned()))?;
        let port = Port { shape: vec![PortExtent::Fixed(count)], ..owner.port.clone() };
        parameters.push(Parameter { name, role, element: Element::Int(64), port });
    }
    Ok(parameters)
}

/// The name of a tensor without the graph, which is the prefix of the names of variables.
fn short(name: &str, role: Role) -> &str {
    match role {
        Role::Weight | Role::Update => name.rsplit('.').next().unwrap_or(name),
        _ => name,
    }
}

/// A program to write.
pub(super) struct Program<'p> {
    pub(super) graph: &'p str,
    pub(super) function: &'p str,
    pub(super) parameters: &'p [Parameter],
    pub(super) layout: ArenaLayout,
    pub(super) checks: Vec<Check>,
    pub(super) weights: Weights<'p>,
}

impl Program<'_> {
    fn in_role(&self, role: Role) -> impl Iterator<Item = &Parameter> {
        with_role(self.parameters, role)
    }

    fn has_weights(&self) -> bool {
        self.in_role(Role::Weight).next().is_some()
    }

    /// The text of the program.
    pub(super) fn text<'c: 'a, 'a>(&self, writer: &mut Writer<'c, 'a>) -> super::Program {
        let (body, used) = writer.finish();
        let mut source = String::from("#include <math.h>\n#include <string.h>\n\n");
        source.push_str(&writer.support.definitions(&body));
        for (_, _, table) in &writer.tables {
            let _ = writeln!(source, "{table}");
        }
        source.push_str(&self.embedded());
        let _ = writeln!(source, "{} {{", self.signature());
        let unused =
            |name: &str| if used.contains(name) { String::new() } else { format!("  (void){name};\n") };
        for parameter in self.parameters.iter().filter(|parameter| !parameter.is_weight()) {
            if parameter.role != Role::Extents {
                source.push_str(&unused(&parameter.name));
            }
        }
        if self.has_weights() {
            source.push_str(&unused("weights"));
        }
        source.push_str(&unused("workspace"));
        for parameter in self.in_role(Role::Extents) {
            source.push_str(&self.extents_check(parameter));
        }
        let _ = write!(source, "{body}  return 0;\n}}\n");
        let weights = match self.weights {
            Weights::File(tensors) => Some(super::weights::file(tensors)),
            _ => None,
        };
        super::Program { header: self.header(), source, weights }
    }

    /// The check that the extents of an input are within their upper bounds.
    fn extents_check(&self, extents: &Parameter) -> String {
        let owner = self.in_role(Role::Input).find(|input| input.port.name == extents.port.name);
        let shape = owner.map_or(&[][..], |owner| owner.port.shape.as_slice());
        let refusals = shape.iter().enumerate().map(|(dimension, extent)| match extent {
            PortExtent::Fixed(extent) => format!("{}[{dimension}] != {extent}", extents.name),
            PortExtent::Dynamic(bound) => {
                let item = format!("{}[{dimension}]", extents.name);
                format!("{item} < 0 || {item} > {bound}")
            }
        });
        let condition = refusals.collect::<Vec<_>>().join(" || ");
        format!("  if ({condition}) {{\n    return -1;\n  }}\n")
    }

    /// The head of the function.
    fn signature(&self) -> String {
        let mut items = Vec::new();
        let mut add = |role: Role| {
            for parameter in self.in_role(role) {
                items.push(format!("{}restrict {}", parameter.pointer(), parameter.name));
            }
        };
        add(Role::Input);
        add(Role::Extents);
        add(Role::Output);
        add(Role::ResultExtents);
        add(Role::Update);
        if self.has_weights() {
            items.push(format!("const struct {}_weights *weights", self.function));
        }
        items.push("void *restrict workspace".to_owned());
        let joined = items.join(", ");
        let joined = if joined.len() > 90 { format!("\n    {}", items.join(",\n    ")) } else { joined };
        format!("int {}({joined})", self.function)
    }

    fn header(&self) -> String {
        let function = self.function;
        let guard = format!("SKRIPT_{}_H", function.to_uppercase());
        let mut code = self.comment();
        let _ = write!(
            code,
            "#ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stdint.h>\n\n\
             /* The size and the alignment of the workspace in bytes. */\n\
             #define {function}_WORKSPACE_BYTES {}\n#define {function}_WORKSPACE_ALIGNMENT {}\n\n",
            self.layout.size.max(1).next_multiple_of(self.layout.alignment.max(1)),
            self.layout.alignment
        );
        code.push_str("/* Numbers of elements; upper bounds for arrays with dynamic extents. */\n");
        for role in [Role::Input, Role::Weight, Role::Output, Role::Update] {
            for parameter in self.in_role(role) {
                let _ = writeln!(code, "#define {function}_SIZE_{} {}", parameter.name, parameter.elements());
            }
        }
        code.push('\n');
        if self.has_weights() {
            let _ = writeln!(code, "/* The weights of the graph. */\nstruct {function}_weights {{");
            for parameter in self.in_role(Role::Weight) {
                let _ = writeln!(code, "  {}{};", parameter.pointer(), parameter.name);
            }
            code.push_str("};\n\n");
            code.push_str(&self.weights_declarations());
        }
        let _ = write!(code, "{};\n\n#endif\n", self.signature());
        code
    }

    /// The comment at the beginning of the header.
    fn comment(&self) -> String {
        let mut code = format!("/* The graph {}.\n *\n", in_comment(self.graph));
        let roles = [
            (Role::Input, "Inputs"),
            (Role::Weight, "Weights"),
            (Role::Output, "Outputs"),
            (Role::Update, "New values of weights that a call updates"),
        ];
        for (role, title) in roles {
            if self.in_role(role).next().is_some() {
                let _ = writeln!(code, " * {title}:");
            }
            for parameter in self.in_role(role) {
                let _ = writeln!(code, " *   {}", parameter.described());
            }
        }
        code.push_str(
            " *\n * Arrays are row-major and contiguous by their actual extents. No output overlaps other memory.\n",
        );
        if self.in_role(Role::Extents).next().is_some() {
            code.push_str(
                " * The caller passes the actual extents of each input with dynamic extents (<=).\n",
            );
        }
        if self.in_role(Role::ResultExtents).next().is_some() {
            code.push_str(
                " * An output with dynamic extents has memory for its upper bounds; the function writes its extents.\n",
            );
        }
        code.push_str(
            " * The workspace is memory from `aligned_alloc`; its contents are not used by the next call.\n",
        );
        code.push_str(" * The function returns 0");
        if self.in_role(Role::Extents).next().is_some() {
            code.push_str(", -1 if an extent exceeds its upper bound");
        }
        if self.checks.is_empty() {
            code.push_str(".\n");
        } else {
            code.push_str(", or the number of the run-time check that failed:\n");
        }
        for (number, check) in self.checks.iter().enumerate() {
            let message = in_comment(&format!("{}, {}", check.code, check.message));
            let _ = writeln!(code, " *   {}: {message}", number + 1);
        }
        code.push_str(" */\n");
        code
    }

    /// The declarations of weights that the program contains or that are in a file.
    fn weights_declarations(&self) -> String {
        let function = self.function;
        match self.weights {
            Weights::Arguments => String::new(),
            Weights::Inline(_) => format!(
                "/* The weights of the model. */\nextern const struct {function}_weights {function}_constants;\n\n"
            ),
            Weights::File(tensors) => {
                let bytes = offsets(tensors).1;
                format!(
                    "/* The size of the file of weights. */\n#define {function}_WEIGHTS_BYTES {bytes}\n\n\
                     /* The weights in the contents of the file, which are aligned to 64 bytes. */\n\
                     struct {function}_weights {function}_bind(const void *contents);\n\n"
                )
            }
        }
    }

    /// The definitions of weights that the program contains or that are in a file.
    fn embedded(&self) -> String {
        let function = self.function;
        let mut code = String::new();
        let mut members = String::new();
        match self.weights {
            _ if !self.has_weights() => return code,
            Weights::Arguments => return code,
            Weights::Inline(tensors) => {
                for (parameter, tensor) in self.in_role(Role::Weight).zip(tensors) {
                    let (name, element) = (&parameter.name, parameter.element);
                    let items = element::literals(tensor.bytes(), element);
                    let array = format!("{function}_weight_{name}");
                    let _ = writeln!(code, "{}", table(element.name(), &array, &items));
                    let _ = writeln!(members, "  .{name} = {array},");
                }
                let _ = writeln!(
                    code,
                    "const struct {function}_weights {function}_constants = {{\n{members}}};\n"
                );
            }
            Weights::File(tensors) => {
                for (parameter, offset) in self.in_role(Role::Weight).zip(offsets(tensors).0) {
                    let pointer = parameter.pointer();
                    let _ = writeln!(members, "    .{} = ({pointer})(bytes + {offset}),", parameter.name);
                }
                let _ = writeln!(
                    code,
                    "struct {function}_weights {function}_bind(const void *contents) {{\n  \
                     const unsigned char *bytes = contents;\n  \
                     return (struct {function}_weights){{\n{members}  }};\n}}\n"
                );
            }
        }
        code
    }
}
