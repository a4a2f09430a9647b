//! Run-time extents (2.6, 3.1): agreement, assertions (2.8), attributes that rest on them.

use crate::run::{failure, outputs, reals};

const EVEN: &str = "operator f { @input { a: real[n]; } @output { b: real[n]; } \
    @assert { n % 2 == 0: 'odd length {n}', 'half': n / 2, n; } @lower { b[i,] = a[i,], i < n; } } \
    operator g { @input { a: real[n]; } @output { b: real[n]; } @compose { b = f(a); } } \
    graph G { @input { x: real[s|10]; } @output { y: real[s]; } @compose { y = g(x); } }";

#[test]
fn s2_8_assertions_over_run_time_extents_are_tested_by_the_run() {
    assert_eq!(outputs(EVEN, &[reals(&[2], &[1.0, 2.0])]), [[1.0, 2.0]]);
    let (message, calls) = failure(EVEN, &[reals(&[3], &[0.0; 3])]);
    assert_eq!(message, "odd length 3; half = 1, n = 3");
    // The condition's place first, then the invocations that led there.
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
    assert!(message.contains("no integer `k` makes `2*k+1` equal to 6"));
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

/// One name for a run-time extent and a fixed one: each run tests that they agree, in either order of the inputs.
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

/// Reals are f64 in expressions of extents, at run time as while compiling.
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
    assert_eq!(
        outputs(text, &[x]),
        [vec![1.0, 3.0, 1.0, 3.0, 5.0, 7.0, 5.0, 7.0], vec![7.0]]
    );
}
