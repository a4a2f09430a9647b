// SPDX-License-Identifier: Apache-2.0
//! Tests of layouts, including properties of layouts of random graphs.

use super::*;
use crate::picture::{Edge, Kind, Node};
use proptest::prelude::*;

fn scope(titles: &[usize], edges: &[(usize, usize)]) -> Scope {
    let node = |length: &usize| Node {
        kind: Kind::Operator,
        title: "x".repeat(*length),
        label: None,
        is_label_implicit: false,
        change: None,
        note: None,
        instance: None,
        location: String::new(),
        call: String::new(),
        inputs: vec![],
        outputs: vec![],
        captures: vec![],
        unseen: vec![],
        operands: 0,
        role: None,
        inside: vec![],
        width: 0,
        height: 0,
        layer: 0,
        x: 0,
    };
    let edge = |(from, to): &(usize, usize)| Edge {
        from: *from,
        to: *to,
        name: String::new(),
        r#type: String::new(),
        via: vec![],
    };
    Scope { nodes: titles.iter().map(node).collect(), edges: edges.iter().map(edge).collect() }
}

#[test]
fn a_chain_is_straight() {
    let mut chain = scope(&[3, 20, 4, 9], &[(0, 1), (1, 2), (2, 3)]);
    arrange(&mut chain);
    let layers: Vec<usize> = chain.nodes.iter().map(|n| n.layer).collect();
    assert_eq!(layers, [0, 1, 2, 3]);
    assert!(chain.nodes.iter().all(|n| n.x == 0), "{chain:?}");
}

#[test]
fn a_skip_goes_around_the_boxes() {
    let mut skip = scope(&[8; 4], &[(0, 1), (1, 2), (2, 3), (0, 3)]);
    arrange(&mut skip);
    let via = skip.edges[3].via.clone();
    assert_eq!(via.len(), 2);
    for (point, node) in via.iter().zip(&skip.nodes[1..]) {
        assert!((point - node.x).unsigned_abs() > node.width / 2, "{skip:?}");
    }
}

#[test]
fn crossed_pairs_are_untangled() {
    let mut crossed = scope(&[6; 4], &[(0, 3), (1, 2)]);
    arrange(&mut crossed);
    let x: Vec<i32> = crossed.nodes.iter().map(|n| n.x).collect();
    assert_eq!((x[0] < x[1]), (x[3] < x[2]), "{x:?}");
}

#[test]
fn too_many_points_are_left_out() {
    let last = 400;
    let chain = (1..=last).map(|n| (n - 1, n));
    let skips = (0..last - 1).map(|n| (n, last));
    let edges: Vec<_> = chain.chain(skips).collect();
    let mut dense = scope(&vec![5; last + 1], &edges);
    arrange(&mut dense);
    let points: usize = dense.edges.iter().map(|e| e.via.len()).sum();
    assert!(points <= MAX_POINTS, "{points}");
    assert!(points > MAX_POINTS / 2, "{points}");
}

#[test]
fn an_empty_graph_has_a_layout() {
    arrange(&mut scope(&[], &[]));
}

proptest! {
    #[test]
    fn layers_follow_edges_and_boxes_are_disjoint(
        titles in proptest::collection::vec(1usize..30, 1..40),
        pairs in proptest::collection::vec((0usize..40, 0usize..40), 0..80),
    ) {
        let count = titles.len();
        let mut edges: Vec<_> = pairs.into_iter().map(|(a, b)| (a % count, b % count)).filter(|(a, b)| a < b).collect();
        edges.sort_by_key(|(_, to)| *to);
        let mut random = scope(&titles, &edges);
        arrange(&mut random);
        for edge in &random.edges {
            let (from, to) = (&random.nodes[edge.from], &random.nodes[edge.to]);
            prop_assert!(from.layer < to.layer);
            prop_assert_eq!(edge.via.len(), to.layer - from.layer - 1);
        }
        for (n, a) in random.nodes.iter().enumerate() {
            for b in &random.nodes[n + 1..] {
                let apart = (a.x - b.x).unsigned_abs() >= (a.width + b.width) / 2;
                prop_assert!(a.layer != b.layer || apart, "{:?} {:?}", a, b);
            }
        }
        let mut again = scope(&titles, &edges);
        arrange(&mut again);
        let places = |s: &Scope| s.nodes.iter().map(|n| (n.layer, n.x)).collect::<Vec<_>>();
        prop_assert_eq!(places(&random), places(&again));
    }
}
