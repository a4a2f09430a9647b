// SPDX-License-Identifier: Apache-2.0
//! Tensors whose storage types differ from those of the model.
//!
//! Formulas read elements of any storage type and compute in the compute type of the widest one. An operator that is invoked with
//! other types is therefore instantiated for them, and tensors are not converted. A composite operator computes in the compute
//! type of its arguments, which are widened at its invocation.

use super::{
    Block, Body, ConstantData, Function, FunctionId, FunctionRole, Model, Operation, Value, ValueId,
};
use skript_semantics::{IntType, Numbers, RealType, Scalar, ScalarKind};
use std::collections::{BTreeMap, HashMap};

/// Storage types of tensors of the entry by name, and of variables by their scoped names: a real type for tensors of reals, an int
/// type for tensors of ints. The name of a pack denotes all its tensors.
pub type StorageTypes = BTreeMap<String, StorageType>;

/// The element type of a tensor in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageType {
    /// The type of a tensor of reals.
    Real(RealType),
    /// The type of a tensor of ints.
    Int(IntType),
}

impl StorageType {
    /// The given type of reals, or else the type of ints.
    pub fn new(real: Option<RealType>, int: IntType) -> StorageType {
        real.map_or(StorageType::Int(int), StorageType::Real)
    }
}

impl Function {
    /// The element types of a tensor's reals and ints.
    pub fn numbers_of(&self, value: &Value) -> Numbers {
        match value.storage {
            Some(numbers) => numbers,
            None if value.wide => self.numbers.work(),
            None => self.numbers,
        }
    }

    fn numbers_at(&self, id: ValueId) -> Numbers {
        let value = self.values.get(id.0 as usize);
        value.map_or(self.numbers, |value| self.numbers_of(value))
    }

    fn kind_at(&self, id: ValueId) -> ScalarKind {
        let value = self.values.get(id.0 as usize);
        value.map_or(ScalarKind::Bool, |value| value.tensor.kind)
    }
}

/// The types with which a function is invoked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Types {
    /// All ports have the storage types of the model.
    Same,
    /// The invoking operator computes in compute types.
    Wide(Numbers),
    /// The types of the instance, and the types of its inputs, captures, outputs and new values of captures.
    Mixed(Numbers, Vec<Numbers>),
}

impl Model {
    /// Sets the storage types of tensors of the entry and of variables, and instantiates the functions that use them.
    pub(crate) fn store(&mut self, types: &StorageTypes) {
        let model = self.numbers;
        let Some(entry) = self.functions.get_mut(self.entry.0 as usize) else {
            return;
        };
        let mut any = false;
        let mut set_storage = |value: &mut Value, name: &str| {
            let numbers = match (types.get(name), value.tensor.kind) {
                (Some(StorageType::Real(real)), ScalarKind::Real) => Numbers { real: *real, ..model },
                (Some(StorageType::Int(int)), ScalarKind::Int) => Numbers { int: *int, ..model },
                _ => return,
            };
            any |= numbers != model;
            value.storage = Some(numbers);
        };
        for value in &mut entry.values {
            let Some(name) = value.name.clone() else {
                continue;
            };
            set_storage(value, name.split(':').next().unwrap_or(&name));
        }
        for (id, variable) in entry.captures.iter().zip(&entry.capture_variables) {
            let declared = self.variables.get(variable.0 as usize);
            if let (Some(declared), Some(value)) = (declared, entry.values.get_mut(id.0 as usize)) {
                set_storage(value, &declared.name);
            }
        }
        if !any {
            return;
        }
        let updates = self.updates.iter().filter_map(|(variable, new)| {
            let mut captures = entry.captures.iter().zip(&entry.capture_variables);
            let (old, _) = captures.find(|(_, v)| *v == variable)?;
            Some((*old, *new))
        });
        let updates: Vec<(ValueId, ValueId)> = updates.collect();
        unify(entry, &updates);
        Instances::new(self).make();
        for (id, variable) in self.entry_captures() {
            let numbers = self.function(self.entry).map(|f| f.numbers_at(id));
            if let (Some(numbers), Some(declared)) = (numbers, self.variables.get_mut(variable)) {
                declared.numbers = numbers;
            }
        }
    }

    fn entry_captures(&self) -> Vec<(ValueId, usize)> {
        let entry = self.function(self.entry).into_iter();
        let pairs = entry.flat_map(|f| f.captures.iter().zip(&f.capture_variables));
        pairs.map(|(id, v)| (*id, v.0 as usize)).collect()
    }
}

/// The instances of functions for the types that they are invoked with.
struct Instances<'m> {
    model: &'m mut Model,
    known: HashMap<(FunctionId, Types), FunctionId>,
    /// Instances whose invocations are not processed yet, with the compute types that they pass on.
    left: Vec<(FunctionId, Option<Numbers>)>,
}

