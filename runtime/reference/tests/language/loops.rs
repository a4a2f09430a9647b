// SPDX-License-Identifier: Apache-2.0
//! Loops (2.10.1): packs as loop-carried values, packs of dynamic length.

use crate::run::{flag, ints, outputs, reals, run};

const OPERATORS: &str = "operator add { @input { a: real[s..]; b: real[s..]; } @output { c: real[s..]; } \
    @lower { c[i..] = a[i..] + b[i..], i < s; } } \
    operator less { @input { a: real[]; m: real[]; } @output { c: bool[]; } @lower { c[] = a[] < m[]; } } \
    operator sum { @input { xs: real[]..(k); } @output { y: real[]; } @lower { y[] += xs[i][], i < k; } } ";

fn results(graph: &str, inputs: &[std::sync::Arc<skript_tensor::Tensor>]) -> Vec<Vec<f64>> {
    outputs(&format!("{OPERATORS} {graph}"), inputs)
}

/// Each step maps (a, b) to (b, a + b).
#[test]
fn s2_10_1_packs_are_carried_through_loops() {
    let graph = |count: &str| {
        format!(
            "graph G {{ @input {{ k: int[]; x: real[1]; }} @output {{ y: real[1]; z: real[1]; }} \
             @compose {{ p..(2) = with p = [x, x] do..({count}) {{ s = add(p[0], p[1]); yield [p[1], s]; }}; \
             y = p[0]; z = p[1]; }} }}"
        )
    };
    let inputs = [ints(&[], &[4]), reals(&[1], &[1.0])];
    assert_eq!(results(&graph("4"), &inputs), [[5.0], [8.0]]);
    assert_eq!(results(&graph("k"), &inputs), [[5.0], [8.0]]);
}

#[test]
fn s2_10_1_a_scalar_starts_all_tensors_of_a_declared_pack() {
    let graph = "graph G { @input { k: int[]; x: real[2]; } @output { y: real[2]; z: real[2]; } \
        @compose { [y, z] = with p: real[2]..(2) = 1.0 do..(k) { a = add(p[0], x); yield [p[1], a]; }; } }";
    let inputs = [ints(&[], &[3]), reals(&[2], &[1.0, 2.0])];
    assert_eq!(results(graph, &inputs), [[2.0, 3.0], [3.0, 5.0]]);
}

/// A loop that ends by a condition returns a pack of dynamic length; another loop iterates over it.
#[test]
fn s2_10_1_loops_scan_packs_of_run_time_length() {
    let graph = "graph G { @input { x: real[]; m: real[]; } @output { y: real[]; z: real[]; } \
        @compose { last, all.. = with s: real = x while less(s, m) do..(9) { t = add(s, s); yield t, t; }; \
        y = with s: real = 0.0 for a : all do add(s, a); \
        twice.. = for a : all do add(a, a); z = sum(twice); } }";
    let scalar = |v: f32| reals(&[], &[v]);
    assert_eq!(results(graph, &[scalar(1.0), scalar(5.0)]), [[14.0], [28.0]]);
    assert_eq!(results(graph, &[scalar(7.0), scalar(5.0)]), [[0.0], [0.0]]);
}

#[test]
fn s2_10_1_an_empty_pack_is_no_iteration() {
    let graph = "operator total { @input { c: bool[]; xs: real[]..(k); } @output { y: real[]; } \
        @compose { y = with s: real = 3.0 for x : xs do add(s, x) while c; } } \
        graph G { @input { c: bool[]; x: real[]; } @output { y: real[]; z: real[]; } \
        @compose { y = total(c, []); z = total(c, [x, x]); } }";
    let inputs = |go| [flag(go), reals(&[], &[1.0])];
    assert_eq!(results(graph, &inputs(true)), [[3.0], [5.0]]);
    assert_eq!(results(graph, &inputs(false)), [[3.0], [4.0]]);
}

/// `:` on the left writes all positions of a dimension at once.
#[test]
fn full_slices_stand_on_left_sides() {
    let graph = "operator positions { @input { x: bool[n,m]; } @output { y: int[n,m,2]; z: int[n,2]; } \
        @lower { y[i..,:] = i, i < [n, m]; z[i,:] = [i, 7], i < n; } } \
        graph G { @input { x: bool[s|3,2]; } @output { y: int[s,2,2]; z: int[s,2]; } @compose { y, z = positions(x); } }";
    let x = skript_tensor::Tensor::from_bool(&[2, 2], &[false; 4]).unwrap();
    let y = results(graph, &[std::sync::Arc::new(x)]);
    assert_eq!(y, [vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], vec![0.0, 7.0, 1.0, 7.0]]);
}

