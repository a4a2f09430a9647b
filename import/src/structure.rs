// SPDX-License-Identifier: Apache-2.0
//! Converts repeated blocks of a graph to operators.
//!
//! A window is a sequence of consecutive statements. Windows with equal [`Form`]s differ only in the values that they read from
//! outside and in their weights. Each round converts the form that saves the most statements to a [`Template`], and its windows to
//! instances, until no form saves enough.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::extent::Extent;
use crate::literals::extent_list;
use crate::statement::{Argument, Block, Body, Instance, Statement, Template, is_marked, marked};
use crate::value::{Value, spelled};
use crate::write::{Written, written};

/// Minimum and maximum number of statements of an operator.
const MIN_STATEMENTS: usize = 3;
const MAX_STATEMENTS: usize = 2000;
/// Minimum number of statements that an operator saves.
const MIN_GAIN: usize = 4;
/// Maximum number of later statements of the same kind that a statement is compared with.
const MAX_COMPARED: usize = 6;
/// Maximum number of window lengths that a round tries.
const MAX_LENGTHS: usize = 64;
/// Maximum number of rounds.
const MAX_ROUNDS: usize = 32;

/// Replaces repeated statements of the graph.
pub fn structure(block: &mut Block, inputs: &[Value], dims: &[String]) {
    let mut finder = Finder { dims, given: inputs.iter().map(|v| v.id).collect(), uses: HashMap::new() };
    for value in block.statements.iter().flat_map(|s| &s.results) {
        finder.given.insert(value.id);
    }
    for index in 0..MAX_ROUNDS {
        finder.count_uses(block);
        let Some(group) = finder.best(&block.statements) else {
            break;
        };
        finder.replace(block, &group, index);
    }
}

/// The text that is equal for windows of equal structure, and the values in which the windows differ.
struct Form {
    text: String,
    inputs: Vec<Value>,
    variables: Vec<Value>,
}

/// Windows of equal form.
struct Group {
    starts: Vec<usize>,
    length: usize,
    score: Score,
}

/// The number of saved statements, the number of shared components of node names, and the number of inputs and outputs (fewer are
/// better).
type Score = (usize, usize, std::cmp::Reverse<usize>);

struct Finder<'i> {
    /// The names of dynamic dimensions.
    dims: &'i [String],
    /// The inputs of the graph and the results of statements.
    given: HashSet<usize>,
    /// The number of statements and outputs that read each value.
    uses: HashMap<usize, usize>,
}

