#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/nearest.svg, the picture of README.md: a model as `skript view` shows it, beside the formula of its operator.

Runs the model with `--profile`, opens the page of `skript view` in headless Chromium, and keeps its graph.
"""
import html
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = "examples/operators/nearest_neighbours.sknd"
PICTURE = ROOT / "docs/images/nearest.svg"
WORK = ROOT / "out/picture"
# The colours of the page in its light and dark themes.
STYLE = """
svg { --paper: #fbfbfa; --ink: #1d2328; --soft: #5b6670; --line: #d5dadf; --edge: #8a96a1; --box: #fff; --port: #eef1f4; --heat: #e4572e;
  --comment: #587058; --word: #7a3ea8; --value: #96591a; font-family: monospace; font-size: 12px; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #15181b; --ink: #e4e8eb; --soft: #9aa5af; --line: #343b42; --edge: #6d7883; --box: #242a30; --port: #2b3239; --heat: #d9502a;
    --comment: #8fae8f; --word: #c79bec; --value: #e0a96a; }
}
text { fill: var(--ink); } .title { font-weight: bold; } .line, .edge text, .time { font-size: 10px; fill: var(--soft); }
.frame { fill: var(--box); stroke: var(--edge); } .input .frame, .output .frame { fill: var(--port); }
.edge path { fill: none; stroke: var(--edge); } marker path { fill: var(--edge); } .heated .line, .heated .time { fill: var(--ink); }
.paper { fill: var(--paper); stroke: var(--line); } .code { white-space: pre; }
.comment { fill: var(--comment); } .word { fill: var(--word); } .value { fill: var(--value); }
"""
TOKENS = re.compile(r"(?P<comment>#.*)|(?P<word>@\w+|\b(?:operator|real|int)\b)|(?P<value>\b\d[\d.]*)")


def skript(*arguments):
    subprocess.run([ROOT / "target/release/skript", *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def coloured(line):
    def span(match):
        return f'<tspan class="{match.lastgroup}">{html.escape(match[0])}</tspan>'

    ends, parts = 0, []
    for match in TOKENS.finditer(line):
        parts += [html.escape(line[ends : match.start()]), span(match)]
        ends = match.end()
    return "".join([*parts, html.escape(line[ends:])])


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    PICTURE.parent.mkdir(exist_ok=True)
    skript("run", MODEL, "--input", "query=random:1", "--input", "point=random:2", "--threads", "1", "--repeat", "20", f"--profile={WORK}/times.json")
    skript("view", MODEL, "--profile", f"{WORK}/times.json", "-o", f"{WORK}/page.html")
    browser = ["chromium", "--headless", "--no-sandbox", "--dump-dom", "--window-size=1600,1600", f"file://{WORK}/page.html"]
    page = subprocess.run(browser, check=True, capture_output=True, text=True).stdout
    arrow, graph = re.search(r'<svg id="graph".*?(<defs>.*?</defs>).*?<g id="world"[^>]*>(.*)</g>\s*</svg>', page, re.S).groups()
    # Pictures do not need accessible names and similar attributes.
    graph = re.sub(r' (?:id|role|aria-[\w-]+|data-path)="[^"]*"', "", graph)
    source = re.search(r"^#[^\n]*\noperator distances.*?^}", (ROOT / MODEL).read_text(encoding="utf-8"), re.S | re.M)[0].split("\n")
    code = "".join(f'<text class="code" x="612" y="{76 + 17 * n}" xml:space="preserve">{coloured(line)}</text>\n' for n, line in enumerate(source))
    heights = [float(y) for y in re.findall(r'translate\([\d.]+ ([\d.]+)\)', graph)]
    width, height = 1210, round(max(heights) + 44)
    PICTURE.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="A graph of operators with their times, beside the formula of one">\n<style>{STYLE}</style>\n{arrow}\n'
        f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>\n<g>{graph}</g>\n{code}</svg>\n',
        encoding="utf-8",
    )
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
