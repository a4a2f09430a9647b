// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents (2.6, 3.1): agreement, assertions (2.8), attributes that depend on them.

use crate::run::{failure, flag, ints, outputs, reals};

const EVEN: &str = "operator f { @input { a: real[n]; } @output { b: real[n]; } \
    @assert { n % 2 == 0: 'odd length {n}', 'half': n / 2, n; } @lower { b[i,] = a[i,], i < n; } } \
    operator g { @input { a: real[n]; } @output { b: real[n]; } @compose { b = f(a); } } \
    graph G { @input { x: real[s|10]; } @output { y: real[s]; } @compose { y = g(x); } }";

#[test]
fn s2_8_assertions_over_run_time_extents_are_tested_by_the_run() {
    assert_eq!(outputs(EVEN, &[reals(&[2], &[1.0, 2.0])]), [[1.0, 2.0]]);
    let (message, calls) = failure(EVEN, &[reals(&[3], &[0.0; 3])]);
    assert_eq!(message, "odd length 3; half = 1, n = 3");
    // The condition's position first, then the invocations that led there.
    assert_eq!(calls, ["main.f", "main.g", "main.G"]);
}

const ADD: &str = "operator add { @input { a: real[n]; b: real[n]; } @output { c: real[n]; } \
    @lower { c[i,] = a[i,] + b[i,], i < n; } } \
    graph G { @input { x: real[s|9]; z: real[t|5]; } @output { y: real[s]; } @compose { y = add(x, z); } }";

#[test]
fn s2_6_one_name_for_two_run_time_extents_makes_them_agree() {
    let two = || reals(&[2], &[1.0, 2.0]);
    assert_eq!(outputs(ADD, &[two(), two()]), [[2.0, 4.0]]);
    let (message, _) = failure(ADD, &[reals(&[3], &[0.0; 3]), two()]);
    assert!(message.contains("must be `n` = 3, it is 2"), "{message}");
}

const HALF: &str = "operator half { @input { x: real[2*k+1]; } @output { y: real[k]; } \
    @lower { y[i,] = x[2*i+1,], i < k; } } \
    graph G { @input { x: real[s|11]; } @output { y: real[~]; } @compose { y = half(x); } }";

#[test]
fn s2_6_affine_extents_are_solved_by_the_run() {
    let x = |n: u16| reals(&[n.into()], &(0..n).map(f32::from).collect::<Vec<_>>());
    assert_eq!(outputs(HALF, &[x(7)]), [[1.0, 3.0, 5.0]]);
    let (message, _) = failure(HALF, &[x(6)]);
    assert!(message.contains("no integer `k` >= 0 makes `2*k+1` equal to 6"));
}

#[test]
fn s2_6_outputs_are_compared_with_their_declarations() {
    let text = "operator f { @input { x: real[k]; z: real[m]; } @output { y: real[k]; } @lower { y[i,] = x[i,], i < k; } } \
        graph G { @input { x: real[s|11]; z: real[t|11]; } @output { y: real[t]; } @compose { y = f(x, z); } }";
    let tensor = |n: u64| reals(&[n], &vec![1.0; usize::try_from(n).unwrap()]);
    assert_eq!(outputs(text, &[tensor(2), tensor(2)]), [[1.0, 1.0]]);
    let (message, _) = failure(text, &[tensor(3), tensor(2)]);
    assert_eq!(message, "extent 0 of output `y` must be 2, it is 3");
}

#[test]
fn s3_1_attributes_may_rest_on_extents_that_no_argument_has() {
    let text = "operator rep { @attrib { k: int; } @input { x: real[n]; } @output { y: real[k,n]; } \
        @lower { y[j,i] = x[i,], j < k, i < n; } } \
        operator twice { @attrib { k: int; } @input { x: real[n]; } @output { y: real[k + 1,n]; } \
        @assert { k > 2: 'k is {k}'; } @compose { y = rep{k=k+1}(x); } } \
        graph G { @input { x: real[s|10]; z: real[t|5]; } @output { y: real[2*t+1,s]; } \
        @compose { y = twice{k=z.shape[0] * 2}(x); } }";
    let x = || reals(&[1], &[7.0]);
    let y = outputs(text, &[x(), reals(&[2], &[0.0; 2])]);
    assert_eq!(y, [[7.0; 5]]);
    let (message, _) = failure(text, &[x(), reals(&[1], &[0.0])]);
    assert_eq!(message, "k is 2");
}

