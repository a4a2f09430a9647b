// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on full tensors as StableHLO text. Operands have one rank; extents of 1 are broadcast.

/// A value and its type.
#[derive(Clone, Debug, Default)]
pub(super) struct Array {
    pub name: String,
    pub extents: Vec<i64>,
    pub element: String,
}

impl Array {
    pub(super) fn rank(&self) -> usize {
        self.extents.len()
    }

    pub(super) fn r#type(&self) -> String {
        tensor(&self.extents, &self.element)
    }

    /// Rows and columns of its matrices.
    pub(crate) fn rows(&self) -> usize {
        self.rank() - 2
    }

    pub(crate) fn columns(&self) -> usize {
        self.rank() - 1
    }

    /// The extent of a dimension; 1 for a dimension that the array does not have.
    pub(super) fn extent(&self, dimension: usize) -> i64 {
        self.extents.get(dimension).copied().unwrap_or(1)
    }

    /// The number of rows of each matrix.
    pub(crate) fn height(&self) -> i64 {
        self.extent(self.rows())
    }

    /// The number of columns of each matrix.
    pub(super) fn width(&self) -> i64 {
        self.extent(self.columns())
    }

    pub(crate) fn is_square(&self) -> bool {
        self.height() == self.width()
    }

    /// The extents of the dimensions before the matrices.
    pub(super) fn batch(&self) -> &[i64] {
        self.extents.get(..self.rows()).unwrap_or_default()
    }

    /// The extents, with one dimension replaced.
    fn with_extent(&self, dimension: usize, extent: i64) -> Vec<i64> {
        self.extents.iter().enumerate().map(|(d, e)| if d == dimension { extent } else { *e }).collect()
    }
}

pub(super) fn tensor(extents: &[i64], element: &str) -> String {
    let extents: String = extents.iter().map(|e| format!("{e}x")).collect();
    format!("tensor<{extents}{element}>")
}

/// A sequence of operations as text on one line.
pub(super) struct Arrays {
    text: String,
    prefix: String,
    next: usize,
}

impl Arrays {
    /// An empty sequence whose values have names that begin with `prefix`.
    pub(super) fn new(prefix: &str) -> Self {
        Arrays { text: String::new(), prefix: prefix.to_owned(), next: 0 }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("{}_{}", self.prefix, self.next)
    }

    pub(super) fn value(&mut self, operation: &str, extents: &[i64], element: &str) -> Array {
        let name = self.name();
        self.text.push_str(&format!("{name} = stablehlo.{operation} "));
        Array { name, extents: extents.to_vec(), element: element.to_owned() }
    }

    pub(crate) fn splat(&mut self, value: &str, extents: &[i64], element: &str) -> Array {
        // The neutral element of addition is negative zero in both parts.
        let imaginary = if value == "-0.0" { "-0.0" } else { "0.0" };
        let pair = format!("({value}, {imaginary})");
        let value = if element.starts_with("complex<") { &pair } else { value };
        let constant = format!("constant dense<{value}> : {}", tensor(extents, element));
        self.value(&constant, extents, element)
    }

    /// A constant with the element type of an array.
    pub(super) fn number(&mut self, value: &str, beside: &Array) -> Array {
        self.splat(value, &vec![1; beside.rank()], &beside.element)
    }

    /// Positions along a dimension of an array, as `i32`.
    pub(super) fn positions(&mut self, of: &Array, dimension: usize) -> Array {
        let one = |d: usize| if d == dimension { of.extent(d) } else { 1 };
        let extents: Vec<i64> = (0..of.rank()).map(one).collect();
        let iota = format!("iota dim = {dimension} : {}", tensor(&extents, "i32"));
        self.value(&iota, &extents, "i32")
    }