impl Finder<'_> {
    fn count_uses(&mut self, block: &Block) {
        self.uses = uses_in(&block.statements);
        for value in &block.yields {
            *self.uses.entry(value.id).or_default() += 1;
        }
    }

    /// Finds the windows that save the most statements.
    fn best(&self, statements: &[Statement]) -> Option<Group> {
        let keys = keys(statements);
        let prefixes = prefix_hashes(&keys);
        let mut best: Option<Group> = None;
        for length in lengths(&keys) {
            let mut windows: HashMap<u64, Vec<usize>> = HashMap::new();
            for start in 0..=statements.len().saturating_sub(length) {
                if let Some(hash) = window_hash(&prefixes, start, length) {
                    windows.entry(hash).or_default().push(start);
                }
            }
            let mut windows: Vec<Vec<usize>> = windows.into_values().collect();
            windows.sort_unstable();
            for starts in windows {
                let enough = best.as_ref().map_or(MIN_GAIN, |b| b.score.0);
                if gain(starts.len(), length) < enough {
                    continue;
                }
                for group in self.equal(statements, &starts, length) {
                    if best.as_ref().is_none_or(|b| group.score > b.score) {
                        best = Some(group);
                    }
                }
            }
        }
        best
    }

    /// Groups windows with statements of the same kinds by form.
    fn equal(&self, statements: &[Statement], starts: &[usize], length: usize) -> Vec<Group> {
        let mut forms: BTreeMap<String, (Vec<usize>, usize)> = BTreeMap::new();
        for start in starts {
            let window = statements.get(*start..*start + length);
            if let Some(form) = window.and_then(|window| self.form(window)) {
                let entry = forms.entry(form.text);
                let (starts, _) = entry.or_insert_with(|| (Vec::new(), form.inputs.len()));
                if starts.last().is_none_or(|last| last + length <= *start) {
                    starts.push(*start);
                }
            }
        }
        let mut groups = Vec::new();
        for (starts, inputs) in forms.into_values() {
            let saved = gain(starts.len(), length);
            let outputs = self.outputs(statements, &starts, length).len();
            if starts.len() < 2 || saved < MIN_GAIN || outputs == 0 {
                continue;
            }
            let windows = starts.iter().filter_map(|s| statements.get(*s..s + length));
            let shared = windows.map(|w| prefix(w).matches(['/', '.']).count());
            let Some(shared) = shared.min() else {
                continue;
            };
            groups.push(Group {
                score: (saved, shared, std::cmp::Reverse(inputs + outputs)),
                starts,
                length,
            });
        }
        groups
    }

    /// The results that are read outside of their window, for any of the windows, as positions of the statement and of the result.
    fn outputs(&self, statements: &[Statement], starts: &[usize], length: usize) -> BTreeSet<(usize, usize)> {
        let mut outputs = BTreeSet::new();
        for window in starts.iter().filter_map(|start| statements.get(*start..start + length)) {
            let inside = uses_in(window);
            for (at, statement) in window.iter().enumerate() {
                for (number, result) in statement.results.iter().enumerate() {
                    if self.uses.get(&result.id) != inside.get(&result.id) {
                        outputs.insert((at, number));
                    }
                }
            }
        }
        outputs
    }

    /// The form of a window; `None` if the window cannot become an operator.
    fn form(&self, window: &[Statement]) -> Option<Form> {
        let mut builder = FormBuilder {
            finder: self,
            inside: HashMap::new(),
            reads: uses_in(window),
            slots: HashMap::new(),
            form: Form { text: String::new(), inputs: Vec::new(), variables: Vec::new() },
            mentioned: BTreeSet::new(),
        };
        for (at, statement) in window.iter().enumerate() {
            builder.statement(at, statement)?;
        }
        builder.dimensions_are_bound()?;
        Some(builder.form)
    }

    fn replace(&self, block: &mut Block, group: &Group, index: usize) {
        let outputs = self.outputs(&block.statements, &group.starts, group.length);
        let mut remaining: Vec<Option<Statement>> =
            std::mem::take(&mut block.statements).into_iter().map(Some).collect();
        let mut operator: Option<Rc<Template>> = None;
        for start in &group.starts {
            let Some(slots) = remaining.get_mut(*start..start + group.length) else {
                continue;
            };
            let window: Vec<Statement> = slots.iter_mut().filter_map(Option::take).collect();
            let Some(form) = self.form(&window) else {
                continue;
            };
            let results: Vec<Value> = outputs
                .iter()
                .filter_map(|(at, number)| window.get(*at)?.results.get(*number).cloned())
                .collect();
            let prefix = prefix(&window);
            let node = prefix.trim_end_matches(['/', '.']).to_owned();
            let operator = operator.get_or_insert_with(|| {
                Rc::new(Template {
                    index,
                    name: operator_name(&prefix),
                    prefix,
                    dimensions: self.dims.to_vec(),
                    inputs: form.inputs.clone(),
                    variables: form.variables.clone(),
                    block: Block { statements: window, yields: results.clone() },
                })
            });
            let instance = Instance {
                operator: operator.clone(),
                label: node.clone(),
                arguments: form.inputs,
                variables: form.variables,
            };
            if let Some(slot) = slots.last_mut() {
                *slot = Some(Statement { results, body: Body::Instance(instance), node });
            }
        }
        block.statements = remaining.into_iter().flatten().collect();
    }
}

/// Computes the form of a window.
struct FormBuilder<'f> {
    finder: &'f Finder<'f>,
    /// The results of the window: the positions of the statement and of the result.
    inside: HashMap<usize, (usize, usize)>,
    /// The number of statements of the window that read each value.
    reads: HashMap<usize, usize>,
    /// The texts of inputs and variables.
    slots: HashMap<usize, String>,
    form: Form,
    /// The dynamic dimensions that occur in the window.
    mentioned: BTreeSet<String>,
}