impl Instances<'_> {
    fn new(model: &mut Model) -> Instances<'_> {
        let left = vec![(model.entry, None)];
        let known = HashMap::new();
        Instances { model, known, left }
    }

    fn make(&mut self) {
        while let Some((id, wide)) = self.left.pop() {
            let Some(function) = self.model.function(id).cloned() else {
                continue;
            };
            let mut function = function;
            let mut body = std::mem::replace(&mut function.body, Body::Intrinsic);
            if let Body::Block(block) = &mut body {
                let constants = constants(&function, block);
                block.visit_mut(&mut |operation| {
                    if let Operation::Invoke(invoke) = operation {
                        let passed = invoke.inputs.iter().chain(&invoke.captures);
                        let results = invoke.outputs.iter().chain(&invoke.updates);
                        let all: Vec<ValueId> = passed.chain(results).copied().collect();
                        let types = match wide {
                            Some(numbers) => Types::Wide(numbers),
                            None => types(&function, &all, &constants),
                        };
                        invoke.callee = self.instance(invoke.callee, types);
                    }
                });
            }
            if let Some(slot) = self.model.functions.get_mut(id.0 as usize) {
                slot.body = body;
            }
        }
    }

    fn instance(&mut self, id: FunctionId, types: Types) -> FunctionId {
        let Some(function) = self.model.function(id) else {
            return id;
        };
        let is_composite = matches!(&function.body, Body::Block(_));
        let types = match types {
            Types::Mixed(numbers, _) if is_composite && function.role == FunctionRole::Operator => {
                Types::Wide(numbers.work())
            }
            // Intrinsics compute in one type.
            Types::Mixed(numbers, _) if matches!(&function.body, Body::Intrinsic) => {
                Types::Wide(numbers.work())
            }
            other => other,
        };
        // A function that already computes in these types is not copied.
        let is_same = match &types {
            Types::Same => true,
            Types::Wide(numbers) => {
                let mut values = function.values.iter();
                values.all(|v| function.numbers_of(v) == *numbers) && function.numbers.work() == *numbers
            }
            Types::Mixed(..) => false,
        };
        if is_same {
            return id;
        }
        if let Some(known) = self.known.get(&(id, types.clone())) {
            return *known;
        }
        let mut copy = function.clone();
        let passed_on = match &types {
            Types::Same => None,
            Types::Wide(numbers) => {
                copy.numbers = *numbers;
                copy.values.iter_mut().for_each(|v| v.wide = true);
                Some(*numbers)
            }
            Types::Mixed(numbers, ports) => {
                if !is_composite {
                    copy.numbers = *numbers;
                }
                for (id, numbers) in ports_of(&copy).into_iter().zip(ports) {
                    if let Some(value) = copy.values.get_mut(id.0 as usize) {
                        value.storage = Some(*numbers);
                    }
                }
                unify(&mut copy, &[]);
                None
            }
        };
        let number = u32::try_from(self.model.functions.len()).unwrap_or(u32::MAX);
        let new = FunctionId(number);
        self.model.functions.push(copy);
        self.known.insert((id, types), new);
        if is_composite {
            self.left.push((new, passed_on));
        }
        new
    }
}

/// The inputs, captures, outputs and new values of captures of a function.
fn ports_of(function: &Function) -> Vec<ValueId> {
    let inputs = function.inputs.iter().flat_map(|p| p.tensors.values());
    let outputs = function.outputs.iter().flat_map(|p| p.tensors.values());
    let updates = function.updates.iter().map(|(_, new)| new);
    let all = inputs.chain(&function.captures).chain(outputs).chain(updates);
    all.copied().collect()
}

/// Constants without a separate storage type. They do not widen an invocation whose other types represent their values.
fn constants<'f>(function: &'f Function, block: &'f Block) -> HashMap<ValueId, ConstantData> {
    let mut unnamed: HashMap<ValueId, ConstantData> = HashMap::new();
    block.visit(&mut |operation| {
        if let Operation::Constant { value, data } = operation {
            unnamed.insert(*value, data.clone());
        }
    });
    unnamed.extend(function.constants.iter().map(|(id, data)| (*id, data.clone())));
    unnamed.retain(|id, _| {
        let value = function.values.get(id.0 as usize);
        value.is_some_and(|value| value.storage.is_none())
    });
    unnamed
}

