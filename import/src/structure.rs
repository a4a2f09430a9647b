// SPDX-License-Identifier: Apache-2.0
//! Repeated blocks of a graph become operators.
//!
//! A window is a run of statements. Windows of equal [`Form`]s differ only in the values that they read from outside and in their
//! arrays of weights. In each round the form that saves most statements becomes a [`Template`], and its windows become
//! instances; the rounds end when no form saves enough.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::extent::Extent;
use crate::literals::extent_list;
use crate::statement::{Argument, Block, Body, Instance, Statement, Template, is_marked, marked};
use crate::value::{Value, spelled};
use crate::write::{Written, written};

/// An operator has at least this many statements, and at most.
const FEWEST: usize = 3;
const MOST: usize = 2000;
/// An operator saves at least this many statements.
const LEAST_GAIN: usize = 4;
/// Later statements of the same kind that a statement is compared with.
const COMPARED: usize = 6;
/// Lengths of windows that a round tries, and rounds.
const MOST_LENGTHS: usize = 64;
const MOST_ROUNDS: usize = 32;

/// Replaces repeated statements of the graph.
pub fn structure(block: &mut Block, inputs: &[Value], dims: &[String]) {
    let mut finder = Finder { dims, given: inputs.iter().map(|v| v.id).collect(), uses: HashMap::new() };
    for value in block.statements.iter().flat_map(|s| &s.results) {
        finder.given.insert(value.id);
    }
    for index in 0..MOST_ROUNDS {
        finder.count_uses(block);
        let Some(found) = finder.best(&block.statements) else {
            break;
        };
        finder.replace(block, &found, index);
    }
}

/// What windows of equal structure have in common, and the values in which this one differs.
struct Form {
    text: String,
    inputs: Vec<Value>,
    variables: Vec<Value>,
}

/// Windows of the same form.
struct Found {
    starts: Vec<usize>,
    length: usize,
    score: Score,
}

/// Statements that are saved; components of node names that the window shares; inputs and outputs, of which fewer are better.
type Score = (usize, usize, std::cmp::Reverse<usize>);

struct Finder<'i> {
    /// Names of dynamic dimensions.
    dims: &'i [String],
    /// The inputs of the graph and the results of statements.
    given: HashSet<usize>,
    /// The number of statements, and outputs, that read a value.
    uses: HashMap<usize, usize>,
}