impl FormBuilder<'_> {
    fn statement(&mut self, at: usize, statement: &Statement) -> Option<()> {
        if let Some((operator, attributes, arguments)) = statement.body.call() {
            self.form.text.push_str(operator);
            for (name, text) in attributes {
                let text = self.text(text)?;
                self.form.text.push_str(&format!(" {name}={text}"));
            }
            for argument in arguments {
                self.argument(argument)?;
            }
        } else if let Body::Same(value) = &statement.body {
            self.argument(&Argument::Tensor(value.clone()))?;
        } else {
            return None;
        }
        for (number, result) in statement.results.iter().enumerate() {
            let kind = self.kind(result)?;
            self.form.text.push_str(&format!(" : {kind}"));
            self.inside.insert(result.id, (at, number));
        }
        self.form.text.push('\n');
        Some(())
    }

    fn argument(&mut self, argument: &Argument) -> Option<()> {
        let text = match argument {
            Argument::Tensor(value) => self.value(value)?,
            Argument::Number(text) => self.text(text)?,
            Argument::Absent => "~".to_owned(),
            Argument::Pack(values) => {
                let texts: Option<Vec<String>> = values.iter().map(|v| self.value(v)).collect();
                format!("[{}]", texts?.join(","))
            }
        };
        self.form.text.push_str(&format!(" ({text})"));
        Some(())
    }

    fn value(&mut self, value: &Value) -> Option<String> {
        if let Some((at, number)) = self.inside.get(&value.id) {
            return Some(format!("%{at}.{number}"));
        }
        if let Some(slot) = self.slots.get(&value.id) {
            return Some(slot.clone());
        }
        let kind = self.kind(value)?;
        let given = self.finder.given.contains(&value.id);
        // A weight that is also read outside of the window is an input of the operator, not a variable.
        let is_local = self.reads.get(&value.id) == self.finder.uses.get(&value.id);
        let slot = match written(value) {
            Written::Variable if !given && is_local => {
                self.form.variables.push(value.clone());
                format!("variable {}: {kind}", self.form.variables.len())
            }
            form if given || form == Written::Variable => {
                self.form.inputs.push(value.clone());
                format!("input {}: {kind}", self.form.inputs.len())
            }
            Written::Extent(_) | Written::Extents(_) => return None,
            form => return Some(format!("{form:?}: {kind}")),
        };
        self.slots.insert(value.id, slot.clone());
        Some(slot)
    }

    fn kind(&mut self, value: &Value) -> Option<String> {
        if value.items.is_some() {
            return None;
        }
        for extent in &value.shape {
            self.text(&marked(extent))?;
        }
        let kind = value.element.name();
        Some(format!("{kind}{}", extent_list(&value.shape)))
    }

    /// Returns the text if it does not refer to values, and records its dynamic dimensions.
    fn text(&mut self, text: &str) -> Option<String> {
        if is_marked(text) {
            return None;
        }
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if self.finder.dims.iter().any(|d| d == word) {
                self.mentioned.insert(word.to_owned());
            }
        }
        Some(text.to_owned())
    }

    /// Checks that each dynamic dimension that occurs in the window is an extent of an input, and that this extent precedes all
    /// extents of inputs that are computed from the dimension.
    fn dimensions_are_bound(&self) -> Option<()> {
        let mut bound: HashSet<&str> = HashSet::new();
        for extent in self.form.inputs.iter().flat_map(|v| &v.shape) {
            match extent.name() {
                Some(name) => {
                    bound.insert(name);
                }
                None => {
                    let named = |d: &&String| mentions(extent, d);
                    let names = self.finder.dims.iter().filter(named);
                    let all = names.map(String::as_str).all(|d| bound.contains(d));
                    if !all {
                        return None;
                    }
                }
            }
        }
        let all = self.mentioned.iter().all(|d| bound.contains(d.as_str()));
        all.then_some(())
    }
}

/// Whether an extent depends on a dynamic dimension.
fn mentions(extent: &Extent, dimension: &str) -> bool {
    let text = marked(extent);
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| word == dimension)
}

/// The number of statements that `count` windows save.
fn gain(count: usize, length: usize) -> usize {
    (count.saturating_sub(1) * length).saturating_sub(count)
}

