// SPDX-License-Identifier: Apache-2.0
//! What a rule sees of a node, and what it adds to the composition.

use skript_tensor::ElementType;
use std::cell::RefCell;

use crate::dependence::unknown;
use crate::extent::{Atom, Extent};
use crate::importer::Importer;
use crate::literals::real_text;
use crate::proto::{AttributeProto, GraphProto, NodeProto};
use crate::refusal::{Reason, Refusal, Ruled, overflow};
use crate::statement::{Argument, Body, Statement};
use crate::value::{Item, Value, extents, numbers, reals, width};

/// A type of a result.
pub type Type = (ElementType, Vec<Extent>);

/// A node whose rule runs.
pub struct Call<'i> {
    pub importer: &'i mut Importer,
    pub node: NodeProto,
    pub inputs: Vec<Option<Value>>,
    pub results: Vec<Option<Value>>,
    /// The version of the operator set.
    pub opset: i64,
    /// The first attribute whose type isn't the one that the rule asked for.
    pub mistyped: RefCell<Option<String>>,
}

/// Types of attributes, by their numbers in a model.
const TYPES: [(i32, &str); 8] = [
    (FLOAT, "a float"),
    (INT, "an int"),
    (STRING, "a string"),
    (4, "a tensor"),
    (5, "a graph"),
    (FLOATS, "floats"),
    (INTS, "ints"),
    (STRINGS, "strings"),
];
const FLOAT: i32 = 1;
const INT: i32 = 2;
const STRING: i32 = 3;
const FLOATS: i32 = 6;
const INTS: i32 = 7;
const STRINGS: i32 = 8;

