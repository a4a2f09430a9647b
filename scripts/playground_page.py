#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the static playground, one file that needs no server: playground_page.py FILE.html

The page of `skript playground` with the WebAssembly module of build/javascript (javascript/build.sh). The scripts and examples are those
that tools/src/verbs/playground/page.rs lists; `static.js` answers the requests in place of `server.js`.
"""
import base64
import gzip
import json
import pathlib
import re
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = ROOT / "tools/playground"
PACKAGE = ROOT / "build/javascript"
LICENSE = "# SPDX-License-Identifier: Apache-2.0\n"
# The page loads no addresses: it works offline, and the text remains in it.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def read(path):
    return path.read_text(encoding="utf-8")


def content():
    """The content of the page as JSON for a script element, which it cannot end."""
    listed = read(ROOT / "tools/src/verbs/playground/page.rs")
    examples = [
        {"title": title, "text": read(ROOT / "examples" / path).removeprefix(LICENSE).lstrip("\n")}
        for title, path in re.findall(r'example!\("([^"]+)", "([^"]+)"\)', listed)
    ]
    # Browsers start no modules as workers from files, so this is a script: the class of the loader without its exports.
    loader, _ = read(PACKAGE / "skriptnd.js").split("/** Loads the module")
    worker = loader.replace("\nexport class", "\nclass") + read(PARTS / "worker.js")
    module = base64.b64encode(gzip.compress((PACKAGE / "skriptnd.wasm").read_bytes(), 9, mtime=0)).decode("ascii")
    text = json.dumps({"text": None, "examples": examples, "worker": worker, "module": module}, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page():
    listed = read(ROOT / "tools/src/verbs/playground/page.rs")
    scripts = [name.replace("server.js", "static.js") for name in re.findall(r'part!\("([^"]+\.js)"\)', listed)]
    parts = {
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n',
        "style": read(PARTS / "page.css"),
        "nonce": "",
        "content": content(),
        "script": "\n".join(read(PARTS / name) for name in scripts),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], read(PARTS / "page.html"))


def link(text):
    """The part of an address after `#` that opens a text."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = compressor.compress(json.dumps({"text": text}).encode()) + compressor.flush()
    return "text=" + base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(page(), encoding="utf-8")
