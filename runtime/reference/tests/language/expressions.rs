// SPDX-License-Identifier: Apache-2.0
//! Expressions (2.4), shown by string formatting in the message of an assertion that never holds.

use crate::run::model;

/// The texts of the expressions over k = 3, p = [4, 7, 9], q = [1.5, 2.5], e = [], er = [] of real, o = null, b = true,
/// w = 'hello', m = [true, false, true].
fn texts(using: &str, expressions: &[&str]) -> Vec<String> {
    let pieces: Vec<String> = expressions.iter().map(|e| format!("{{{e}}}")).collect();
    let text = format!(
        "operator f {{ @attrib {{ k: int = 3; p: int..(n) = [4, 7, 9]; q: real.. = [1.5, 2.5]; e: int.. = []; \
         er: real.. = []; o: optional int; b: bool = true; w: str = 'hello'; m: bool.. = [true, false, true]; }} \
         @using {{ {using} }} @assert {{ false: \"{}\"; }} @output {{ y: int[1]; }} @lower {{ y[i,] = 0, i < 1; }} }} \
         graph G {{ @output {{ y: int[1]; }} @compose {{ y = f(); }} }}",
        pieces.join("|")
    );
    let messages = model(&text).err().unwrap();
    let [message] = messages.as_slice() else {
        panic!("{messages:?}");
    };
    let message = message.strip_prefix("SK0850: ").unwrap();
    message.split('|').map(str::to_string).collect()
}

fn assert_texts(using: &str, rows: &[(&str, &str)]) {
    let expressions: Vec<&str> = rows.iter().map(|row| row.0).collect();
    for (text, (expression, expected)) in texts(using, &expressions).iter().zip(rows) {
        assert_eq!(text, expected, "{expression}");
    }
}

#[test]
fn s2_4_folds() {
    assert_texts(
        "",
        &[
            ("p + ..", "20"),
            ("e * ..", "1"),
            ("p < ..", "true"),
            ("[1,2,1] != ..", "false"),
            ("p + .. == 20", "true"),
            // What binds tighter belongs to the fold.
            ("10 + p + ..", "50"),
            ("p + ...", "[4, 11, 20]"),
            ("(e << ..) ?? 42", "42"),
            ("[k..(0)] := ..", "3"),
            ("(p := ..) ?? 9", "9"),
        ],
    );
}

#[test]
fn s2_4_empty_folds_have_the_type_of_the_pack() {
    assert_texts(
        "u = er * 2.0;",
        &[
            ("er + ..", "0.0"),
            ("er * ..", "1.0"),
            ("(er * 2.0) + ..", "0.0"),
            ("u + ..", "0.0"),
            ("1.5 + (er + ..)", "1.5"),
            ("(er > 0.0) && ..", "true"),
            ("real(e) + ..", "0.0"),
        ],
    );
}

#[test]
fn s2_4_indices_ranges_and_strings() {
    assert_texts(
        "",
        &[
            ("p[::-1]", "[9, 7, 4]"),
            ("p[-1:0:-1]", "[9, 7]"),
            ("p[m]", "[4, 9]"),
            ("p[p > 5]", "[7, 9]"),
            ("w[1:3]", "el"),
            ("w[[0,4]]", "ho"),
            ("p[[0,2]] <- [1,2]", "[1, 7, 2]"),
            ("[5:0:-2]", "[5, 3, 1]"),
            ("[(p,[1,2,3])..]", "[4, 1, 7, 2, 9, 3]"),
            ("[k..(b)]", "[3]"),
        ],
    );
}

#[test]
fn s2_9_messages_show_symbols_that_come_after_the_condition() {
    assert_texts(
        "[a1, b1..] = p; [(e1,f1)..] = [1,2,3,4]; bad = 1 / (k - 3); c..(3) = p + 1;",
        &[
            ("a1", "4"),
            ("b1", "[7, 9]"),
            ("f1", "[2, 4]"),
            ("c", "[5, 8, 10]"),
            // It has no value.
            ("bad", "?"),
        ],
    );
}
