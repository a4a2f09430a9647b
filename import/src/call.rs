// SPDX-License-Identifier: Apache-2.0
//! A node during its conversion: its operands and attributes, and the statements that its rule adds.

use skript_tensor::ElementType;
use std::cell::RefCell;

use crate::dependence::unknown;
use crate::extent::{Atom, Extent};
use crate::importer::Importer;
use crate::literals::real_text;
use crate::proto::{AttributeProto, GraphProto, NodeProto};
use crate::refusal::{Reason, Refusal, Ruled, overflow};
use crate::statement::{Argument, Body, Statement, short_name};
use crate::value::{Item, Value, element, extents, numbers, reals, signed_length, width};

/// Element type and shape of a result.
pub type Type = (ElementType, Vec<Extent>);

/// A node that is being converted.
pub struct Call<'i> {
    pub importer: &'i mut Importer,
    pub node: NodeProto,
    pub inputs: Vec<Option<Value>>,
    pub results: Vec<Option<Value>>,
    /// The version of the operator set.
    pub opset: i64,
    /// A message for the first attribute whose type differs from the type that the rule requires.
    pub mistyped: RefCell<Option<String>>,
}

/// The ONNX attribute types by number.
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
    /// Tries a conversion. If it is refused, its statements are removed, and its reports are returned with the reason.
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

    /// An attribute that must have this type. Old models omit the types of attributes, which are then 0.
    fn typed(&self, name: &str, kind: i32) -> Option<&AttributeProto> {
        let attribute = self.attribute(name)?;
        if ![0, kind].contains(&attribute.kind) {
            let text = |number| TYPES.iter().find(|row| row.0 == number).map(|row| row.1);
            let actual = text(attribute.kind).unwrap_or("of another type");
            let wanted = text(kind).unwrap_or("another type");
            let text = format!("the attribute `{name}` is {actual}, the operator takes {wanted}");
            self.mistyped.borrow_mut().get_or_insert(text);
        }
        Some(attribute)
    }

    /// The element type that an int attribute refers to by its number.
    pub fn element_type(&self, name: &str, default: i64) -> Ruled<ElementType> {
        supported_type(self.int(name, default))
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

    /// The required input `at`.
    pub fn input(&self, at: usize) -> Ruled<Value> {
        let input = self.inputs.get(at).cloned().flatten();
        input.ok_or_else(|| Reason(format!("input {at} is missing")))
    }

    /// The optional input `at`.
    pub fn optional(&self, at: usize) -> Option<Value> {
        self.inputs.get(at).cloned().flatten()
    }

    /// The required input `at`, whose elements must be reals.
    pub fn real(&self, at: usize) -> Ruled<Value> {
        let value = self.input(at)?;
        if value.is_real() {
            Ok(value)
        } else {
            Err(Reason(format!("it is supported for reals, not for {}", value.element.name())))
        }
    }

    /// Whether the node has output `at`.
    pub fn wants(&self, at: usize) -> bool {
        self.node.output.get(at).is_some_and(|name| !name.is_empty())
    }

    /// The elements of input `at` as ints; they must be known at import.
    pub fn numbers(&self, at: usize, what: &str) -> Ruled<Vec<i64>> {
        self.needed(at, what, numbers)
    }

    /// The elements of input `at` as reals; they must be known at import.
    pub fn reals(&self, at: usize, what: &str) -> Ruled<Vec<f64>> {
        self.needed(at, what, reals)
    }

    /// The elements of input `at` as extents; they must be known at import.
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

    /// A value whose elements are known at import; it needs no statement.
    pub fn known(&mut self, element: ElementType, shape: Vec<Extent>, items: Vec<Item>) -> Value {
        self.importer.value("", element, shape, Some(items), None)
    }

    /// A vector of extents that is known at import.
    pub fn known_extents(&mut self, items: Vec<Extent>) -> Value {
        let shape = vec![Extent::from(signed_length(items.len()))];
        self.known(ElementType::I64, shape, items.into_iter().map(Item::Int).collect())
    }

    /// Adds an invocation with one result.
    pub fn call(
        &mut self,
        operator: &str,
        attributes: &[(&str, String)],
        arguments: &[Argument],
        (element, shape): Type,
    ) -> Value {
        let result = self.importer.value(short_name(operator), element, shape, None, None);
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
        let hint = short_name(operator);
        let results: Vec<Value> = types
            .into_iter()
            .map(|(element, shape)| self.importer.value(hint, element, shape, None, None))
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
        let attributes: Vec<_> =
            attributes.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
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

    pub fn push(&mut self, results: Vec<Value>, body: Body) {
        let node = self.node.name.clone();
        self.importer.push(Statement { results, body, node });
    }

    /// Adds an invocation of an operator that preserves type and shape.
    pub fn map(&mut self, operator: &str, attributes: &[(&str, String)], x: &Value) -> Value {
        self.call(operator, attributes, &[x.into()], (x.element, x.shape.clone()))
    }

    /// Adds an invocation with two operands that broadcast; the result has the element type of the first operand.
    pub fn binary(&mut self, operator: &str, x: &Value, y: &Value) -> Ruled<Value> {
        let shape = broadcast(&x.shape, &y.shape)?;
        Ok(self.call(operator, &[], &[x.into(), y.into()], (x.element, shape)))
    }

    /// Adds an invocation with a number as the second operand.
    pub fn with_number(&mut self, operator: &str, x: &Value, number: f64) -> Value {
        let number = Argument::Number(real_text(ElementType::F64, number));
        self.call(operator, &[], &[x.into(), number], (x.element, x.shape.clone()))
    }

    /// Wraps ints around to the width of their type, as ONNX does.
    pub fn wrapped(&mut self, x: Value) -> Value {
        let (bits, signed) = width(x.element);
        if !x.is_int() || bits == 64 {
            return x;
        }
        let attributes = [("bits", bits.to_string()), ("signed", signed.to_string())];
        self.map("onnx.wrap", &attributes, &x)
    }

    /// The tensor with another element type of the same kind.
    pub fn retyped(&mut self, x: &Value, element: ElementType) -> Value {
        let result = self.importer.value(&x.onnx, element, x.shape.clone(), x.known.clone(), None);
        if result.known.is_none() {
            self.push(vec![result.clone()], Body::Same(x.clone()));
        }
        result
    }

    /// The tensor with another element type of the same kind; the elements of the result are not known at import.
    pub fn alias(&mut self, x: &Value, element: ElementType) -> Value {
        let shape = x.shape.clone();
        let result = self.importer.value(&x.onnx, element, shape, None, None);
        self.push(vec![result.clone()], Body::Same(x.clone()));
        result
    }

    /// Wraps ints around to the width of another type.
    pub fn wrapped_as(&mut self, x: &Value, element: ElementType) -> Value {
        let (bits, signed) = width(element);
        if bits == 64 {
            return self.retyped(x, element);
        }
        let attributes = [("bits", bits.to_string()), ("signed", signed.to_string())];
        self.call("onnx.wrap", &attributes, &[x.into()], (element, x.shape.clone()))
    }

    /// Converts the tensor to signed ints in the same order. Only unsigned 64-bit ints change: they are represented by signed ints with
    /// the same bits.
    pub fn ordered(&mut self, x: &Value) -> Value {
        if x.element != ElementType::U64 {
            return x.clone();
        }
        let of_type = (ElementType::I64, x.shape.clone());
        self.call("onnx.change_sign_bit", &[], &[x.into()], of_type)
    }

    /// The inverse of [`Call::ordered`] for a tensor of this type.
    pub fn unordered(&mut self, x: Value, element: ElementType) -> Value {
        if element != ElementType::U64 {
            return x;
        }
        let of_type = (element, x.shape.clone());
        self.call("onnx.change_sign_bit", &[], &[(&x).into()], of_type)
    }

    /// Refuses unsigned 64-bit ints, which are represented by signed ints with the same bits.
    pub fn no_u64(&self) -> Ruled<()> {
        if self.inputs.iter().flatten().any(|x| x.element == ElementType::U64) {
            Err("uint64 is not supported here: SkriptND has signed 64-bit ints".into())
        } else {
            Ok(())
        }
    }

    /// A data-dependent extent, known only at run time: dimension `axis` of a value.
    pub fn open(value: usize, axis: usize) -> Extent {
        Extent::atom(Atom::Of(value, axis))
    }

    /// The id of the next value.
    pub fn next_id(&self) -> usize {
        self.importer.values.len()
    }
}

/// The element type with this number in ONNX.
pub fn supported_type(number: i64) -> Ruled<ElementType> {
    let supported = i32::try_from(number).map_or(Err("unknown"), element);
    supported.map_err(|name| Reason(format!("the element type {name} is not supported")))
}

/// Normalizes an axis to an index from 0 to rank - 1; negative axes count from the end.
pub fn axis(axis: i64, rank: usize) -> Ruled<usize> {
    let index = if axis < 0 { axis.checked_add(signed_length(rank)) } else { Some(axis) };
    let index = index.and_then(|index| usize::try_from(index).ok()).filter(|index| *index < rank);
    index.ok_or_else(|| Reason(format!("the axis {axis} is outside of the rank {rank}")))
}

/// Normalizes distinct axes to sorted indices.
pub fn axes(given: &[i64], rank: usize) -> Ruled<Vec<usize>> {
    let mut axes: Vec<usize> = given.iter().map(|a| axis(*a, rank)).collect::<Ruled<_>>()?;
    axes.sort_unstable();
    axes.dedup();
    if axes.len() == given.len() { Ok(axes) } else { Err("an axis occurs twice".into()) }
}

/// The common shape of operands that broadcast.
pub fn broadcast(x: &[Extent], y: &[Extent]) -> Ruled<Vec<Extent>> {
    let rank = x.len().max(y.len());
    let padded = |shape: &[Extent]| [vec![Extent::from(1); rank - shape.len()], shape.to_vec()].concat();
    let mut shape = Vec::new();
    for (a, b) in padded(x).into_iter().zip(padded(y)) {
        shape.push(match (a.value(), b.value()) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            (Some(m), Some(n)) if m != n => {
                return Err(Reason(format!("extents {m} and {n} cannot be broadcast")));
            }
            // The compiled model checks at each call that the dynamic extent is equal.
            (None, Some(_)) => b,
            _ => a,
        });
    }
    Ok(shape)
}

/// The value of an extent that must be static.
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

/// Refuses static extents that differ where an operator requires equal ones. Dynamic extents are compared at each call.
pub fn equal(what: &str, a: &Extent, b: &Extent) -> Ruled<()> {
    match (a.value(), b.value()) {
        (Some(m), Some(n)) if m != n => Err(Reason(format!("{what} must be equal, but are {m} and {n}"))),
        _ => Ok(()),
    }
}

/// The quotient of an extent and a positive number. Refuses static extents that are not multiples of the number.
pub fn quotient(what: &str, extent: &Extent, divisor: i64) -> Ruled<Extent> {
    match extent.value() {
        Some(n) if n % divisor != 0 => {
            Err(Reason(format!("{what} must be a multiple of {divisor}, but is {n}")))
        }
        _ => extent.over(&Extent::from(divisor)).ok_or_else(overflow),
    }
}

/// The product of extents.
pub fn product(extents: &[Extent]) -> Ruled<Extent> {
    Extent::product(extents).ok_or_else(overflow)
}