impl Call<'_> {
    /// Tries a conversion. If it is refused, what it reported is returned, and nothing of it is left.
    pub fn attempt<T>(
        &mut self,
        convert: impl FnOnce(&mut Self) -> Ruled<T>,
    ) -> Result<T, (Reason, Vec<Refusal>)> {
        let (statements, refused) = (self.importer.statements.len(), self.importer.refused.clone());
        let (before, selecting) = (self.importer.refusals.len(), self.importer.selecting.len());
        convert(self).map_err(|reason| {
            self.importer.statements.truncate(statements);
            self.importer.selecting.truncate(selecting);
            self.importer.refused = refused;
            (reason, self.importer.refusals.split_off(before))
        })
    }

    fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.node.attribute.iter().find(|a| a.name == name)
    }

    /// An attribute that must have a type; 0 is that of models which do not say.
    fn typed(&self, name: &str, kind: i32) -> Option<&AttributeProto> {
        let attribute = self.attribute(name)?;
        if ![0, kind].contains(&attribute.kind) {
            let text = |number| TYPES.iter().find(|row| row.0 == number).map(|row| row.1);
            let (found, wanted) = (text(attribute.kind), text(kind));
            let (found, wanted) = (found.unwrap_or("of another type"), wanted.unwrap_or(""));
            let text = format!("the attribute `{name}` is {found}, the operator takes {wanted}");
            self.mistyped.borrow_mut().get_or_insert(text);
        }
        Some(attribute)
    }

    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.typed(name, INT).map_or(default, |a| a.i)
    }

    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.int(name, i64::from(default)) != 0
    }

    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.typed(name, INTS).map(|a| a.ints.clone())
    }

    pub fn float(&self, name: &str, default: f32) -> f32 {
        self.typed(name, FLOAT).map_or(default, |a| a.f)
    }

    pub fn string(&self, name: &str, default: &str) -> String {
        let text = self.typed(name, STRING).map(|a| String::from_utf8_lossy(&a.s).into_owned());
        text.unwrap_or_else(|| default.to_owned())
    }

    pub fn strings(&self, name: &str) -> Option<Vec<String>> {
        let attribute = self.typed(name, STRINGS)?;
        Some(attribute.strings.iter().map(|s| String::from_utf8_lossy(s).into_owned()).collect())
    }

    pub fn floats(&self, name: &str) -> Option<Vec<f32>> {
        self.typed(name, FLOATS).map(|a| a.floats.clone())
    }

    pub fn graph(&self, name: &str) -> Ruled<GraphProto> {
        let graph = self.attribute(name).and_then(|a| a.g.clone());
        graph.ok_or_else(|| Reason(format!("the attribute `{name}` is missing")))
    }

    /// Input `at`, which must be there.
    pub fn input(&self, at: usize) -> Ruled<Value> {
        let input = self.inputs.get(at).cloned().flatten();
        input.ok_or_else(|| Reason(format!("input {at} is missing")))
    }

    /// Input `at`, if it is there.
    pub fn optional(&self, at: usize) -> Option<Value> {
        self.inputs.get(at).cloned().flatten()
    }

    /// Input `at`, which must have reals.
    pub fn real(&self, at: usize) -> Ruled<Value> {
        let value = self.input(at)?;
        if value.is_real() {
            Ok(value)
        } else {
            Err(Reason(format!("it is supported for reals, not for {}", value.element.name())))
        }
    }

    /// Whether output `at` is asked for.
    pub fn wants(&self, at: usize) -> bool {
        self.node.output.get(at).is_some_and(|name| !name.is_empty())
    }

    /// Input `at` as ints that are known at import.
    pub fn numbers(&self, at: usize, what: &str) -> Ruled<Vec<i64>> {
        self.needed(at, what, numbers)
    }

    /// Input `at` as reals that are known at import.
    pub fn reals(&self, at: usize, what: &str) -> Ruled<Vec<f64>> {
        self.needed(at, what, reals)
    }

    /// Input `at` as extents that are known at import.
    pub fn extents(&self, at: usize, what: &str) -> Ruled<Vec<Extent>> {
        self.needed(at, what, extents)
    }

    fn needed<T>(&self, at: usize, what: &str, read: fn(&[Item]) -> Option<T>) -> Ruled<T> {
        let value = self.input(at)?;
        let items = self.importer.items(&value);
        items.and_then(|items| read(&items)).ok_or_else(|| match self.importer.failure(&value) {
            Some(why) => Reason(format!("{what} cannot be computed at import: {why}")),
            None => unknown(self.importer, what, &value),
        })
    }

    /// The elements of a value as ints, if they are known at import.
    pub fn numbers_of(&self, value: &Value) -> Option<Vec<i64>> {
        numbers(&self.importer.items(value)?)
    }

    /// The elements of a value as extents, if they are known at import.
    pub fn extents_of(&self, value: &Value) -> Option<Vec<Extent>> {
        extents(&self.importer.items(value)?)
    }

    /// Sets output `at`.
    pub fn set(&mut self, at: usize, value: Value) {
        if self.results.len() <= at {
            self.results.resize(at + 1, None);
        }
        if let Some(result) = self.results.get_mut(at) {
            *result = Some(value);
        }
    }

    /// A value without a statement, known at import.
    pub fn known(&mut self, element: ElementType, shape: Vec<Extent>, items: Vec<Item>) -> Value {
        self.importer.value("", element, shape, Some(items), None)
    }

    /// An int of rank 0 or 1 that is known at import.
    pub fn known_extents(&mut self, items: Vec<Extent>) -> Value {
        let count = Extent::from(i64::try_from(items.len()).unwrap_or(0));
        let items = items.into_iter().map(Item::Int).collect();
        self.known(ElementType::I64, vec![count], items)
    }

    /// Adds an invocation with one result.
    pub fn call(
        &mut self,
        operator: &str,
        attributes: &[(&str, String)],
        arguments: &[Argument],
        (element, shape): Type,
    ) -> Value {
        let hint = operator.rsplit('.').next().unwrap_or_default();
        let hint = hint.split('<').next().unwrap_or_default().to_owned();
        let result = self.importer.value(&hint, element, shape, None, None);
        self.add(operator, attributes, arguments, vec![result.clone()], false);
        result
    }

    /// Adds an invocation with several results.
    pub fn calls(
        &mut self,
        operator: &str,
        attributes: &[(&str, String)],
        arguments: &[Argument],
        types: Vec<Type>,
    ) -> Vec<Value> {
        self.results(operator, attributes, arguments, types, false)
    }

    /// Adds an invocation whose result is a pack.
    pub fn unpacked(
        &mut self,
        operator: &str,
        attributes: &[(&str, String)],
        arguments: &[Argument],
        types: Vec<Type>,
    ) -> Vec<Value> {
        self.results(operator, attributes, arguments, types, true)
    }

    fn results(
        &mut self,
        operator: &str,
        attributes: &[(&str, String)],
        arguments: &[Argument],
        types: Vec<Type>,
        packed: bool,
    ) -> Vec<Value> {
        let hint = operator.rsplit('.').next().unwrap_or_default();
        let hint = hint.split('<').next().unwrap_or_default().to_owned();
        let results: Vec<Value> = types
            .into_iter()
            .map(|(element, shape)| self.importer.value(&hint, element, shape, None, None))
            .collect();
        self.add(operator, attributes, arguments, results.clone(), packed);
        results
    }

    fn add(
        &mut self,
        operator: &str,
        attributes: &[(&str, String)],
        arguments: &[Argument],
        results: Vec<Value>,
        packed: bool,
    ) {
        let operator = operator.to_owned();
        let attributes = attributes.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
        let mut arguments = arguments.to_vec();
        while matches!(arguments.last(), Some(Argument::Absent)) {
            arguments.pop();
        }
        let body = if packed {
            Body::Unpacked { operator, attributes, arguments }
        } else {
            Body::Call { operator, attributes, arguments }
        };
        self.push(results, body);
    }

    /// Adds a statement.
    pub fn push(&mut self, results: Vec<Value>, body: Body) {
        let node = self.node.name.clone();
        self.importer.push(Statement { results, body, node });
    }

    /// A call of an operator that keeps type and shape.
    pub fn map(&mut self, operator: &str, attributes: &[(&str, String)], x: &Value) -> Value {
        self.call(operator, attributes, &[x.into()], (x.element, x.shape.clone()))
    }

    /// A call with two operands that broadcast; the result has the element type of the first one.
    pub fn binary(&mut self, operator: &str, x: &Value, y: &Value) -> Ruled<Value> {
        let shape = broadcast(&x.shape, &y.shape)?;
        Ok(self.call(operator, &[], &[x.into(), y.into()], (x.element, shape)))
    }

    /// A call with a number as the second operand.
    pub fn with_number(&mut self, operator: &str, x: &Value, number: f64) -> Value {
        let number = Argument::Number(real_text(ElementType::F64, number));
        self.call(operator, &[], &[x.into(), number], (x.element, x.shape.clone()))
    }

    /// Ints reduced to the bits of their type, as ONNX's arithmetic wraps around.
    pub fn wrapped(&mut self, x: Value) -> Value {
        let (bits, signed) = width(x.element);
        if !x.is_int() || bits == 64 {
            return x;
        }
        let attributes = [("bits", bits.to_string()), ("signed", signed.to_string())];
        self.map("onnx.wrap", &attributes, &x)
    }

    /// The same tensor as another type of the same kind.
    pub fn retyped(&mut self, x: &Value, element: ElementType) -> Value {
        let result = self.importer.value(&x.onnx, element, x.shape.clone(), x.known.clone(), None);
        if result.known.is_none() {
            self.push(vec![result.clone()], Body::Same(x.clone()));
        }
        result
    }

    /// The same tensor as another type of the same kind, whose elements are not known at import.
    pub fn alias(&mut self, x: &Value, element: ElementType) -> Value {
        let shape = x.shape.clone();
        let result = self.importer.value(&x.onnx, element, shape, None, None);
        self.push(vec![result.clone()], Body::Same(x.clone()));
        result
    }

    /// Ints reduced to the bits of another type.
    pub fn wrapped_as(&mut self, x: &Value, element: ElementType) -> Value {
        let (bits, signed) = width(element);
        if bits == 64 {
            return self.retyped(x, element);
        }
        let attributes = [("bits", bits.to_string()), ("signed", signed.to_string())];
        self.call("onnx.wrap", &attributes, &[x.into()], (element, x.shape.clone()))
    }

    /// The tensor in the order of its type: unsigned ints of 64 bits, which are kept as ints with the same bits, as ints that are in the
    /// same order.
    pub fn ordered(&mut self, x: &Value) -> Value {
        if x.element != ElementType::U64 {
            return x.clone();
        }
        let of_type = (ElementType::I64, x.shape.clone());
        self.call("onnx.change_sign_bit", &[], &[x.into()], of_type)
    }

    /// The reverse of [`Call::ordered`], for a tensor of this type.
    pub fn unordered(&mut self, x: Value, element: ElementType) -> Value {
        if element != ElementType::U64 {
            return x;
        }
        let of_type = (element, x.shape.clone());
        self.call("onnx.change_sign_bit", &[], &[(&x).into()], of_type)
    }

    /// Refuses the unsigned ints of 64 bits, which are kept as ints with the same bits.
    pub fn no_u64(&self) -> Ruled<()> {
        if self.inputs.iter().flatten().any(|x| x.element == ElementType::U64) {
            Err("uint64 is not supported here: ints have 64 bits with a sign".into())
        } else {
            Ok(())
        }
    }

    /// An extent that data decide at run time: dimension `axis` of a value.
    pub fn open(value: usize, axis: usize) -> Extent {
        Extent::atom(Atom::Of(value, axis))
    }

    /// The next value's number.
    pub fn next_id(&self) -> usize {
        self.importer.values.len()
    }
}

