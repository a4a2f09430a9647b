// SPDX-License-Identifier: Apache-2.0
//! The blocks of branches and loops that correspond to each other.

use super::graph::{Graph, Level, NameMap};
use super::matching::{Numbers, edits};
use crate::picture::Inside;
use similar::DiffTag;
use std::rc::Rc;

/// The graphs of two corresponding blocks, or of one that only one model has, with its title.
type Aligned<'p> = ([Option<usize>; 2], &'p str);

/// The corresponding blocks of two boxes. The arms of branches correspond by their conditions.
pub(super) fn aligned<'p>(
    graphs: [&Graph<'p>; 2],
    boxes: [usize; 2],
    tensors: &[Rc<NameMap>; 2],
) -> Vec<Aligned<'p>> {
    let ([a, b], [one, other]) = (graphs, boxes);
    let (first, second) = (a.node(one).inside.as_slice(), b.node(other).inside.as_slice());
    let (Some((arms, last)), Some((other_arms, other_last))) = (arms(first), arms(second)) else {
        return by_title(first, second);
    };
    let [first_names, second_names] = tensors;
    let mut numbers = Numbers::default();
    let [keys, other_keys] =
        [(a, arms, first_names), (b, other_arms, second_names)].map(|(graph, arms, tensors)| {
            let conditions = arms.iter().step_by(2);
            let keys = conditions.map(|condition| {
                let Some(mut block) = Graph::new(graph.model, condition.scope, Level::Block) else {
                    return Vec::new();
                };
                block.dimensions.clone_from(&graph.dimensions);
                block.tensors = Rc::clone(tensors);
                let mut key = numbers.number(&block);
                key.sort_unstable();
                key
            });
            keys.collect::<Vec<_>>()
        });
    let mut pairs = Vec::new();
    for operation in edits(&keys, &other_keys) {
        let (mut old, mut new) = (operation.old_range(), operation.new_range());
        loop {
            let pair = match operation.tag() {
                DiffTag::Delete => [old.next(), None],
                DiffTag::Insert => [None, new.next()],
                DiffTag::Equal | DiffTag::Replace => [old.next(), new.next()],
            };
            if pair == [None, None] {
                break;
            }
            pairs.extend(arm(pair, arms, other_arms));
        }
    }
    pairs.push(([Some(last.scope), Some(other_last.scope)], &last.title));
    pairs
}

/// Condition and consequent of each arm of a branch, and its last block; `None` for other boxes.
fn arms(inside: &[Inside]) -> Option<(&[Inside], &Inside)> {
    let (last, arms) = inside.split_last()?;
    (last.title == "else").then_some((arms, last))
}

/// The blocks of two arms. Of an arm that only one model has, the condition represents both blocks.
fn arm<'p>(pair: [Option<usize>; 2], arms: &'p [Inside], others: &'p [Inside]) -> Vec<Aligned<'p>> {
    let block = |inside: &'p [Inside], at: Option<usize>, part: usize| inside.get(at? * 2 + part);
    let parts = if pair.contains(&None) { 0..1 } else { 0..2 };
    let blocks = parts.filter_map(|part| {
        let (one, other) = (block(arms, pair[0], part), block(others, pair[1], part));
        let title = one.or(other)?.title.as_str();
        Some(([one, other].map(|block| block.map(|block| block.scope)), title))
    });
    blocks.collect()
}

/// The blocks of loops.
fn by_title<'p>(first: &'p [Inside], second: &'p [Inside]) -> Vec<Aligned<'p>> {
    let partner = |list: &[Inside], title: &str| {
        list.iter().find(|other| other.title == title).map(|block| block.scope)
    };
    let both =
        first.iter().map(|block| ([Some(block.scope), partner(second, &block.title)], block.title.as_str()));
    let added = second.iter().filter(|block| partner(first, &block.title).is_none());
    both.chain(added.map(|block| ([None, Some(block.scope)], block.title.as_str()))).collect()
}
