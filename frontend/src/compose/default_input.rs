//! Inputs that are not given and take their defaults (2.6).

use super::affine_extent::Bound;
use super::coercion::coerced;
use super::composer::{Composed, Composer, Reported};
use super::declare::set_tensors;
use super::instantiate::Builder;
use crate::ast::{Declaration, Expr};
use crate::diagnostics::codes::ARGUMENT_KIND;
use crate::eval::evaluator::count;
use crate::eval::{Atom, TypeName, Value};
use crate::model::ConstantData;

impl<'p> Composer<'p, '_> {
    /// Constants of this function, each uniform over the declared shape (errata 26).
    pub fn default_input(
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
                format!(
                    "the default of input `{}` must be {}",
                    input.name.name,
                    kind.name()
                ),
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

    /// One number for each tensor: a list has the declared length, or tells it; a single number serves all of a known length.
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
                let place = default.span;
                let bound = Bound { what: &what, place };
                self.unify(builder, length, &Value::int(count(items.len())), &bound)?;
            }
            return Ok(items);
        }
        let length = self.declared_length(builder, input)?;
        let single = items.first().into_iter().cloned();
        Ok(single.cycle().take(length.unwrap_or(1)).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_fires, composed};
    use crate::diagnostics::codes::EXTENT_MISMATCH;

    fn document(declaration: &str) -> String {
        format!(
            "operator o {{ @attrib {{ k: int = 2; }} @input {{ x: real[]; xs: real[]..{declaration}; }} \
             @output {{ y: real[]; n: real[]; }} @using {{ c = real(xs.size); }} @lower {{ y[] = xs[] + ..; n[] = c; }} }} \
             graph G {{ @input {{ x: real[]; }} @output {{ y: real[]; n: real[]; }} @compose {{ y, n = o(x); }} }}"
        )
    }

    /// How many constants the operator has.
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

    #[test]
    fn s2_6_defaults_of_packs_have_the_declared_length() {
        assert_fires(&EXTENT_MISMATCH, &document("(2) = [1.0, 2.0, 3.0]"));
        assert_fires(&EXTENT_MISMATCH, &document("(k) = [1.0, 2.0, 3.0]"));
    }
}