    pub(crate) fn reshape(&mut self, a: &Array, extents: &[i64]) -> Array {
        let to = tensor(extents, &a.element);
        let reshape = format!("reshape {} : ({}) -> {to}", a.name, a.r#type());
        self.value(&reshape, extents, &a.element)
    }

    fn spread(&mut self, a: &Array, extents: &[i64]) -> Array {
        if a.extents == extents {
            return a.clone();
        }
        let dims: Vec<String> = (0..a.rank()).map(|d| d.to_string()).collect();
        let (dims, to) = (dims.join(", "), tensor(extents, &a.element));
        let spread = format!("broadcast_in_dim {}, dims = [{dims}] : ({}) -> {to}", a.name, a.r#type());
        self.value(&spread, extents, &a.element)
    }

    fn joined<const N: usize>(&mut self, arrays: [&Array; N]) -> [Array; N] {
        let rank = arrays.iter().map(|a| a.rank()).max().unwrap_or(0);
        let extent = |d: usize| {
            let own = arrays.iter().filter_map(|a| a.extents.get(d).copied());
            own.fold(1, |all, e| if all == 1 { e } else { all })
        };
        let extents: Vec<i64> = (0..rank).map(extent).collect();
        arrays.map(|a| self.spread(a, &extents))
    }

    /// An operation whose result has the type of its operands.
    pub(super) fn apply<const N: usize>(&mut self, operation: &str, operands: &[&Array; N]) -> Array {
        let operands = self.joined(*operands);
        let names: Vec<&str> = operands.iter().map(|a| a.name.as_str()).collect();
        let Array { extents, element, .. } = operands.first().cloned().unwrap_or_default();
        let to = tensor(&extents, &element);
        let text = format!("{operation} {} : {to}", names.join(", "));
        self.value(&text, &extents, &element)
    }

    pub(super) fn compare(&mut self, direction: &str, a: &Array, b: &Array) -> Array {
        let [a, b] = self.joined([a, b]);
        let kind = if a.element.starts_with('i') { "SIGNED" } else { "FLOAT" };
        let (t, to) = (a.r#type(), tensor(&a.extents, "i1"));
        let text = format!("compare {direction}, {}, {}, {kind} : ({t}, {t}) -> {to}", a.name, b.name);
        let extents = a.extents.clone();
        self.value(&text, &extents, "i1")
    }

    pub(crate) fn select(&mut self, condition: &Array, yes: &Array, no: &Array) -> Array {
        let [p, yes, no] = self.joined([condition, yes, no]);
        let text = format!("select {}, {}, {} : {}, {}", p.name, yes.name, no.name, p.r#type(), yes.r#type());
        let (extents, element) = (yes.extents.clone(), yes.element.clone());
        self.value(&text, &extents, &element)
    }

    /// The first position along a dimension at which a condition holds, or `otherwise` if there is none.
    pub(super) fn first(&mut self, holds: &Array, dimension: usize, otherwise: &Array) -> Array {
        let count = holds.extent(dimension).to_string();
        let index = self.positions(holds, dimension);
        let beyond = self.splat(&count, &vec![1; holds.rank()], "i32");
        let candidate = self.select(holds, &index, &beyond);
        let first = self.reduce("minimum", &count, &candidate, dimension);
        let is_there = self.compare("LT", &first, &beyond);
        self.select(&is_there, &first, otherwise)
    }

    /// The array with two slices along a dimension exchanged: the one at a position, and the one where `is_chosen`
    /// holds.
    pub(crate) fn exchanged(&mut self, a: &Array, dimension: usize, at: &Array, is_chosen: &Array) -> Array {
        // A sum of zeros only, with the sign of the neutral element.
        let nothing = self.number("-0.0", a);
        let picked = self.select(is_chosen, a, &nothing);
        let chosen = self.reduce("add", "-0.0", &picked, dimension);
        let present = self.part(a, dimension, at);
        let a = self.select(is_chosen, &present, a);
        self.with_part(&a, dimension, at, &chosen)
    }

    /// The start indices of a slice: `at`, a `tensor<i32>`, along one dimension, and 0 along the others.
    fn indices(&mut self, rank: usize, dimension: usize, at: &Array) -> String {
        let zero = self.splat("0", &[], "i32");
        let names = (0..rank).map(|d| if d == dimension { &at.name } else { &zero.name });
        names.cloned().collect::<Vec<_>>().join(", ")
    }

    /// The slice at one position along a dimension.
    pub(super) fn part(&mut self, a: &Array, dimension: usize, at: &Array) -> Array {
        let indices = self.indices(a.rank(), dimension, at);
        let extents = a.with_extent(dimension, 1);
        let sizes: Vec<String> = extents.iter().map(i64::to_string).collect();
        let text = format!(
            "dynamic_slice {}, {indices}, sizes = [{}] : ({}, {}) -> {}",
            a.name,
            sizes.join(", "),
            a.r#type(),
            vec!["tensor<i32>"; a.rank()].join(", "),
            tensor(&extents, &a.element)
        );
        self.value(&text, &extents, &a.element)
    }

    /// The slice from `first` to before `end` along a dimension.
    pub(crate) fn cut(&mut self, a: &Array, dimension: usize, first: i64, end: i64) -> Array {
        let range = |(d, extent): (usize, &i64)| {
            if d == dimension { format!("{first}:{end}") } else { format!("0:{extent}") }
        };
        let ranges: Vec<String> = a.extents.iter().enumerate().map(range).collect();
        let extents = a.with_extent(dimension, end - first);
        let to = tensor(&extents, &a.element);
        let text = format!("slice {} [{}] : ({}) -> {to}", a.name, ranges.join(", "), a.r#type());
        self.value(&text, &extents, &a.element)
    }

    /// The concatenation along a dimension.
    pub(super) fn stacked(&mut self, [a, b]: [&Array; 2], dimension: usize) -> Array {
        let extents = a.with_extent(dimension, a.extent(dimension) + b.extent(dimension));
        let text = format!(
            "concatenate {}, {}, dim = {dimension} : ({}, {}) -> {}",
            a.name,
            b.name,
            a.r#type(),
            b.r#type(),
            tensor(&extents, &a.element)
        );
        self.value(&text, &extents, &a.element)
    }

    /// The array with the slice at one position along a dimension replaced.
    pub(crate) fn with_part(&mut self, a: &Array, dimension: usize, at: &Array, part: &Array) -> Array {
        let extents = a.with_extent(dimension, 1);
        let part = self.spread(part, &extents);
        let indices = self.indices(a.rank(), dimension, at);
        let text = format!(
            "dynamic_update_slice {}, {}, {indices} : ({}, {}, {}) -> {}",
            a.name,
            part.name,
            a.r#type(),
            part.r#type(),
            vec!["tensor<i32>"; a.rank()].join(", "),
            a.r#type()
        );
        self.value(&text, &a.extents, &a.element)
    }

    /// The reduction along a dimension, which stays with extent 1.
    pub(crate) fn reduce(&mut self, combiner: &str, start: &str, a: &Array, dimension: usize) -> Array {
        let start = self.splat(start, &[], &a.element);
        let mut extents = a.extents.clone();
        extents.remove(dimension);
        let text = format!(
            "reduce({} init: {}) applies stablehlo.{combiner} across dimensions = [{dimension}] : ({}, {}) -> {}",
            a.name,
            start.name,
            a.r#type(),
            start.r#type(),
            tensor(&extents, &a.element)
        );
        let reduced = self.value(&text, &extents, &a.element);
        extents.insert(dimension, 1);
        self.reshape(&reduced, &extents)
    }

    /// The transpose of the matrices.
    pub(crate) fn transposed(&mut self, a: &Array) -> Array {
        let mut order: Vec<usize> = (0..a.rank()).collect();
        order.swap(a.rows(), a.columns());
        let extents: Vec<i64> = order.iter().map(|d| a.extent(*d)).collect();
        let dims: Vec<String> = order.iter().map(usize::to_string).collect();
        let text = format!(
            "transpose {}, dims = [{}] : ({}) -> {}",
            a.name,
            dims.join(", "),
            a.r#type(),
            tensor(&extents, &a.element)
        );
        self.value(&text, &extents, &a.element)
    }

    /// The state after `step` was executed for 0, 1, … up to `count`.
    pub(super) fn repeat<const N: usize>(
        &mut self,
        count: i64,
        state: [Array; N],
        step: impl FnOnce(&mut Self, &Array, &[Array; N]) -> [Array; N],
    ) -> [Array; N] {
        if count == 0 {
            // There is no row or column that a step could process.
            return state;
        }
        let start = self.splat("0", &[], "i32");
        let counter = self.renamed(&start);
        let inner = state.each_ref().map(|a| self.renamed(a));
        let name = self.name();
        let types: Vec<String> = state.iter().map(Array::r#type).collect();
        let types = [vec![start.r#type()], types].concat().join(", ");
        let starts = inner.iter().zip(&state);
        let starts: String = starts.map(|(i, b)| format!(", {} = {}", i.name, b.name)).collect();
        self.text.push_str(&format!(
            "{name}:{} = stablehlo.while({} = {}{starts}) : {types} cond {{ ",
            N + 1,
            counter.name,
            start.name
        ));
        let end = self.splat(&count.to_string(), &[], "i32");
        let goes_on = self.compare("LT", &counter, &end);
        self.text.push_str(&format!("stablehlo.return {} : tensor<i1> }} do {{ ", goes_on.name));
        let next = step(self, &counter, &inner);
        let one = self.splat("1", &[], "i32");
        let counted = self.apply("add", &[&counter, &one]);
        let names: Vec<&str> = [&counted].into_iter().chain(&next).map(|a| a.name.as_str()).collect();
        self.text.push_str(&format!("stablehlo.return {} : {types} }} ", names.join(", ")));
        let mut numbers = 1..;
        state.map(|a| Array { name: format!("{name}#{}", numbers.next().unwrap_or_default()), ..a })
    }

    /// An array of the same type with a new name.
    fn renamed(&mut self, a: &Array) -> Array {
        Array { name: self.name(), ..a.clone() }
    }
}