/// The results of a loop with a dynamic count fit the pack with a declared length; the length is checked at run time.
#[test]
fn s2_10_1_a_written_length_bounds_what_a_run_time_count_collects() {
    let graph = "graph G { @input { n: int[]; x: real[2]; } @output { y: real[2]; ys: real[2]..(3); } \
        @compose { last, zs..(3) = with s = x do..(n) { t = add(s, x); yield t, t; }; y = add(last, zs[0]); \
        ys = zs; } }";
    let inputs = |n| [ints(&[], &[n]), reals(&[2], &[1.0, 2.0])];
    assert_eq!(results(graph, &inputs(3)), [[6.0, 12.0], [2.0, 4.0], [3.0, 6.0], [4.0, 8.0]]);
    let short = run(&format!("{OPERATORS} {graph}"), &inputs(2)).unwrap_err();
    assert!(short.to_string().starts_with("the pack must have 3 items, it has 2"), "{short}");
    let long = run(&format!("{OPERATORS} {graph}"), &inputs(4)).unwrap_err();
    assert!(long.to_string().starts_with("the loop runs more than 3 iterations"), "{long}");
}

/// A scalar that is dynamic becomes a tensor where a tensor is expected.
#[test]
fn s2_10_1_run_time_extents_start_what_loops_carry() {
    let graph = "operator up { @input { i: int[]; } @output { y: int[]; } @lower { y[] = i[] + 1; } } \
        graph G { @input { x: real[n|7]; } @output { y: int[]; z: real[n]; } \
        @compose { y = with s: int[] = n do..(2) up(s); z = with s: real[n] = real(n) do..(3) add(s, x); } }";
    let x = reals(&[2], &[1.0, 10.0]);
    assert_eq!(results(graph, &[x]), [vec![4.0], vec![5.0, 32.0]]);
}

/// An item that is selected from a list at run time has the largest item as its upper bound.
#[test]
fn s3_1_extents_are_items_of_lists() {
    let graph = "operator full { @attrib { size: int; } @output { y: real[size]; } @lower { y[i,] = 1.0, i < size; } } \
        graph G { @input { x: real[n|3]; } @output { y: real[~]; } @compose { y = full{size=[2, 0, 5, 1][n]}(); } }";
    for (n, size) in [(0, 2), (1, 0), (2, 5), (3, 1)] {
        let x = reals(&[n], &vec![0.0; usize::try_from(n).unwrap()]);
        assert_eq!(results(graph, &[x]), [vec![1.0; size]], "{n}");
    }
}

/// The length of a loop-carried pack does not determine the number of steps.
#[test]
fn s2_10_1_the_length_of_a_carried_pack_is_no_bound_of_steps() {
    let graph = "graph G { @input { n: int[]; x: real[]; } @output { y: real[]; ys: real[]..(c|6); } \
        @compose { p..(3), ys.. = with s: real[]..(3) = [x, x, x] do..(n) { [a, b, ~] = s; t = add(a, b); \
        yield [t, a, b], t; }; y = p[0]; } }";
    let inputs = |n| [ints(&[], &[n]), reals(&[], &[1.0])];
    assert_eq!(results(graph, &inputs(4)), [vec![8.0], vec![2.0, 3.0, 5.0, 8.0]]);
    let long = run(&format!("{OPERATORS} {graph}"), &inputs(7)).unwrap_err();
    assert!(long.to_string().starts_with("the loop runs more than 6 iterations"), "{long}");
}

/// A loop without a count; the output's declaration has the upper bound, in the syntax of edition khronos.
#[test]
fn s2_10_1_an_output_bounds_what_a_condition_collects() {
    let graph = "graph G { @input { x: real[]; m: real[]; } @output { ys: real[]..(s|4); y: real[]; } \
        @compose { ~, ys.. = with s = x while less(s, m) do { t = add(s, s); yield t, t; }; y = sum(ys); } }";
    let scalars = |x: f32, m: f32| [reals(&[], &[x]), reals(&[], &[m])];
    assert_eq!(results(graph, &scalars(1.0, 5.0)), [vec![2.0, 4.0, 8.0], vec![14.0]]);
    assert_eq!(results(graph, &scalars(9.0, 5.0)), [vec![], vec![0.0]]);
    assert!(run(&format!("{OPERATORS} {graph}"), &scalars(1.0, 100.0)).is_err());
}