/// The types with which these tensors are passed.
fn types(function: &Function, all: &[ValueId], constants: &HashMap<ValueId, ConstantData>) -> Types {
    let join = |ids: &mut dyn Iterator<Item = ValueId>| {
        let mut reals = None;
        let mut ints = None;
        for id in ids {
            let numbers = function.numbers_at(id);
            match function.kind_at(id) {
                ScalarKind::Real => {
                    reals = Some(reals.map_or(numbers.real, |r| wider_real(r, numbers.real)));
                }
                ScalarKind::Int => {
                    ints = Some(ints.map_or(numbers.int, |i| wider_int(i, numbers.int)));
                }
                ScalarKind::Bool => {}
            }
        }
        Numbers { real: reals.unwrap_or(function.numbers.real), int: ints.unwrap_or(function.numbers.int) }
    };
    let decided = join(&mut all.iter().copied().filter(|id| !constants.contains_key(id)));
    let is_held = |id: &ValueId| {
        constants.get(id).is_none_or(|data| {
            data.scalars().all(|scalar| match scalar {
                Scalar::Real(x) => decided.work().real.holds(x),
                Scalar::Int(i) => decided.int.wrap(i) == i,
                Scalar::Bool(_) => true,
            })
        })
    };
    let numbers = if all.iter().all(is_held) { decided } else { join(&mut all.iter().copied()) };
    let port_type = |id: &ValueId| {
        let of = if constants.contains_key(id) { numbers.work() } else { function.numbers_at(*id) };
        // The type of the other kind is irrelevant.
        match function.kind_at(*id) {
            ScalarKind::Real => Numbers { int: function.numbers.int, ..of },
            ScalarKind::Int => Numbers { real: function.numbers.real, ..of },
            ScalarKind::Bool => function.numbers,
        }
    };
    let ports: Vec<Numbers> = all.iter().map(port_type).collect();
    if numbers == function.numbers && ports.iter().all(|p| *p == function.numbers) {
        Types::Same
    } else {
        Types::Mixed(numbers, ports)
    }
}

/// The narrowest type that represents the values of both types.
fn wider_real(a: RealType, b: RealType) -> RealType {
    match (a, b) {
        _ if a == b => a,
        (RealType::F64, _) | (_, RealType::F64) => RealType::F64,
        _ => RealType::F32,
    }
}

fn wider_int(a: IntType, b: IntType) -> IntType {
    if a.bits() < b.bits() { b } else { a }
}

/// Unifies the types of tensors that branches, loops or `pairs` connect, to the narrowest type that represents the values of all.
fn unify(function: &mut Function, pairs: &[(ValueId, ValueId)]) {
    let mut classes = Classes { parents: (0..function.values.len()).collect() };
    for (a, b) in pairs {
        classes.join(*a, *b);
    }
    if let Body::Block(block) = &function.body {
        classes.block(block);
    }
    let mut joined: HashMap<usize, Option<Numbers>> = HashMap::new();
    for number in 0..function.values.len() {
        let root = classes.root(number);
        let Some(value) = function.values.get(number) else {
            continue;
        };
        let numbers = function.numbers_of(value);
        let entry = joined.entry(root).or_insert(Some(numbers));
        *entry = entry.map(|known| Numbers {
            real: wider_real(known.real, numbers.real),
            int: wider_int(known.int, numbers.int),
        });
    }
    for number in 0..function.values.len() {
        let root = classes.root(number);
        let wanted = joined.get(&root).copied().flatten();
        let numbers = function.values.get(number).map(|v| function.numbers_of(v));
        if let (true, Some(value)) = (wanted != numbers, function.values.get_mut(number)) {
            value.storage = wanted;
        }
    }
}

/// Equivalence classes of tensors that must have the same type (union-find).
struct Classes {
    parents: Vec<usize>,
}