/// An axis from 0 on.
pub fn axis(axis: i64, rank: usize) -> Ruled<usize> {
    let signed = i64::try_from(rank).unwrap_or(i64::MAX);
    let wrong = || Reason(format!("the axis {axis} is outside of the rank {rank}"));
    let from_zero = if axis < 0 { axis.checked_add(signed) } else { Some(axis) };
    let from_zero = from_zero.filter(|a| (0..signed).contains(a)).ok_or_else(wrong)?;
    usize::try_from(from_zero).map_err(|_| wrong())
}

/// Distinct axes from 0 on, sorted.
pub fn axes(given: &[i64], rank: usize) -> Ruled<Vec<usize>> {
    let mut axes: Vec<usize> = given.iter().map(|a| axis(*a, rank)).collect::<Ruled<_>>()?;
    axes.sort_unstable();
    axes.dedup();
    if axes.len() == given.len() { Ok(axes) } else { Err("an axis occurs twice".into()) }
}

/// The shape of operands that broadcast.
pub fn broadcast(x: &[Extent], y: &[Extent]) -> Ruled<Vec<Extent>> {
    let rank = x.len().max(y.len());
    let one = Extent::from(1);
    let extent = |shape: &[Extent], at: usize| match at.checked_sub(rank - shape.len()) {
        Some(at) => shape.get(at).cloned().unwrap_or_default(),
        None => one.clone(),
    };
    let mut shape = Vec::new();
    for at in 0..rank {
        let (a, b) = (extent(x, at), extent(y, at));
        shape.push(match (a.value(), b.value()) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            (Some(m), Some(n)) if m != n => {
                return Err(Reason(format!("extents {m} and {n} cannot be broadcast")));
            }
            // Every run checks that a dynamic extent agrees.
            (None, Some(_)) => b,
            _ => a,
        });
    }
    Ok(shape)
}

/// A static extent.
pub fn fixed(what: &str, extent: &Extent) -> Ruled<i64> {
    extent.value().ok_or_else(|| {
        Reason(match extent.name() {
            Some(name) => format!(
                "{what} must be static, but is the dynamic dimension `{name}`: pass a number for it with `--input-shape`"
            ),
            None => format!(
                "{what} must be static: pass static shapes of the inputs with `--input-shape`"
            ),
        })
    })
}

/// Refuses static extents that differ where an operator needs equal ones; each run compares dynamic ones.
pub fn equal(what: &str, a: &Extent, b: &Extent) -> Ruled<()> {
    match (a.value(), b.value()) {
        (Some(m), Some(n)) if m != n => Err(Reason(format!("{what} must be equal, but are {m} and {n}"))),
        _ => Ok(()),
    }
}

/// The product of extents.
pub fn product(extents: &[Extent]) -> Ruled<Extent> {
    Extent::product(extents).ok_or_else(overflow)
}
