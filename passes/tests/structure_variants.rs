// SPDX-License-Identifier: Apache-2.0
//! The kind of a formula, and the named linalg operation that it becomes, do not depend on how it is written: names,
//! order of bounds, layouts, order of factors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skript_dialect::pipeline;
use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::source_files::load_text;
use skript_passes::{emit, ir};
use std::collections::BTreeMap;
use std::path::Path;

/// One tensor of a variant: its name and its subscripts with their extents, in some order.
type Layout<'t> = Vec<(&'t str, &'t str)>;

fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (position, first) in items.iter().enumerate() {
        let rest: Vec<T> =
            items.iter().enumerate().filter(|(n, _)| *n != position).map(|(_, i)| i.clone()).collect();
        for mut tail in permutations(&rest) {
            tail.insert(0, first.clone());
            all.push(tail);
        }
    }
    all
}

fn shape(layout: &Layout) -> String {
    let extents: Vec<&str> = layout.iter().map(|(_, extent)| *extent).collect();
    extents.join(", ")
}

fn access(name: &str, layout: &Layout) -> String {
    let subscripts: Vec<&str> = layout.iter().map(|(subscript, _)| *subscript).collect();
    format!("{name}[{}]", subscripts.join(", "))
}

/// A product of the elements `A` and `B`.
const PRODUCT: &str = "A * B";

/// The same with exchanged factors.
const SWAPPED: &str = "B * A";

/// Products with signs and factors.
const SIGNED: [&str; 5] = ["-(A * B)", "B * -A", "2.0 * A * B", "B * (A * 0.5)", "-(-A * -(B * 2.0))"];

/// A product with elements that are transformed first, to values that are not 0 out of bounds.
const COMPUTED: &str = "(A + 1.0) * B";

/// A model whose only operator sums a product of the elements of `left` and `right` into its output.
fn product(
    number: usize,
    output: &Layout,
    left: &Layout,
    right: &Layout,
    value: &str,
    bounds: &[&str],
) -> String {
    let (a, b) = (access("a", left), access("b", right));
    let value = value.replace('A', &a).replace('B', &b);
    format!(
        "operator mine{number} {{\n  @input {{ a: real[{}]; b: real[{}]; }}\n  @output {{ c: real[{}]; }}\n  \
         @lower {{ {} += {value}, {}; }}\n}}\n\
         graph G {{\n  @input {{ a: real[{}]; b: real[{}]; }}\n  @output {{ c: real[{}]; }}\n  \
         @compose {{ c = mine{number}(a, b); }}\n}}\n",
        shape(left),
        shape(right),
        shape(output),
        access("c", output),
        bounds.join(", "),
        shape(left),
        shape(right),
        shape(output),
    )
}

/// The model of a text after a pipeline.
fn lowered(text: &str, pipeline: &str) -> String {
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_text(text, Path::new("main.sknd"), None, &limits, &mut sink);
    check_program(&program, &mut sink);
    let model = compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    let said: Vec<String> = sink.into_sorted().into_iter().map(|d| d.message).collect();
    let model = model.unwrap_or_else(|| panic!("{said:?}\n{text}"));
    let context = ir::new_context();
    let module = emit::emit(&model, &program.sources, &context).expect(text);
    pipeline::run(&module, &format!("builtin.module({pipeline})")).expect(text);
    module.as_operation().to_string()
}