#[test]
fn s2_10_1_a_run_time_extent_counts_iterations() {
    let graph = "operator half { @input { i: int[]; } @output { y: real[]; } @lower { y[] = real(i[]) / 2.0; } } \
        operator pick { @input { xs: real[]..(k); } @output { y: real[k]; } @lower { y[i,] = xs[i][], i < k; } } \
        graph G { @input { x: real[s|9]; } @output { y: real[s]; last: real[]; } \
        @compose { last = with a: real = 0.0 do..(i -> x.shape[0] - 1) { h = half(i); t = add(a, h); yield t; }; \
        hs.. = do..(i -> x.shape[0]) half(i); y = pick(hs); } }";
    let x = reals(&[4], &[0.0; 4]);
    assert_eq!(results(graph, &[x]), [vec![0.0, 0.5, 1.0, 1.5], vec![1.5]]);
}

/// Operators, branches and loops return packs of dynamic length as packs.
#[test]
fn s2_10_1_packs_of_run_time_length_are_results() {
    let graph = "operator at_most { @attrib { k: int; } @input { x: real[]; n: int[]; } @output { ys: real[]..(s|k); } \
        @compose { ~, ys = with s = x do..(n) { t = add(s, s); yield t, t; }; } } \
        graph G { @input { x: real[]; n: int[]; c: bool[]; } @output { y: real[]; z: real[]; } \
        @compose { ys.. = at_most{k=5}(x, n); zs.. = if c then { yield ys; } else { us.. = for u : ys do add(u, x); yield us; }; \
        y = sum(zs); [a, b] = ys; z = add(a, b); } }";
    let inputs = |c| [reals(&[], &[1.0]), ints(&[], &[2]), flag(c)];
    assert_eq!(results(graph, &inputs(true)), [[6.0], [6.0]]);
    assert_eq!(results(graph, &inputs(false)), [[8.0], [6.0]]);
}

/// Tensors are split along a dynamic dimension, changed one by one and concatenated.
#[test]
fn s2_12_formulas_write_packs_of_run_time_length() {
    let graph = "operator cut { @input { x: real[n,m]; } @output { ys: real[m]..(n); sums: real[]..(n); } \
        @lower { ys[k][i,] = x[n - 1 - k,i], k < n, i < m; sums[k][] += ys[k][i,], k < n, i < m; } } \
        operator join { @input { xs: real[m]..(k); } @output { y: real[k,m]; } @lower { y[i,j] = xs[i][j,], i < k, j < m; } } \
        graph G { @input { x: real[s|4,2]; } @output { y: real[s,2]; z: real[]; } \
        @compose { ys.., sums.. = cut(x); zs.. = for y : ys, t : sums do add(y, y); y = join(zs); z = sum(sums); } }";
    let x = reals(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(results(graph, &[x]), [vec![10.0, 12.0, 6.0, 8.0, 2.0, 4.0], vec![21.0]]);
}

#[test]
fn s2_12_library_operators_take_run_time_time_axes() {
    let graph = "import layout; import nn; graph G { @input { x: real[t|5,1,2]; W: real[4,2]; R: real[4,1]; B: real[4]; } \
        @output { Y: real[~,1,1]; h: real[1,1]; z: real[t,1,2]; } \
        @compose { Y, h, ~ = nn.lstm(x, W, R, B); parts.. = layout.unstack{axis=0}(x); z = layout.stack{axis=0}(parts); } }";
    let whole: Vec<f32> = (1u8..=6).map(f32::from).collect();
    let weights = [
        reals(&[4, 2], &[0.5, -0.25, 0.125, 0.5, 1.0, -1.0, 0.25, 0.75]),
        reals(&[4, 1], &[0.5, -0.5, 0.25, 1.0]),
        reals(&[4], &[0.0, 0.5, -0.5, 0.25]),
    ];
    let mut inputs = vec![reals(&[3, 1, 2], &whole)];
    inputs.extend(weights);
    let of_run = outputs(graph, &inputs);
    let fixed = graph.replace("t|5", "3").replace("real[t", "real[3");
    assert_eq!(of_run, outputs(&fixed, &inputs));
    assert_eq!(of_run[0].len(), 3);
    assert_eq!(of_run[2], whole.iter().map(|v| f64::from(*v)).collect::<Vec<_>>());
}
