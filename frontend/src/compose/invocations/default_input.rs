// SPDX-License-Identifier: Apache-2.0
//! Inputs without an argument, which have their default value (2.6).

use crate::ast::{Declaration, Expr, ExprKind, ExtentSpec};
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::declarations::tensors::set_tensors;
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::coercion::coerced;
use crate::compose::shapes::affine_extent::Bound;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ARGUMENT_KIND, SHAPE_NOT_BOUND};
use crate::eval::value::count;
use crate::eval::{Atom, TypeName, Value};
use crate::model::ConstantData;
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    /// An extent that is unknown if the input has its default value, which is one number without a shape.
    pub(crate) fn unknown_extent_of_default<'d>(
        builder: &Builder<'p>,
        input: &'d Declaration,
    ) -> Option<&'d ExtentSpec> {
        input.default.as_ref()?;
        // A list determines its length.
        let length = input.type_spec.pack.as_ref();
        let length = length.and_then(|pack| pack.length.as_ref());
        let is_known =
            |name: &String| length.is_some_and(|e| matches!(&e.kind, ExprKind::Name(n) if n.name == *name));
        let is_unknown = |expr: &Expr| !Self::unknown_names(builder, expr).iter().all(is_known);
        let mut extents = input.type_spec.shape.iter().flatten();
        extents.find(|spec| {
            let length = spec.pack.as_ref().and_then(|pack| pack.length.as_ref());
            spec.extent.as_ref().is_none_or(is_unknown) || length.is_some_and(is_unknown)
        })
    }

    pub(crate) fn report_unknown_extent(
        &mut self,
        input: &Declaration,
        extent: &ExtentSpec,
        invocation: Span,
    ) -> Reported {
        let name = &input.name.name;
        let text = self.source_text(extent.span);
        let message = format!(
            "nothing determines the extent `{text}` of input `{name}`, which has its default value because no tensor is passed"
        );
        let diagnostic = Diagnostic::error(&SHAPE_NOT_BOUND, extent.span, message)
            .with_label_at(invocation, "invoked here");
        self.report(diagnostic.with_help(format!(
            "a default is one number and has no shape: pass `{name}`, or declare an extent that attributes or other inputs determine"
        )))
    }

    /// Constants of this function, each uniform over the declared shape (errata 26).
    pub(crate) fn default_input(
        &mut self,
        builder: &mut Builder<'p>,
        input: &Declaration,
        default: &Expr,
    ) -> Composed<()> {
        let kind = self.tensor_kind(builder, &input.type_spec.base)?;
        let value = builder.evaluator(self.limits).eval(default);
        let value = value.map_err(|s| self.failed(s))?;
        let Some(value) = coerced(&value, TypeName::Scalar(kind)) else {
            return Err(self.error(
                &ARGUMENT_KIND,
                default.span,
                format!("the default of input `{}` must be {}", input.name.name, kind.name()),
            ));
        };
        let atoms = self.default_items(builder, input, &value, default)?;
        let tensors = self.declared_tensors(builder, input, atoms.len())?;
        let mut items = Vec::with_capacity(atoms.len());
        for (tensor, atom) in tensors.into_iter().zip(&atoms) {
            let Some(scalar) = atom.scalar() else {
                return Err(Reported);
            };
            let value = builder.value(Some(input.name.name.clone()), tensor, input.name.span);
            let data = ConstantData::Splat(scalar);
            builder.function.constants.push((value.id, data));
            items.push(Atom::Tensor(value));
        }
        let packed = input.type_spec.pack.is_some();
        set_tensors(builder, &input.name.name, items, packed);
        Ok(())
    }

    /// Records the default of an input that is given in its place, if bound names determine it.
    pub(crate) fn replaced_default(&mut self, builder: &Builder<'p>, input: &Declaration) {
        let Some(default) = &input.default else {
            return;
        };
        let Ok(kind) = self.tensor_kind(builder, &input.type_spec.base) else {
            return;
        };
        let value = builder.evaluator(self.limits).eval(default).ok();
        let value = value.and_then(|value| coerced(&value, TypeName::Scalar(kind)));
        let numbers = value.map(|value| value.atoms().iter().map(Atom::scalar).collect());
        if let Some(Some(numbers)) = numbers {
            let name = input.name.name.clone();
            self.defaults.retain(|(own, _)| *own != name);
            self.defaults.push((name, numbers));
        }
    }

    /// One number for each tensor: a list has the declared length or determines it; a single number is repeated to a
    /// known length.
    fn default_items(
        &mut self,
        builder: &mut Builder<'p>,
        input: &Declaration,
        value: &Value,
        default: &Expr,
    ) -> Composed<Vec<Atom>> {
        let items = value.atoms().to_vec();
        let Some(pack) = &input.type_spec.pack else {
            return Ok(items);
        };
        if let (Value::Pack(_), length) = (value, &pack.length) {
            if let Some(length) = length {
                let what = format!("the length of the default of input `{}`", input.name.name);
                let location = default.span;
                let bound = Bound { what: &what, location };
                self.unify(builder, length, &Value::int(count(items.len())), &bound)?;
            }
            return Ok(items);
        }
        let length = self.declared_length(builder, input)?;
        Ok(items.first().into_iter().cloned().cycle().take(length.unwrap_or(1)).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::{assert_fires, composed, composed_with};
    use crate::diagnostics::codes::{EXTENT_MISMATCH, SHAPE_NOT_BOUND};
    use crate::limits::Limits;
    use crate::model::shape_text;

    fn document(declaration: &str) -> String {
        format!(
            "operator o {{ @attrib {{ k: int = 2; }} @input {{ x: real[]; xs: real[]..{declaration}; }} \
             @output {{ y: real[]; n: real[]; }} @using {{ c = real(xs.size); }} @lower {{ y[] = xs[] + ..; n[] = c; }} }} \
             graph G {{ @input {{ x: real[]; }} @output {{ y: real[]; n: real[]; }} @compose {{ y, n = o(x); }} }}"
        )
    }

    /// The number of constants of the operator.
    fn constants(declaration: &str) -> usize {
        let model = composed(&document(declaration)).unwrap();
        model.functions.iter().map(|f| f.constants.len()).sum()
    }

    #[test]
    fn s2_6_defaults_of_packs_have_a_value_for_each_tensor() {
        assert_eq!(constants("(2) = [1.0, 2.0]"), 2);
        assert_eq!(constants("(c) = [1.0, 2.0, 3.0]"), 3);
        assert_eq!(constants(" = [1.0, 2.0, 3.0]"), 3);
        // One for all.
        assert_eq!(constants("(4) = 1.0"), 4);
        assert_eq!(constants("(k) = 1.0"), 2);
    }

    /// The extents of the main graph's inputs without null ones.
    fn inputs(declarations: &str, given: &[&str]) -> Result<Vec<String>, Vec<&'static str>> {
        let text = format!(
            "graph G {{ @input {{ {declarations} }} @output {{ y: real[~]; }} @compose {{ y = d; }} }}"
        );
        let options = ComposeOptions {
            given_inputs: given.iter().map(|name| (*name).to_string()).collect(),
            ..ComposeOptions::default()
        };
        let model = composed_with(&text, &options, &Limits::default());
        let model = model.map_err(|found| found.iter().map(|d| d.code.id).collect::<Vec<_>>())?;
        let entry = model.function(model.entry).unwrap();
        let values = entry.inputs.iter().flat_map(|port| port.tensors.values());
        let shapes = values.map(|id| &entry.values[id.0 as usize].tensor);
        Ok(shapes.map(|t| shape_text(&t.shape)).collect())
    }

    #[test]
    fn s2_6_defaults_of_the_main_graph_are_replaced_by_what_is_given() {
        let known = "x: real[n|4]; d: real[n] = 2.0;";
        assert_eq!(inputs(known, &[]).unwrap(), ["[n|4]"]);
        assert_eq!(inputs(known, &["d"]).unwrap(), ["[n|4]", "[n|4]"]);
        // Extents that a later input determines.
        let before = "d: real[n] = 2.0; x: real[n|4];";
        assert_eq!(inputs(before, &[]).unwrap(), ["[n|4]"]);
        assert_eq!(inputs(before, &["d"]).unwrap(), ["[n|4]", "[n|4]"]);
    }

    #[test]
    fn s2_6_defaults_tell_no_extents() {
        for own in ["d: real[m|4] = 2.0;", "d: real[~|4] = 2.0;", "d: real[m] = 2.0;"] {
            assert_eq!(inputs(own, &[]).unwrap_err(), [SHAPE_NOT_BOUND.id], "{own}");
        }
        assert_eq!(inputs("d: real[m|4] = 2.0;", &["d"]).unwrap(), ["[m|4]"]);
    }

    #[test]
    fn s2_6_defaults_of_packs_have_the_declared_length() {
        assert_fires(&EXTENT_MISMATCH, &document("(2) = [1.0, 2.0, 3.0]"));
        assert_fires(&EXTENT_MISMATCH, &document("(k) = [1.0, 2.0, 3.0]"));
    }
}
