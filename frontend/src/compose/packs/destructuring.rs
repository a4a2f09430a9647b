// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length on the right of `[a, b.., (e, f)..] = …` (2.9, 2.10): the items of each name.

use skript_semantics::ScalarOp;

use crate::ast::{TargetItem, UsingItem, UsingListItem};
use crate::compose::composer::{Composed, Composer};
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::Code;
use crate::diagnostics::codes::{LIMIT_EXCEEDED, PACK_LENGTHS_DIFFER, RESULTS_MISMATCH};
use crate::eval::ranges::extent_expr;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::count;
use crate::eval::{Atom, Demand, DynamicPack, PackPart, PackSlice, Series, TensorRef, Value, runtime};
use crate::model::{Expr, Extent, MessagePart};
use crate::program::Edition;
use crate::source::Span;

/// An item of the left side.
struct Share {
    /// The number of names that receive its items in turn; 1 for a name that receives all.
    names: usize,
    /// Whether they are packs.
    packed: bool,
    /// The number of its items; `None`: the rest.
    length: Option<usize>,
}

/// The position of an item.
#[derive(Clone)]
struct Position {
    location: Expr,
    /// An index, counted from the end for items after the rest.
    index: i64,
}

/// The items that a name receives.
enum Taken {
    One(Position),
    Several(Vec<Position>),
    Rest(PackSlice),
}

impl<'p> Composer<'p, '_> {
    /// `[a, b.., (e, f)..] = value` of a `@using` line.
    pub(crate) fn split_series(
        &self,
        builder: &Builder<'p>,
        items: &[UsingListItem],
        series: &Series,
        span: Span,
    ) -> EvalResult<Vec<(String, Value)>> {
        let mut shares = Vec::with_capacity(items.len());
        for item in items {
            let (names, pack) = match item {
                UsingListItem::Item(UsingItem { pack, .. }) => (1, pack.as_ref()),
                UsingListItem::Omitted(_) => (1, None),
                UsingListItem::Zip { names, pack, .. } => (names.len(), Some(pack)),
            };
            let length = match pack {
                Some(pack) => self.hinted(builder, pack)?,
                None => Some(1),
            };
            shares.push(Share {
                names,
                packed: pack.is_some(),
                length: length.map(|n| n.saturating_mul(names)),
            });
        }
        let apart = taken_apart(&shares, &series.length, &PACK_LENGTHS_DIFFER, span);
        let Some((taken, demands)) = apart else {
            return stop(&PACK_LENGTHS_DIFFER, span, SEVERAL);
        };
        for demand in demands {
            builder.demands.push(demand);
        }
        let mut parts = Vec::new();
        for (item, taken) in items.iter().zip(taken) {
            let names: Vec<&str> = match item {
                UsingListItem::Item(item) => vec![&item.name.name],
                UsingListItem::Omitted(_) => Vec::new(),
                UsingListItem::Zip { names, .. } => names.iter().map(|n| &*n.name).collect(),
            };
            for (name, taken) in names.into_iter().zip(taken) {
                let at = |position: &Position| Atom::from_expr(series.at(&position.location));
                let value = match taken {
                    Taken::One(position) => Some(Value::Atom(at(&position))),
                    Taken::Several(positions) => Some(Value::pack(positions.iter().map(at).collect())),
                    Taken::Rest(locations) => {
                        let rest =
                            Series::of(locations.length.clone(), |i| Some(series.at(&locations.at(i)?)));
                        rest.map(Series::into_value)
                    }
                };
                match value {
                    Some(value) => parts.push((name.to_string(), value)),
                    None => {
                        let message = "the items of this pack are too long to be written out";
                        return stop(&LIMIT_EXCEEDED, span, message);
                    }
                }
            }
        }
        Ok(parts)
    }

    /// `[a, b.., (e, f)..] = xs;` of a composition with a part that receives the rest; otherwise the number of items by
    /// `lengths`.
    pub(crate) fn assign_rest(
        &mut self,
        builder: &mut Builder<'p>,
        (items, lengths): (&[TargetItem], &[Option<usize>]),
        stack: &TensorRef,
        span: Span,
    ) -> Composed<()> {
        let total = stack.tensor.shape.first().map_or(Expr::int(0), extent_expr);
        let shares = items.iter().zip(lengths).map(|(item, length)| {
            let (names, packed) = match item {
                TargetItem::Omitted(_) => (1, false),
                TargetItem::Name { pack, .. } => (1, pack.is_some()),
                TargetItem::Zip { names, .. } => (names.len(), true),
            };
            let length = *length;
            Share { names, packed, length }
        });
        let shares: Vec<Share> = shares.collect();
        let known: usize = lengths.iter().flatten().sum();
        let most = stack.tensor.shape.first().map_or(0, Extent::bound);
        if u64::try_from(known).map_or(true, |n| n > most) {
            let message =
                format!("the pack has at most {most} items, but the left side has at least {known}");
            return Err(self.error(&RESULTS_MISMATCH, span, message));
        }
        let apart = taken_apart(&shares, &total, &RESULTS_MISMATCH, span);
        let Some((taken, demands)) = apart else {
            return Err(self.error(&RESULTS_MISMATCH, span, SEVERAL));
        };
        for (item, taken) in items.iter().zip(taken) {
            let (names, spec) = match item {
                TargetItem::Omitted(_) => (Vec::new(), None),
                TargetItem::Name { name, type_spec, .. } => (vec![name], type_spec.as_ref()),
                TargetItem::Zip { names, .. } => (names.iter().collect(), None),
            };
            for (name, taken) in names.into_iter().zip(taken) {
                let mut one = |this: &mut Self, position: Position| {
                    this.item_of(builder, stack, &Atom::Int(position.index), span)
                };
                let value = match taken {
                    Taken::One(position) => Value::Atom(one(self, position)?),
                    Taken::Several(positions) => {
                        let items = positions.into_iter().map(|position| one(self, position));
                        Value::pack(items.collect::<Composed<Vec<Atom>>>()?)
                    }
                    Taken::Rest(locations) => {
                        let row = DynamicPack {
                            parts: vec![PackPart::Pack(stack.clone(), locations)],
                            demands: demands.clone(),
                        };
                        Value::Atom(self.concatenated(builder, &row, span)?)
                    }
                };
                self.set_name(builder, name, spec, value)?;
            }
        }
        Ok(())
    }
}