impl Finder<'_> {
    fn count_uses(&mut self, block: &Block) {
        self.uses = uses_in(&block.statements);
        for value in &block.yields {
            *self.uses.entry(value.id).or_default() += 1;
        }
    }

    /// The form that saves most.
    fn best(&self, statements: &[Statement]) -> Option<Found> {
        let keys = keys(statements);
        let prefixes = prefix_hashes(&keys);
        let mut best: Option<Found> = None;
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
                let enough = best.as_ref().map_or(LEAST_GAIN, |b| b.score.0);
                if gain(starts.len(), length) < enough {
                    continue;
                }
                for found in self.equal(statements, &starts, length) {
                    if best.as_ref().is_none_or(|b| found.score > b.score) {
                        best = Some(found);
                    }
                }
            }
        }
        best
    }

    /// The windows, which have statements of the same kinds, by their forms.
    fn equal(&self, statements: &[Statement], starts: &[usize], length: usize) -> Vec<Found> {
        let mut forms: BTreeMap<String, (Vec<usize>, usize)> = BTreeMap::new();
        for start in starts {
            let window = statements.get(*start..*start + length).unwrap_or_default();
            if let Some(form) = self.form(window) {
                let entry = forms.entry(form.text);
                let (starts, _) = entry.or_insert_with(|| (Vec::new(), form.inputs.len()));
                if starts.last().is_none_or(|last| last + length <= *start) {
                    starts.push(*start);
                }
            }
        }
        let mut found = Vec::new();
        for (starts, inputs) in forms.into_values() {
            let saved = gain(starts.len(), length);
            let outputs = self.outputs(statements, &starts, length).len();
            if starts.len() < 2 || saved < LEAST_GAIN || outputs == 0 {
                continue;
            }
            let windows = starts.iter().filter_map(|s| statements.get(*s..s + length));
            let shared = windows.map(|w| prefix(w).matches(['/', '.']).count());
            found.push(Found {
                score: (saved, shared.min().unwrap_or(0), std::cmp::Reverse(inputs + outputs)),
                starts,
                length,
            });
        }
        found
    }

    /// The results that something outside reads, by statement and number, in any of the windows.
    fn outputs(&self, statements: &[Statement], starts: &[usize], length: usize) -> BTreeSet<(usize, usize)> {
        let mut outputs = BTreeSet::new();
        for start in starts {
            let window = statements.get(*start..start + length).unwrap_or_default();
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

    /// The form of a window; `None` if it cannot be an operator.
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

    fn replace(&self, block: &mut Block, found: &Found, index: usize) {
        let outputs = self.outputs(&block.statements, &found.starts, found.length);
        let mut rest: Vec<Option<Statement>> =
            std::mem::take(&mut block.statements).into_iter().map(Some).collect();
        let mut operator: Option<Rc<Template>> = None;
        for start in &found.starts {
            let Some(slots) = rest.get_mut(*start..start + found.length) else {
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
        block.statements = rest.into_iter().flatten().collect();
    }
}

/// Writes the form of a window.
struct FormBuilder<'f> {
    finder: &'f Finder<'f>,
    /// Results of the window, by statement and number.
    inside: HashMap<usize, (usize, usize)>,
    /// The number of statements of the window that read a value.
    reads: HashMap<usize, usize>,
    /// The numbers of inputs and variables.
    slots: HashMap<usize, String>,
    form: Form,
    /// Dynamic dimensions that the window names.
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
        // What is shared with other windows, or with statements outside, is an input.
        let own = self.reads.get(&value.id) == self.finder.uses.get(&value.id);
        let slot = match written(value) {
            Written::Variable if !given && own => {
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

    /// A text without values; `None` if it names any.
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

    /// Whether each dimension that the window names is an extent of an input, before any extent that depends on it.
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

/// The statements that `count` windows save.
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

/// Numbers of the kinds of statements: operator, attributes, types. What cannot be in a window has a number of its own.
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

/// Lengths of runs that occur again, the longest first.
fn lengths(keys: &[usize]) -> Vec<usize> {
    let mut next: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    for (start, key) in keys.iter().enumerate().rev() {
        let later = next.entry(*key).or_default();
        for other in later.iter().rev().take(COMPARED) {
            let most = (other - start).min(MOST);
            let pairs = keys.iter().skip(start).zip(keys.iter().skip(*other));
            let equal = pairs.take(most).take_while(|(a, b)| a == b).count();
            if equal >= FEWEST {
                *found.entry(equal).or_default() += 1;
            }
        }
        later.push(start);
    }
    let mut lengths: Vec<(usize, usize)> = found.into_iter().collect();
    lengths.sort_by_key(|(length, count)| std::cmp::Reverse(gain(count + 1, *length)));
    lengths.truncate(MOST_LENGTHS);
    lengths.sort_unstable();
    lengths.iter().rev().map(|(length, _)| *length).collect()
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Polynomial hashes of the first keys, with the powers of the factor.
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

/// What the names of all nodes of a window begin with, up to a `/` or `.`.
fn prefix(window: &[Statement]) -> String {
    let mut names = window.iter().map(|s| s.node.as_str());
    let first = names.next().unwrap_or_default();
    let common = names.fold(first, |common, name| {
        let equal = common.char_indices().zip(name.chars());
        let end = equal.take_while(|((_, a), b)| a == b).last();
        let end = end.map_or(0, |((at, c), _)| at + c.len_utf8());
        common.get(..end).unwrap_or_default()
    });
    let end = common.rfind(['/', '.']).map_or(0, |at| at + 1);
    common.get(..end).unwrap_or_default().to_owned()
}

/// `Layer` of `/encoder/layer.0/`: the last component that has letters.
fn operator_name(prefix: &str) -> String {
    let mut parts = prefix.rsplit(['/', '.', ':']);
    let name = parts.find(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
    let name = name.unwrap_or("Block");
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
