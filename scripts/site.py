#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site from docs/SUMMARY.md and checks its links: site.py [--rustdoc]

The pages are in several folders, but mdBook reads one: build/site/src contains a copy of each page at its path in the repository, so that
relative links remain valid. Source files that pages link to are copied as text. With --rustdoc, the site includes the documentation of the
Rust API. The site includes the static playground, with links from documents in pages, if javascript/build.sh has
been run.
"""
import html
import html.parser
import json
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

import playground_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "build/site"
MDBOOK = ROOT / "build/mdbook/bin/mdbook"
PLAYGROUND = "playground.html"
IMAGES = {".png", ".svg"}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
DOCUMENT = re.compile(r"^```sknd[^\n]*\n(.*?)^```\n", re.M | re.S)
CODE = re.compile(r"(?<!\[)\b(SK\d{4})\b")

BOOK = """[book]
title = "SkriptND"
description = "The SkriptND compiler: NNEF 2.0 on MLIR"
language = "en"

[build]
create-missing = false

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
additional-css = ["theme/site.css"]
no-section-label = true

[output.html.fold]
enable = true

[output.html.playground]
runnable = false

[output.html.print]
enable = false

[output.html.search]
limit-results = 20
"""


class Problems(Exception):
    """The problems of the pages, one on each line."""


def resolve(page, link):
    """The path in the repository that a link of a page leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), urllib.parse.unquote(link)))


def is_local(link):
    return not re.match(r"[a-z]+:|#", link)


def outside_code(text, change):
    """Applies a function to the text between code blocks and code spans."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            line = "".join(part if part.startswith("`") else change(part) for part in re.split(r"(`+[^`]*`+)", line))
        lines.append(line)
    return "\n".join(lines)


def page_name(path):
    """mdBook renders the page of a folder as index.html, but does not change links to its README.md."""
    return re.sub(r"(^|/)README\.md$", r"\1index.md", path)


def file_name(path):
    """The name under which a file is copied: source files become text files for browsers, and mdBook changes `.md` in links."""
    return path if pathlib.Path(path).suffix in IMAGES else path.removesuffix(".md") + ".txt"


class Assembly:
    """Copies pages and the files that they link to into the folder that mdBook reads."""

    def __init__(self):
        self.summary = (ROOT / "docs/SUMMARY.md").read_text(encoding="utf-8")
        self.pages = [resolve("docs/SUMMARY.md", link) for _, link, _ in LINK.findall(self.summary)]
        self.files, self.problems, self.examples = set(), [], 0

    def link(self, page, link):
        """The link as it is written in the site."""
        if not is_local(link):
            return link
        target, hash_mark, anchor = link.partition("#")
        path = resolve(page, target)
        if (ROOT / path).is_dir():
            path, target = f"{path}/README.md", f"{target.rstrip('/')}/README.md"
        if path == "docs/SUMMARY.md":
            target = posixpath.relpath("toc.html", posixpath.dirname(page) or ".")
        elif not (ROOT / path).is_file():
            self.problems.append(f"{page}: there is no {path}")
        elif path in self.pages:
            target = page_name(target)
        else:
            self.files.add(path)
            target = file_name(target)
        return f"{target}{hash_mark}{anchor}"

    def with_links(self, texts):
        """Adds links to the playground after the blocks of pages that are documents without errors."""
        blocks = sorted({block for text in texts.values() for block in DOCUMENT.findall(text)})
        command = ["node", ROOT / "scripts/complete_documents.mjs"]
        checked = subprocess.run(command, input=json.dumps(blocks), check=True, capture_output=True, text=True)
        complete = {block for block, is_complete in zip(blocks, json.loads(checked.stdout)) if is_complete}

        def linked(page, block):
            if block[1] not in complete:
                return block[0]
            self.examples += 1
            # mdBook reserves the class `playground`.
            address = posixpath.relpath(PLAYGROUND, posixpath.dirname(page) or ".")
            return f'{block[0]}\n<p class="open-document"><a href="{address}#{playground_page.link(block[1])}">Open in the playground</a></p>\n'

        return {page: DOCUMENT.sub(lambda block: linked(page, block), text) for page, text in texts.items()}

    def rewritten(self, page):
        text = (ROOT / page).read_text(encoding="utf-8")
        if page == "docs/diagnostics.md":
            text = diagnostics(text)
        elif page == "docs/stdlib.md":
            text = library(text)
        else:
            here = posixpath.relpath("docs/diagnostics.md", posixpath.dirname(page) or ".")
            text = outside_code(text, lambda part: part if part.startswith("#") else CODE.sub(lambda m: f"[{m[1]}]({here}#{m[1].lower()})", part))
        # mlir-tblgen writes a mark for a table of contents, which the site shows at the side, and HTML tables with code in back quotes.
        text = text.replace("\n[TOC]\n", "")
        text = re.sub(r"^<tr>.*", lambda row: re.sub(r"`([^`]*)`", lambda m: f"<code>{html.escape(m[1])}</code>", row[0]), text, flags=re.M)
        # Cells with two numbers do not wrap.
        text = re.sub(r"^\|.*", lambda row: re.sub(r"(?<=\d) / (?=\d)", "\u00a0/\u00a0", row[0]), text, flags=re.M)
        # The text of a link may contain code, so its address may follow a code span.
        return outside_code(text, lambda part: LINK.sub(lambda m: m[1] + self.link(page, m[2]) + m[3], part))

    def write(self, folder, has_playground):
        texts = {page: self.rewritten(page) for page in self.pages}
        for page, text in (self.with_links(texts) if has_playground else texts).items():
            path = folder / page_name(page)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for file in self.files:
            path = folder / file_name(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, path)
        summary = LINK.sub(lambda m: m[1] + page_name(resolve("docs/SUMMARY.md", m[2])) + m[3], self.summary)
        (folder / "SUMMARY.md").write_text(summary, encoding="utf-8")
        if self.problems:
            raise Problems("\n".join(self.problems))


def library(text):
    """The page of the library with highlighted signatures. Search splits words only at spaces, so `conv` must be a separate word of a heading."""
    text = re.sub(r"^```\n(.*?)^```$", r"```sknd\n\1```", text, flags=re.M | re.S)
    return re.sub(r"^### (\w+)\.(\w+)$", r"### \1.\2<span hidden> \2</span> {#\1\2}", text, flags=re.M)


def diagnostics(text):
    """The page of diagnostics with an anchor for each code, and its examples as blocks of SkriptND."""
    text = re.sub(r"^## (SK\d{4})(: .*)$", lambda m: f"## {m[1]}{m[2]} {{#{m[1].lower()}}}", text, flags=re.M)
    block = re.compile(r"((?:^ {4}.*\n)+(?:\n(?: {4}.*\n)+)*)", re.M)
    return block.sub(lambda m: "```sknd\n" + re.sub(r"^ {4}", "", m[1], flags=re.M) + "```\n", text)


class Links(html.parser.HTMLParser):
    """The anchors of a page and the addresses that it refers to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.addresses = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or tag == "a" and name == "name":
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.addresses.append(value)