/// The number of statements that read each value.
fn uses_in(statements: &[Statement]) -> HashMap<usize, usize> {
    let mut uses = HashMap::new();
    for statement in statements {
        let mut read = BTreeSet::new();
        statement.reads(&mut read);
        for id in read {
            *uses.entry(id).or_default() += 1;
        }
    }
    uses
}

/// The kind of each statement (operator, attributes, types) as a number. Each statement that cannot be in a window has a unique number.
fn keys(statements: &[Statement]) -> Vec<usize> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut keys = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let text = match (statement.body.call(), &statement.body) {
            (Some((operator, attributes, arguments)), _) => {
                let arguments: Vec<String> = arguments.iter().map(kind_of).collect();
                format!("{operator}{attributes:?}{arguments:?}")
            }
            (None, Body::Same(value)) => format!("same {}", typed(value)),
            (None, _) => format!("#{at}"),
        };
        let results: Vec<String> = statement.results.iter().map(typed).collect();
        let next = numbers.len();
        keys.push(*numbers.entry(format!("{text}{results:?}")).or_insert(next));
    }
    keys
}

fn kind_of(argument: &Argument) -> String {
    match argument {
        Argument::Tensor(value) => typed(value),
        Argument::Number(text) => text.clone(),
        Argument::Absent => "~".to_owned(),
        Argument::Pack(values) => format!("{:?}", values.iter().map(typed).collect::<Vec<_>>()),
    }
}

fn typed(value: &Value) -> String {
    format!("{}{}", spelled(value.element), extent_list(&value.shape))
}

/// The lengths of repeated sequences, the longest first.
fn lengths(keys: &[usize]) -> Vec<usize> {
    let mut next: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (start, key) in keys.iter().enumerate().rev() {
        let later = next.entry(*key).or_default();
        for other in later.iter().rev().take(MAX_COMPARED) {
            let max_length = (other - start).min(MAX_STATEMENTS);
            let pairs = keys.iter().skip(start).zip(keys.iter().skip(*other));
            let equal = pairs.take(max_length).take_while(|(a, b)| a == b).count();
            if equal >= MIN_STATEMENTS {
                *counts.entry(equal).or_default() += 1;
            }
        }
        later.push(start);
    }
    let mut lengths: Vec<(usize, usize)> = counts.into_iter().collect();
    lengths.sort_by_key(|(length, count)| std::cmp::Reverse(gain(count + 1, *length)));
    lengths.truncate(MAX_LENGTHS);
    lengths.sort_unstable();
    lengths.iter().rev().map(|(length, _)| *length).collect()
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Polynomial hashes of the prefixes of `keys`, with the powers of the factor.
fn prefix_hashes(keys: &[usize]) -> Vec<(u64, u64)> {
    let mut hashes = vec![(0, 1)];
    let (mut hash, mut power) = (0u64, 1u64);
    for key in keys {
        hash = hash.wrapping_mul(FACTOR).wrapping_add(*key as u64 + 1);
        power = power.wrapping_mul(FACTOR);
        hashes.push((hash, power));
    }
    hashes
}

fn window_hash(prefixes: &[(u64, u64)], start: usize, length: usize) -> Option<u64> {
    let (before, _) = prefixes.get(start)?;
    let (after, _) = prefixes.get(start + length)?;
    let (_, power) = prefixes.get(length)?;
    Some(after.wrapping_sub(before.wrapping_mul(*power)))
}

fn common_prefix<'a>(a: &'a str, b: &str) -> &'a str {
    let equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    let length = equal.map(|(a, _)| a.len_utf8()).sum();
    a.split_at(length).0
}

/// The common prefix of the node names of a window, up to a `/` or `.`.
fn prefix(window: &[Statement]) -> String {
    let names = window.iter().map(|statement| statement.node.as_str());
    let common = names.reduce(common_prefix).unwrap_or("");
    let length = common.rfind(['/', '.']).map_or(0, |at| at + 1);
    common.split_at(length).0.to_owned()
}

/// The last component that begins with a letter: `Layer` for `/encoder/layer.0/`.
fn operator_name(prefix: &str) -> String {
    let mut parts = prefix.rsplit(['/', '.', ':']);
    let name = parts.find(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
    let name = name.unwrap_or("Block");
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