#[test]
fn s3_1_a_shape_with_a_run_time_extent_is_an_attribute_like_others() {
    let text = "import layout; graph G { @input { x: real[s|10,2,3]; } @output { y: real[s,6]; } \
        @compose { y = layout.reshape{shape=[x.shape[0], 6]}(x); } }";
    let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let y = outputs(text, &[reals(&[1, 2, 3], &x)]);
    assert_eq!(y, [x.map(f64::from)]);
}

/// One name for a dynamic and a static extent: each run checks that they agree, in either order of the inputs.
#[test]
fn s2_6_run_time_extents_agree_with_fixed_ones() {
    let text = "import math; operator dot { @input { a: real[n]; b: real[n]; } @output { c: real[]; } \
        @lower { c[] += a[i,] * b[i,], i < n; } } \
        operator back { @input { a: real[3]; } @output { c: real[3]; } @lower { c[i,] = a[2 - i,], i < 3; } } \
        operator last { @input { a: real[n]; b: real[m]; } @output { c: real[n]; } @lower { c[i,] = b[i,], i < m; } } \
        graph G { @input { x: real[~|4]; y: real[3]; } \
        @output { one: real[]; two: real[]; three: real[3]; four: real[3]; five: real[3]; six: real[~]; } \
        @compose { one = dot(x, y); two = dot(y, x); three = back(x); four = math.add(x, y); five = last(y, x); \
        six = math.add(y, x); } }";
    let three = |a, b, c| reals(&[3], &[a, b, c]);
    assert_eq!(
        outputs(text, &[three(1.0, 2.0, 3.0), three(0.0, 1.0, 10.0)]),
        [
            vec![32.0],
            vec![32.0],
            vec![3.0, 2.0, 1.0],
            vec![1.0, 3.0, 13.0],
            vec![1.0, 2.0, 3.0],
            vec![1.0, 3.0, 13.0]
        ]
    );
    let (message, calls) = failure(text, &[reals(&[4], &[0.0; 4]), three(0.0, 0.0, 0.0)]);
    assert!(message.contains("must be `n` = 4, it is 3"), "{message}");
    assert_eq!(calls, ["main.dot", "main.G"]);
}

/// Reals are f64 in expressions over extents, at run time as at compile time.
#[test]
fn s3_1_extents_are_computed_with_reals() {
    let text = "operator thin { @attrib { keep: real; } @input { x: real[n]; } @output { y: real[m]; z: real[k]; } \
        @using { m = int(`ceil`(real(n) * keep)); k = m > 3 ? m - 1 : int(`round`(real(n) / 4.0)); } \
        @lower { y[i,] = x[i,], i < m; z[i,] = x[|i|,], i < k; } } \
        graph G { @input { x: real[s|10]; } @output { y: real[~|7]; z: real[~]; } @compose { y, z = thin{keep=0.7}(x); } }";
    let x = |n: u16| reals(&[n.into()], &(1..=n).map(f32::from).collect::<Vec<_>>());
    assert_eq!(outputs(text, &[x(4)]), [vec![1.0, 2.0, 3.0], vec![1.0]]);
    let y = outputs(text, &[x(10)]);
    assert_eq!(y.iter().map(Vec::len).collect::<Vec<_>>(), [7, 6]);
    assert_eq!(outputs(text, &[x(0)]), [[0.0; 0], [0.0; 0]]);
}

