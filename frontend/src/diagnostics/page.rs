// SPDX-License-Identifier: Apache-2.0
//! All diagnostics on one page, docs/diagnostics.md.

use std::fmt::Write as _;

use super::codes::ALL;

/// Code, title and explanation of every diagnostic, as Markdown.
pub fn page() -> String {
    let mut page = String::from(
        "<!-- Written by scripts/docs.sh from frontend/src/diagnostics/codes. -->\n# Diagnostics\n\n\
         `skript explain CODE` prints one of these. The first two digits are the section of chapter 2, or 30 composition, \
         40 the library,\n80 lowering, 90 model folders and weights, 91 the command line, 92 run-time checks.\n",
    );
    for code in ALL {
        let explanation = code.explanation.trim_end();
        let _ = write!(page, "\n## {}: {}\n{explanation}\n", code.id, code.title);
    }
    page
}