impl Classes {
    fn root(&mut self, mut at: usize) -> usize {
        while let Some(&parent) = self.parents.get(at)
            && parent != at
        {
            let above = self.parents.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.parents.get_mut(at) {
                *slot = above;
            }
            at = above;
        }
        at
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.root(a.0 as usize), self.root(b.0 as usize));
        if let Some(slot) = self.parents.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }

    fn block(&mut self, block: &Block) {
        block.visit(&mut |operation| match operation {
            Operation::If { arms, otherwise, outputs, .. } => {
                let blocks = arms.iter().map(|arm| &arm.consequent).chain([otherwise]);
                for branch in blocks {
                    for (output, result) in outputs.iter().zip(&branch.results) {
                        self.join(*output, *result);
                    }
                }
            }
            Operation::Loop(l) => {
                for (carried, new) in l.carried.iter().zip(&l.body.results) {
                    self.join(carried.inner, carried.init);
                    self.join(carried.inner, carried.result);
                    self.join(carried.inner, *new);
                }
                for (item, pack) in &l.scans {
                    pack.iter().for_each(|tensor| self.join(*item, *tensor));
                }
                for (item, stack) in &l.stack_scans {
                    self.join(*item, *stack);
                }
                let collected = l.body.results.iter().skip(l.carried.len());
                for (result, pack) in collected.zip(&l.scan_outputs) {
                    pack.iter().for_each(|tensor| self.join(*result, *tensor));
                }
            }
            Operation::Cut { whole, output, .. } => self.join(*whole, *output),
            Operation::Invoke(_) | Operation::Constant { .. } => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::ComposeOptions;
    use crate::compose::testing::composed_with;
    use crate::limits::Limits;

    const OPERATORS: &str = "operator twice { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i] = x[i] + x[i], i < n; } } \
                             operator sum { @input { x: real[n]; w: real[n]; } @output { y: real[n]; } \
                             @lower { y[i] = x[i] + w[i], i < n; } } \
                             operator four { @input { x: real[n]; } @output { y: real[n]; } \
                             @compose { z = twice(x); y = twice(z); } } ";

    fn model(graph: &str, real: RealType, types: &[(&str, RealType)]) -> Model {
        let options = ComposeOptions {
            numbers: Numbers { real, ..Numbers::default() },
            storage: types.iter().map(|(n, t)| ((*n).to_owned(), StorageType::Real(*t))).collect(),
            ..ComposeOptions::default()
        };
        composed_with(&format!("{OPERATORS}{graph}"), &options, &Limits::default()).unwrap()
    }

    /// The types of the tensors of the functions that the entry invokes, by name: `sum(f32,f16)`.
    fn invoked(model: &Model) -> Vec<String> {
        let entry = model.function(model.entry).unwrap();
        let mut callees = Vec::new();
        let Body::Block(block) = &entry.body else { panic!("the entry is not a graph") };
        block.visit(&mut |operation| {
            if let Operation::Invoke(invoke) = operation {
                let function = model.function(invoke.callee).unwrap();
                let types = ports_of(function).into_iter();
                let types: Vec<_> = types.map(|id| function.numbers_at(id).real.name()).collect();
                callees.push(format!("{}({})", function.name, types.join(",")));
            }
        });
        callees
    }

    const TWO: &str = "graph G { @input { x: real[3]; } @variable { w: real[3]; } @output { y: real[3]; } \
                       @compose { a = sum(x, w); y = twice(a); } }";

    #[test]
    fn formulas_read_tensors_in_their_own_types() {
        let types = [("main.G.w", RealType::F16), ("a", RealType::F16)];
        let model = model(TWO, RealType::F32, &types);
        assert_eq!(invoked(&model), ["main.sum(f32,f16,f16)", "main.twice(f16,f32)"]);
        assert_eq!(model.variables[0].numbers.real, RealType::F16);
        let widest = model.functions.iter().map(|f| f.numbers.work().real);
        assert!(widest.into_iter().all(|real| real == RealType::F32));
    }

    #[test]
    fn tensors_of_one_narrower_type_compute_in_it() {
        let types = [("x", RealType::F32), ("main.G.w", RealType::F32), ("a", RealType::F32)];
        let model = model(TWO, RealType::F64, &types);
        assert_eq!(invoked(&model), ["main.sum(f32,f32,f32)", "main.twice(f32,f64)"]);
        let entry = model.function(model.entry).unwrap();
        let Body::Block(block) = &entry.body else { panic!("the entry is not a graph") };
        let Some(Operation::Invoke(first)) = block.operations.first() else {
            panic!("the graph invokes nothing")
        };
        let sum = model.function(first.callee).unwrap();
        assert_eq!(sum.numbers.work().real, RealType::F32);
    }

    #[test]
    fn composite_operators_are_wide() {
        let graph = "graph G { @input { x: real[3]; } @output { y: real[3]; } @compose { y = four(x); } }";
        let model = model(graph, RealType::F32, &[("x", RealType::BF16), ("y", RealType::BF16)]);
        assert_eq!(invoked(&model), ["main.four(f32,f32)"]);
    }

    #[test]
    fn branches_agree() {
        let graph = "graph G { @input { c: bool[]; x: real[3]; } @output { y: real[3]; } \
                     @compose { a = twice(x); y = if c then { yield a; } else { yield x; }; } }";
        let model = model(graph, RealType::F32, &[("a", RealType::F16)]);
        assert_eq!(invoked(&model), ["main.twice(f32,f32)"]);
    }

    #[test]
    fn no_types_change_nothing() {
        let plain = model(TWO, RealType::F32, &[]);
        let same = model(TWO, RealType::F32, &[("a", RealType::F32), ("b", RealType::F16)]);
        assert_eq!(plain.functions.len(), same.functions.len());
    }
}
