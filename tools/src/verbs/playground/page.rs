// SPDX-License-Identifier: Apache-2.0
//! The page: its frame, style, scripts and examples in one text.

use serde_json::{Value, json};

use super::access::random_name;

macro_rules! part {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/playground/", $name))
    };
}

macro_rules! example {
    ($title:literal, $path:literal) => {
        ($title, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/", $path)))
    };
}

const FRAME: &str = part!("page.html");
const STYLE: &str = part!("page.css");
/// The scripts of the page, in execution order.
const SCRIPTS: [&str; 9] = [
    part!("codemirror.min.js"),
    part!("elements.js"),
    part!("server.js"),
    part!("assistance.js"),
    part!("editor.js"),
    part!("difference.js"),
    part!("arrays.js"),
    part!("views.js"),
    part!("controls.js"),
];

/// Models in one file that need no weights or have random ones. The first one is shown first.
const EXAMPLES: [(&str, &str); 19] = [
    example!("Perceptron", "perceptron/main.sknd"),
    example!("Contrast", "contrast/main.sknd"),
    example!("Digits", "digits/main.sknd"),
    example!("Bilateral filter", "operators/bilateral.sknd"),
    example!("Edit distance", "operators/edit_distance.sknd"),
    example!("Haar wavelets", "operators/haar.sknd"),
    example!("Histogram", "operators/histogram.sknd"),
    example!("Local attention", "operators/local_attention.sknd"),
    example!("Moving average", "operators/moving_average.sknd"),
    example!("Nearest neighbours", "operators/nearest_neighbours.sknd"),
    example!("Rotary embedding", "operators/rotary.sknd"),
    example!("Segment sum", "operators/segment_sum.sknd"),
    example!("Sinkhorn distance", "operators/sinkhorn.sknd"),
    example!("Soft DTW", "operators/soft_dtw.sknd"),
    example!("Sparse product", "operators/sparse_product.sknd"),
    example!("SwiGLU", "operators/swiglu.sknd"),
    example!("Total variation", "operators/total_variation.sknd"),
    example!("Viterbi", "operators/viterbi.sknd"),
    example!("A format of weights", "own-format/main.sknd"),
];

/// The page and its content security policy. `text` is the text that the editor shows first.
///
/// # Errors
/// The system has no random numbers.
pub fn html(text: Option<&str>) -> Result<(String, String), getrandom::Error> {
    let nonce = random_name()?;
    let list = |(title, text): (&str, &str)| json!({"title": title, "text": without_license(text)});
    let content = json!({"text": text, "examples": EXAMPLES.map(list).to_vec()});
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; \
         connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    Ok((filled(&nonce, &content), policy))
}

/// Replaces the placeholders of the frame. Inserted text is not searched for placeholders.
fn filled(nonce: &str, content: &Value) -> String {
    let mut page = String::new();
    let mut frame = FRAME;
    while let Some((before, after)) = frame.split_once("{{") {
        page += before;
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "style" => page += STYLE,
            "nonce" => page += nonce,
            "content" => page += &json_in_html(&content.to_string()),
            "script" => page += &SCRIPTS.join("\n"),
            _ => {}
        }
        frame = after;
    }
    page + frame
}

/// Escapes JSON for a script element, so that it cannot end the element. The characters occur only in strings.
fn json_in_html(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn without_license(text: &str) -> &str {
    let rest = text.strip_prefix("# SPDX-License-Identifier: Apache-2.0\n").unwrap_or(text);
    rest.trim_start_matches('\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript::{ComposeOptions, Document, Limits};

    #[test]
    fn every_example_composes_alone() {
        for (title, text) in EXAMPLES {
            let document = Document::parse("playground.sknd", without_license(text), &Limits::default());
            assert!(document.problems().is_empty(), "{title}: {:?}", document.problems());
            let composed = document.compose(&ComposeOptions::default());
            assert!(composed.is_ok(), "{title}: {:?}", composed.err());
        }
    }

    #[test]
    fn the_page_is_complete_and_a_text_cannot_end_its_script() {
        let (page, policy) = html(Some("</script><script>alert(1)</script>")).unwrap();
        assert!(!page.contains("{{style}}") && page.ends_with("</html>\n"));
        assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
        assert!(!page.contains("<script>alert(1)"));
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert!(nonce.len() == 32 && page.contains(&format!("nonce=\"{nonce}\"")));
        assert!(!SCRIPTS.iter().any(|script| script.contains("</script")));
    }
}