/// The recognized structure of the only formula of a text.
fn structure(text: &str) -> String {
    let printed = lowered(text, "skript-annotate-structure");
    let structures: Vec<&str> =
        printed.split("structure = \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(structures.len(), 1, "{printed}");
    structures[0].to_owned()
}

/// The linalg operations of a text, and separately those that fill its output.
fn named(text: &str) -> String {
    let printed = lowered(text, "skript-to-linalg-named");
    let words = printed.split("linalg.").skip(1);
    let names = words.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
    let names: Vec<&str> = names.filter(|name| *name != "fill").collect();
    names.join(", ")
}

/// The named operations of a text that combine elements, without those that fill, move or transform them.
fn raised(text: &str) -> String {
    let names = named(text);
    let others = ["", "generic", "yield", "transpose"];
    let names: Vec<&str> = names.split(", ").filter(|n| !others.contains(n)).collect();
    names.join(", ")
}

fn counted(variants: &[String], of: impl Fn(&str) -> String) -> BTreeMap<String, usize> {
    skript_passes::register();
    let mut counts = BTreeMap::new();
    for text in variants {
        *counts.entry(of(text)).or_insert(0) += 1;
    }
    counts
}

#[test]
fn matrix_products_are_contractions_however_they_are_written() {
    let mut variants = Vec::new();
    for left in permutations(&[("i", "4"), ("l", "16")]) {
        for right in permutations(&[("l", "16"), ("j", "8")]) {
            for output in permutations(&[("i", "4"), ("j", "8")]) {
                for bounds in permutations(&["i < 4", "j < 8", "l < 16"]) {
                    for value in [PRODUCT, SWAPPED] {
                        variants.push(product(variants.len(), &output, &left, &right, value, &bounds));
                    }
                }
            }
        }
    }
    assert_eq!(variants.len(), 96);
    assert_eq!(counted(&variants, structure), BTreeMap::from([("contraction".to_owned(), 96)]));
    assert_eq!(counted(&variants, named), BTreeMap::from([("matmul".to_owned(), 96)]));
}

#[test]
fn windows_are_windowed_contractions_however_they_are_written() {
    // The subscript of the input along the window, its extent, and the extent of the output.
    let windows = [("|x + k - 1|", "12", "12"), ("2 * x + k", "12", "5"), ("|3 * x + 2 * k - 2|", "12", "4")];
    let mut variants = Vec::new();
    for (index, extent, positions) in windows {
        let bounds = ["s < 2", "n < 3", "x < {x}", "m < 5", "k < 3"];
        let bounds: Vec<String> = bounds.iter().map(|b| b.replace("{x}", positions)).collect();
        let mut bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
        for input in permutations(&[("s", "2"), ("m", "5"), (index, extent)]) {
            for filter in permutations(&[("n", "3"), ("m", "5"), ("k", "3")]) {
                for output in permutations(&[("s", "2"), ("n", "3"), ("x", positions)]) {
                    bounds.rotate_left(1);
                    let value = [PRODUCT, SWAPPED][variants.len() % 2];
                    variants.push(product(variants.len(), &output, &input, &filter, value, &bounds));
                }
            }
        }
    }
    assert_eq!(variants.len(), 648);
    let counts = counted(&variants, structure);
    assert_eq!(counts.len(), 1, "{counts:?}");
    assert_eq!(counts.values().sum::<usize>(), 648);
    assert!(counts.keys().all(|s| s.contains("contraction") && s.contains("window")), "{counts:?}");
}

#[test]
fn windows_raise_to_the_convolution_of_their_layout() {
    // Input, filter and output of linalg's convolutions; `{x}` is the index in the window.
    let layouts = [
        (["s", "m", "{x}"], ["n", "m", "k"], ["s", "n", "x"], "conv_1d_ncw_fcw"),
        (["s", "{x}", "m"], ["k", "m", "n"], ["s", "x", "n"], "conv_1d_nwc_wcf"),
        (["s", "n", "{x}"], ["n", "k", ""], ["s", "n", "x"], "depthwise_conv_1d_ncw_cw"),
        (["s", "{x}", "n"], ["k", "n", ""], ["s", "x", "n"], "depthwise_conv_1d_nwc_wc"),
    ];
    // Each window with the extents of the input and of the output.
    let windows = [("|x + k - 1|", "12", "12"), ("2 * x + k", "12", "5"), ("|3 * x + 2 * k - 2|", "12", "4")];
    for (input, filter, output, name) in layouts {
        let mut variants = Vec::new();
        for (index, extent, positions) in windows {
            let extent_of = |subscript: &str| match subscript {
                "s" => "2",
                "n" | "k" => "3",
                "m" => "5",
                "x" => positions,
                _ => extent,
            };
            let layout = |words: [&'static str; 3]| -> Layout {
                words
                    .into_iter()
                    .filter(|w| !w.is_empty())
                    .map(|w| (if w == "{x}" { index } else { w }, extent_of(w)))
                    .collect()
            };
            let letters: Vec<&str> =
                ["s", "n", "x", "m", "k"].into_iter().filter(|l| *l != "m" || input.contains(l)).collect();
            let bounds: Vec<String> = letters.iter().map(|l| format!("{l} < {}", extent_of(l))).collect();
            let bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
            for order in permutations(&bounds).iter().step_by(5) {
                variants.push(product(
                    variants.len(),
                    &layout(output),
                    &layout(input),
                    &layout(filter),
                    [PRODUCT, SWAPPED][variants.len() % 2],
                    order,
                ));
            }
        }
        let count = variants.len();
        assert_eq!(counted(&variants, named), BTreeMap::from([(name.to_owned(), count)]));
    }
}

#[test]
fn signed_scaled_and_mirrored_products_are_matrix_products() {
    let mut variants = Vec::new();
    for left in permutations(&[("i", "4"), ("l", "16")]) {
        for right in [
            [("l", "16"), ("j", "8")],
            [("15 - l", "16"), ("j", "8")],
            [("j", "8"), ("15 - l", "16")],
            [("l", "16"), ("7 - j", "8")],
        ] {
            for output in [[("i", "4"), ("j", "8")], [("j", "8"), ("3 - i", "4")]] {
                for value in SIGNED.into_iter().chain([COMPUTED]) {
                    variants.push(product(
                        variants.len(),
                        &output.to_vec(),
                        &left,
                        &right.to_vec(),
                        value,
                        &["l < 16", "i < 4", "j < 8"],
                    ));
                }
            }
        }
    }
    assert_eq!(variants.len(), 96);
    assert_eq!(counted(&variants, structure), BTreeMap::from([("contraction".to_owned(), 96)]));
    assert_eq!(counted(&variants, raised), BTreeMap::from([("matmul".to_owned(), 96)]));
}

#[test]
fn windows_of_any_layout_and_direction_are_convolutions() {
    // Positions along two windows, the extents of the input and the positions.
    let windows = [
        (["y + k", "|x + l - 1|"], ["8", "7"], ["6", "7"]),
        (["2 * y + k", "x - l + 2"], ["9", "9"], ["4", "7"]),
        (["|y - k + 1|", "6 - x + l"], ["8", "9"], ["8", "7"]),
    ];
    let mut variants = Vec::new();
    for (indices, extents, positions) in windows {
        let image = [("s", "2"), ("m", "5"), (indices[0], extents[0]), (indices[1], extents[1])];
        let kernel = [("n", "4"), ("m", "5"), ("k", "3"), ("l", "3")];
        let result = [("s", "2"), ("n", "4"), ("y", positions[0]), ("x", positions[1])];
        let (rows, columns) = (format!("y < {}", positions[0]), format!("x < {}", positions[1]));
        let mut bounds = vec!["s < 2", "n < 4", "m < 5", "k < 3", "l < 3", &rows, &columns];
        let (filters, outputs) = (permutations(&kernel), permutations(&result));
        for (number, input) in permutations(&image).iter().enumerate() {
            // Linalg has an operation only if both windows have the same order everywhere.
            let order = |layout: &Layout, one: &str, other: &str| {
                let index = |word: &str| layout.iter().position(|(w, _)| *w == word);
                index(one) < index(other)
            };
            let first = order(input, indices[0], indices[1]);
            let filter = filters.iter().cycle().skip(number * 7);
            let filter = filter.clone().find(|f| order(f, "k", "l") == first);
            let output = outputs.iter().cycle().skip(number * 5);
            let output = output.clone().find(|o| order(o, "y", "x") == first);
            bounds.rotate_left(1);
            variants.push(product(
                variants.len(),
                output.unwrap(),
                input,
                filter.unwrap(),
                SIGNED[variants.len() % SIGNED.len()],
                &bounds,
            ));
        }
    }
    assert_eq!(variants.len(), 72);
    assert_eq!(counted(&variants, structure), BTreeMap::from([("window contraction".to_owned(), 72)]));
    let counts = counted(&variants, raised);
    assert!(counts.keys().all(|name| name.starts_with("conv_2d_")), "{counts:?}");
}

#[test]
fn windows_without_batch_or_channels_are_convolutions() {
    // Input, filter and output; `{x}` is the index in the window.
    let layouts: [[&[&str]; 3]; 5] = [
        [&["m", "{x}"], &["n", "m", "k"], &["n", "x"]],
        [&["{x}", "m"], &["k", "m", "n"], &["x", "n"]],
        [&["{x}"], &["n", "k"], &["n", "x"]],
        [&["s", "{x}"], &["k"], &["s", "x"]],
        [&["n", "{x}"], &["n", "k"], &["n", "x"]],
    ];
    let windows = [("x + k", "12", "10"), ("|2 * x - k + 1|", "12", "6"), ("|3 * x + 2 * k - 2|", "12", "4")];
    let mut variants = Vec::new();
    for layout in layouts {
        for (index, extent, positions) in windows {
            let extent_of = |subscript: &str| match subscript {
                "s" => "2",
                "n" | "k" => "3",
                "m" => "5",
                "x" => positions,
                _ => extent,
            };
            let [input, filter, output] = layout.map(|words| -> Layout {
                words.iter().map(|w| (if *w == "{x}" { index } else { *w }, extent_of(w))).collect()
            });
            let used = |l: &&str| layout.iter().any(|words| words.contains(l)) || *l == "k";
            let bounds: Vec<String> = ["s", "n", "x", "m", "k"]
                .iter()
                .filter(|l| used(l))
                .map(|l| format!("{l} < {}", extent_of(l)))
                .collect();
            let bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
            for value in SIGNED {
                variants.push(product(variants.len(), &output, &input, &filter, value, &bounds));
            }
        }
    }
    assert_eq!(variants.len(), 75);
    assert_eq!(counted(&variants, structure), BTreeMap::from([("window contraction".to_owned(), 75)]));
    let counts = counted(&variants, raised);
    assert!(counts.keys().all(|name| name.contains("conv_")), "{counts:?}");
}