/// The error for an invalid left side.
const SEVERAL: &str = "several packs on the left side have no length, so their items are not determined: write `..(n)` after all but one";

/// The items that each name receives, and the run-time checks. `None` if several parts receive the rest, or positions
/// exceed 64 bits.
fn taken_apart(
    shares: &[Share],
    total: &Expr,
    code: &'static Code,
    span: Span,
) -> Option<(Vec<Vec<Taken>>, Vec<Demand>)> {
    let operation =
        |op, a: &Expr, b: &Expr| runtime::operation(op, vec![a.clone(), b.clone()], Edition::Draft6);
    let known: usize = shares.iter().filter_map(|share| share.length).sum();
    let open = shares.iter().filter(|share| share.length.is_none()).count();
    if open > 1 {
        return None;
    }
    let number = |n: usize| Expr::int(count(n));
    let (compared, least) = match open {
        0 => (ScalarOp::Eq, ""),
        _ => (ScalarOp::Ge, "at least "),
    };
    let mut demands = vec![Demand {
        condition: runtime::compare(compared, total.clone(), number(known)),
        message: vec![
            MessagePart::Text("the pack has ".to_string()),
            MessagePart::Value(total.clone()),
            MessagePart::Text(format!(" items, but the left side has {least}{known}")),
        ],
        code,
        span,
    }];
    let rest = operation(ScalarOp::Sub, total, &number(known))?;
    let mut taken = Vec::with_capacity(shares.len());
    let mut from = Expr::int(0);
    let mut index = 0i64;
    for share in shares {
        let each = share.names.max(1);
        let Some(length) = share.length else {
            if each > 1 {
                let left = operation(ScalarOp::Mod, &rest, &number(each))?;
                demands.push(Demand {
                    condition: runtime::compare(ScalarOp::Eq, left, Expr::int(0)),
                    message: vec![
                        MessagePart::Value(rest.clone()),
                        MessagePart::Text(format!(" items cannot be dealt to {each} packs")),
                    ],
                    code,
                    span,
                });
            }
            let dealt = (0..each).map(|offset| {
                Some(Taken::Rest(PackSlice {
                    from: operation(ScalarOp::Add, &from, &number(offset))?,
                    step: count(each),
                    length: operation(ScalarOp::Div, &rest, &number(each))?,
                }))
            });
            taken.push(dealt.collect::<Option<Vec<Taken>>>()?);
            from = operation(ScalarOp::Add, &from, &rest)?;
            index = index.checked_sub(count(known))?;
            continue;
        };
        let positions = (0..length).map(|p| {
            Some(Position {
                location: operation(ScalarOp::Add, &from, &number(p))?,
                index: index.checked_add(count(p))?,
            })
        });
        let positions: Vec<Position> = positions.collect::<Option<_>>()?;
        let dealt = (0..each).map(|offset| {
            let mut own = positions.iter().skip(offset).step_by(each).cloned();
            if share.packed { Some(Taken::Several(own.collect())) } else { own.next().map(Taken::One) }
        });
        taken.push(dealt.collect::<Option<Vec<Taken>>>()?);
        from = operation(ScalarOp::Add, &from, &number(length))?;
        index = index.checked_add(count(length))?;
    }
    Some((taken, demands))
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires};
    use crate::diagnostics::codes::{PACK_LENGTHS_DIFFER, RESULTS_MISMATCH};

    /// A graph that destructures a pack of up to five tensors.
    fn graph(statement: &str) -> String {
        format!(
            "graph G {{ @input {{ xs: real[2]..(s|5); }} @output {{ y: real[2]; zs: real[2]..(k|5); }} @compose {{ {statement} }} }}"
        )
    }

    /// An operator whose helper destructures an attribute of up to five items.
    fn helper(line: &str) -> String {
        format!(
            "operator o {{ @attrib {{ p: int..(n); }} @input {{ x: real[m]; }} @using {{ {line} }} @output {{ y: real[m]; }} \
             @lower {{ y[i,] = x[i,] + real(a + (b + ..)), i < m; }} }} \
             graph G {{ @input {{ x: real[2]; z: real[s|5]; }} @output {{ y: real[2]; }} @compose {{ y = o{{p=[0:s]}}(x); }} }}"
        )
    }

    #[test]
    fn s2_10_a_pack_of_run_time_length_is_split() {
        assert_composes(&graph("[y, zs..] = xs;"));
        assert_composes(&graph("[zs.., y] = xs;"));
        assert_composes(&graph("[~, a..(2), zs.., y] = xs;"));
        assert_composes(&graph("[(a, b)..] = xs; zs = b; y = a[0];"));
        // More items than the bound, and two parts of unknown length.
        assert_fires(&RESULTS_MISMATCH, &graph("[a..(6), zs..] = xs; y = a[0];"));
        assert_fires(&RESULTS_MISMATCH, &graph("[a.., zs..] = xs; y = a[0];"));
    }

    #[test]
    fn s2_9_helpers_split_packs_of_run_time_length() {
        assert_composes(&helper("[a, b..] = p;"));
        assert_composes(&helper("[b.., ~, a] = p;"));
        assert_composes(&helper("[(c, b)..] = p; a = c[0];"));
        assert_composes(&helper("[~, b..(2), c.., a] = p;"));
        assert_fires(&PACK_LENGTHS_DIFFER, &helper("[a, b..(5)] = p;"));
        assert_fires(&PACK_LENGTHS_DIFFER, &helper("[c.., b..] = p; a = c[0];"));
    }
}
