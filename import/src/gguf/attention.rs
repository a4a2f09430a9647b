// SPDX-License-Identifier: Apache-2.0
//! Writes the attention of a language model.

use super::GgufCache;
use super::model::Model;
use super::text::real;

/// The operator `attention`, and those that it is composed of.
pub(super) fn operators(model: &Model<'_>) -> String {
    match model.cache {
        GgufCache::None => whole(model),
        GgufCache::Variables => stored(model),
        GgufCache::Arrays => appended(model),
    }
}

/// The declaration of the window, if a layer has one.
fn window_attribute(model: &Model<'_>) -> &'static str {
    if has_window(model) { "@attrib { window: optional int; }\n" } else { "" }
}

fn has_window(model: &Model<'_>) -> bool {
    model.layers.iter().any(|layer| layer.window.is_some())
}

/// The attribute that passes the window to another operator, after others.
fn window_argument(model: &Model<'_>) -> &'static str {
    if has_window(model) { ", window=window" } else { "" }
}

/// The formula of a score.
fn score(model: &Model<'_>) -> String {
    let product = "product[k,t,j] * scale";
    match model.score_cap.map(real) {
        Some(cap) => format!("{cap} * `tanh`({product} / {cap})"),
        None => product.to_owned(),
    }
}

/// The statements that turn queries and keys; the results are `q` and `keys`.
fn rotation(model: &Model<'_>, keys: &str) -> String {
    let adjacent = if model.architecture.is_adjacent { "{adjacent=true}" } else { "" };
    format!(
        "q = lm.rotate{adjacent}(query, cosine, sine);\n{keys} = lm.rotate{adjacent}(key, cosine, sine);\n"
    )
}

const INPUTS: &str =
    "query: real[n,h,d];\nkey: real[n,g,d];\nvalue: real[n,g,e];\ncosine: real[n,m];\nsine: real[n,m];";

/// The operators of bounded scores, which the library does not have, and the statements that compute `mixed`.
fn mixing(model: &Model<'_>, keys: &str, values: &str, past: Option<&str>) -> (String, String) {
    let (scale, window) = (real(model.scale), window_argument(model));
    let past_argument = past.map_or_else(String::new, |past| format!(", {past}"));
    if model.score_cap.is_none() {
        let statement =
            format!("mixed = lm.attention{{scale={scale}{window}}}(q, {keys}, {values}{past_argument});\n");
        return (String::new(), statement);
    }
    let (input, at) = if past.is_some() { ("\npast: int[];", "t + past[]") } else { ("", "t") };
    let (attribute, condition) =
        if has_window(model) { (" window: optional int;", " && j > at - (window ?? m)") } else { ("", "") };
    let score = score(model);
    let operators = format!(
        "# Bounded scores; a query reads the keys of its token and of earlier ones.\n\
         operator scores {{\n@attrib {{ scale: real;{attribute} }}\n@input {{\nquery: real[n,h,d];\nkey: real[m,g,d];{input}\n}}\n\
         @output {{ y: real[h,n,m]; }}\n@lower {{\n\
         product[k,t,j] += query[t,k,c] * key[j,k / (h / g),c], k < h, t < n, j < m, c < d;\nat = {at},\n\
         y[k,t,j] = j <= at{condition} ? {score} : -inf, k < h, t < n, j < m;\n}}\n}}\n\n\
         operator mix {{\n@input {{\nweights: real[h,n,m];\nvalue: real[m,g,e];\n}}\n@output {{ y: real[n,h,e]; }}\n@lower {{\n\
         y[t,k,c] += weights[k,t,j] * value[j,k / (h / g),c], t < n, k < h, c < e, j < m;\n}}\n}}\n\n"
    );
    let statements = format!(
        "products = scores{{scale={scale}{window}}}(q, {keys}{past_argument});\n\
         weights = nn.softmax{{axes=[-1]}}(products);\nmixed = mix(weights, {values});\n"
    );
    (operators, statements)
}

/// The attention to the tokens of a call.
fn whole(model: &Model<'_>) -> String {
    let (operators, mixed) = mixing(model, "k", "value", None);
    let (attribute, rotated) = (window_attribute(model), rotation(model, "k"));
    format!(
        "{operators}# Causal attention: each token reads those before it.\n\
         operator attention {{\n{attribute}@input {{\n{INPUTS}\n}}\n@output {{ y: real[n,h * e]; }}\n@compose {{\n{rotated}{mixed}\
         y = layout.flatten{{axis=1}}(mixed);\n}}\n}}\n\n"
    )
}

/// The attention to keys and values in variables.
fn stored(model: &Model<'_>) -> String {
    let (operators, mixed) = mixing(model, "all_keys", "all_values", Some("past"));
    let (attribute, rotated, context) = (window_attribute(model), rotation(model, "k"), model.context);
    format!(
        "{operators}# The cache with new rows, the first of them at the row `past`; NaN if they exceed the cache.\n\
         operator stored {{\n@input {{\ncache: real[c,g,d];\nrows: real[n,g,d];\npast: int[];\n}}\n\
         @output {{ y: real[c,g,d]; }}\n@lower {{\nat = i - past[],\n\
         y[i,j,k] = past[] < 0 || past[] + n > c ? inf - inf :\n\
         at >= 0 && at < n ? rows[|at <> 0 : n - 1|,j,k] : cache[i,j,k], i < c, j < g, k < d;\n}}\n}}\n\n\
         # Causal attention: each token reads those before it, in this call and in earlier ones.\n\
         operator attention {{\n{attribute}@input {{\n{INPUTS}\npast: int[];\n}}\n\
         @variable {{\nkeys: real[{context},g,d];\nvalues: real[{context},g,e];\n}}\n@output {{ y: real[n,h * e]; }}\n\
         @compose {{\n{rotated}all_keys = stored(keys, k, past);\nall_values = stored(values, value, past);\n{mixed}\
         y = layout.flatten{{axis=1}}(mixed);\n}}\n\
         @update {{\nkeys = all_keys;\nvalues = all_values;\n}}\n}}\n\n"
    )
}

/// The attention to arrays of earlier keys and values, and to new ones. Earlier ones are not copied.
fn appended(model: &Model<'_>) -> String {
    let (scale, window) = (real(model.scale), window_argument(model));
    let score = score(model);
    let attribute = if has_window(model) { " window: optional int;" } else { "" };
    let scores = |doc: &str, name: &str, selected: &str| {
        format!(
            "# {doc}\n\
             operator {name} {{\n@attrib {{ scale: real;{attribute} }}\n@input {{\nquery: real[n,h,d];\nkey: real[o,g,d];\n}}\n\
             @output {{ y: real[h,n,o]; }}\n@lower {{\n\
             product[k,t,j] += query[t,k,c] * key[j,k / (h / g),c], k < h, t < n, j < o, c < d;\n\
             y[k,t,j] = {selected}, k < h, t < n, j < o;\n}}\n}}\n\n"
        )
    };
    let (earlier_selected, new_selected) = if has_window(model) {
        (
            format!("j > o + t - (window ?? o + n) ? {score} : -inf"),
            format!("j <= t && j > t - (window ?? n) ? {score} : -inf"),
        )
    } else {
        (score.clone(), format!("j <= t ? {score} : -inf"))
    };
    let earlier = scores("The scores of keys of earlier calls.", "earlier_scores", &earlier_selected);
    let new = scores(
        "The scores of new keys; a query reads those of its token and of earlier ones.",
        "new_scores",
        &new_selected,
    );
    let (window_attribute, rotated) = (window_attribute(model), rotation(model, "keys"));
    format!(
        "{earlier}{new}# The sums of earlier and new values, in the order of the weights.\n\
         operator mix {{\n@input {{\nweights: real[h,n,o + n];\nvalue: real[n,g,e];\npast_values: real[o,g,e];\n}}\n\
         @output {{ y: real[n,h,e]; }}\n@lower {{\n\
         new[t,k,c] += weights[k,t,o + j] * value[j,k / (h / g),c], t < n, k < h, c < e, j < n;\n\
         earlier[t,k,c] += weights[k,t,j] * past_values[j,k / (h / g),c], t < n, k < h, c < e, j < o;\n\
         y[t,k,c] = new[t,k,c] + earlier[t,k,c], t < n, k < h, c < e;\n}}\n}}\n\n\
         # Causal attention: each token reads those of earlier calls, and those before it in this call.\n\
         operator attention {{\n{window_attribute}@input {{\n{INPUTS}\npast_keys: real[o,g,d];\npast_values: real[o,g,e];\n}}\n\
         @output {{\ny: real[n,h * e];\nkeys: real[n,g,d];\n}}\n@compose {{\n{rotated}\
         earlier = earlier_scores{{scale={scale}{window}}}(q, past_keys);\nnew = new_scores{{scale={scale}{window}}}(q, keys);\n\
         scores = layout.concat{{axis=2}}([earlier, new]);\nweights = nn.softmax{{axes=[-1]}}(scores);\n\
         mixed = mix(weights, value, past_values);\ny = layout.flatten{{axis=1}}(mixed);\n}}\n}}\n\n"
    )
}