def check_links(folder):
    """Raises Problems for each link of the site whose file or anchor does not exist."""
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html") if "rust" not in path.relative_to(folder).parts}
    problems, count = [], 0
    for path, page in pages.items():
        for address in page.addresses:
            # A link to the playground contains a text.
            if re.match(r"[a-z]+:|//", address) or "#text=" in address:
                continue
            count += 1
            target, _, anchor = urllib.parse.unquote(address).partition("#")
            # The links of 404.html are absolute.
            where = (folder / target.lstrip("/") if target.startswith("/") else path.parent / target) if target else path
            where = pathlib.Path(os.path.normpath(where))
            if where.is_dir():
                where /= "index.html"
            if not where.is_file():
                problems.append(f"{path.relative_to(folder)}: dead link {address}")
            elif anchor and where in pages and anchor not in pages[where].anchors:
                problems.append(f"{path.relative_to(folder)}: no such heading: {address}")
    if problems:
        raise Problems("\n".join(problems))
    return len(pages), count


def theme(folder):
    """mdBook's theme with another highlighter: that of mdBook does not support SkriptND and MLIR."""
    book = SITE / "default"
    run = [MDBOOK, "init", "--force", "--theme", "--title", "default", "--ignore", "none", book]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder.mkdir()
    highlighter = (book / "theme/highlight.js").read_text(encoding="utf-8")
    languages = (ROOT / "docs/theme/languages.js").read_text(encoding="utf-8")
    (folder / "highlight.js").write_text(f"{highlighter}\n{languages}", encoding="utf-8")
    shutil.copyfile(ROOT / "docs/theme/site.css", folder / "site.css")
    shutil.rmtree(book)


def rustdoc(folder):
    subprocess.run(["cargo", "doc", "--release", "--no-deps", "-p", "skript"], cwd=ROOT, check=True)
    shutil.copytree(ROOT / "target/doc", folder / "rust")


def main(arguments):
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(parents=True)
    (SITE / "book.toml").write_text(BOOK, encoding="utf-8")
    try:
        has_playground = (ROOT / "build/javascript/skriptnd.wasm").is_file()
        assembly = Assembly()
        assembly.write(SITE / "src", has_playground)
        if "--rustdoc" in arguments:
            with open(SITE / "src/docs/rust.md", "a", encoding="utf-8") as page:
                page.write("\n[Every item of the crate](../rust/skript/index.html)\n")
        theme(SITE / "theme")
        subprocess.run([MDBOOK, "build", SITE], check=True, stdout=subprocess.DEVNULL)
        if "--rustdoc" in arguments:
            rustdoc(SITE / "book")
        if has_playground:
            (SITE / "book" / PLAYGROUND).write_text(playground_page.page(), encoding="utf-8")
        pages, links = check_links(SITE / "book")
    except Problems as problems:
        print(problems)
        return 1
    print(f"site: {pages} pages and {links} links in build/site/book/index.html, {assembly.examples} documents for the playground")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
