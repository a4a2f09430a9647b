// SPDX-License-Identifier: Apache-2.0
//! Writes the HTML page: style, scripts and the picture as JSON in one file.

use crate::picture::Picture;

const FRAME: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
/// The scripts of the page, in execution order.
const SCRIPTS: [&str; 6] = [
    include_str!("../page/model.js"),
    include_str!("../page/geometry.js"),
    include_str!("../page/drawing.js"),
    include_str!("../page/details.js"),
    include_str!("../page/search.js"),
    include_str!("../page/controls.js"),
];

impl Picture {
    /// The picture as a page that needs no other file and no network.
    pub fn html(&self) -> String {
        let json = serde_json::to_string(self);
        let json = json.unwrap_or_else(|error| unreachable!("internal compiler error: {error}"));
        let script = SCRIPTS.join("\n");
        let mut page = String::with_capacity(json.len() + script.len() + STYLE.len() + 4096);
        let mut frame = FRAME;
        // Inserted text is not searched for placeholders.
        while let Some((before, after)) = frame.split_once("{{") {
            page += before;
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            match name {
                "title" => page += &escaped(&self.name),
                "style" => page += STYLE,
                "picture" => page += &json_in_html(&json),
                "script" => page += &script,
                _ => {}
            }
            frame = after;
        }
        page + frame
    }
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes JSON for a script element, so that it cannot end the element. The characters occur only in strings.
fn json_in_html(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_models_are_escaped() {
        assert_eq!(escaped("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
        let json = serde_json::to_string("</script><!--&").unwrap();
        let inside = json_in_html(&json);
        assert!(!inside.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(&inside).unwrap(), "</script><!--&");
    }
}