#[test]
fn s3_1_images_of_run_time_extents_are_rescaled() {
    let text = "import image; import layout; graph G { @input { x: real[1,h|6,w|8]; } \
        @output { y: real[1,~|12,~|4]; z: real[1,~,~]; } \
        @compose { y = image.rescale{axes=[1,2], factor=[2.0,0.5]}(x); \
        z = layout.slice{axes=[1,2], begin=[1,-2], end=[9,-1]}(x); } }";
    let x = reals(&[1, 2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(outputs(text, &[x]), [vec![1.0, 3.0, 1.0, 3.0, 5.0, 7.0, 5.0, 7.0], vec![7.0]]);
}

/// Branches may have results of different dynamic extents: the executed branch decides.
#[test]
fn s2_10_1_the_branch_taken_decides_the_extents() {
    let text = "operator twice { @input { x: real[n]; } @output { y: real[2 * n]; } @lower { y[i,] = x[i / 2,], i < 2 * n; } } \
        operator less { @input { x: real[n]; } @output { y: real[n - 1]; z: real[n - 1]; } \
        @lower { y[i,] = x[i + 1,], i < n - 1; z[i,] = 1.0, i < n - 1; } } \
        operator add { @input { x: real[n]; z: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] + z[i,], i < n; } } \
        graph G { @input { x: real[s|5]; three: real[3]; c: int[]; } @output { y: real[~|10]; } \
        @compose { a, b = if { t = eq(c); yield t; } then { u = twice(x); yield u, u; } \
        elif { t = positive(c); yield t; } then less(x) else { yield three, three; }; y = add(a, b); } } \
        operator eq { @input { c: int[]; } @output { y: bool[]; } @lower { y[] = c[] == 0; } } \
        operator positive { @input { c: int[]; } @output { y: bool[]; } @lower { y[] = c[] > 0; } }";
    let run = |x: &[f32], c| {
        let three = reals(&[3], &[7.0, 8.0, 9.0]);
        outputs(text, &[reals(&[x.len() as u64], x), three, ints(&[], &[c])])
    };
    assert_eq!(run(&[1.0, 2.0], 0), [[2.0, 2.0, 4.0, 4.0]]);
    assert_eq!(run(&[1.0, 2.0, 3.0], 1), [[3.0, 4.0]]);
    assert_eq!(run(&[1.0], -1), [[14.0, 16.0, 18.0]]);
}

/// Different extents that must be equal are compared at run time.
#[test]
fn s2_10_1_extents_of_branches_must_agree_with_others() {
    let text = "operator add { @input { x: real[n]; z: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] + z[i,], i < n; } } \
        graph G { @input { x: real[s|5]; z: real[t|4]; c: bool[]; } @output { y: real[s]; } \
        @compose { u = if c then x else z; y = add(x, u); } }";
    let (x, z) = (|| reals(&[2], &[1.0, 2.0]), || reals(&[3], &[1.0, 2.0, 3.0]));
    assert_eq!(outputs(text, &[x(), z(), flag(true)]), [[2.0, 4.0]]);
    let (message, calls) = failure(text, &[x(), z(), flag(false)]);
    assert!(message.contains("must be `n` = 2, it is 3"), "{message}");
    assert_eq!(calls, ["main.add", "main.G"]);
}

/// In terms of the input, the last extent of this chain has 2⁴⁰ operations.
#[test]
fn s3_1_extents_of_long_chains_are_computed_step_by_step() {
    let steps: String = (0..40).map(|n| format!("x{} = shift(x{n}); ", n + 1)).collect();
    let text = format!(
        "operator shift {{ @input {{ x: real[n]; }} @output {{ y: real[(n + n / 2) << 20]; }} \
         @lower {{ y[i,] = x[i % n,] + 1.0, i < (n + n / 2) << 20; }} }} \
         graph G {{ @input {{ x0: real[s|20]; }} @output {{ y: real[~]; }} @compose {{ {steps} y = x40; }} }}"
    );
    assert_eq!(outputs(&text, &[reals(&[1], &[2.0])]), [[42.0]]);
    assert_eq!(outputs(&text, &[reals(&[2], &[2.0, 3.0])])[0].len(), 20);
}
