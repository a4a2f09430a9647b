// SPDX-License-Identifier: Apache-2.0
// Pages of the documentation site in headless Chromium: node page.js BOOK SCREENSHOTS
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");
const book = path.resolve(process.argv[2]);
const screenshots = path.resolve(process.argv[3]);
const PAGES = [
  "index.html", "docs/guide/operator.html", "docs/language.html", "docs/stdlib.html", "docs/diagnostics.html", "docs/command-line.html",
  "docs/python-api.html", "docs/c-api.html", "docs/networks.html", "docs/dialect.html", "docs/passes.html", "docs/status.html",
  "docs/onnx.html", "bench/index.html", "ARCHITECTURE.html", "CONTRIBUTING.html",
];
let passed = 0;

async function test(name, work) {
  try {
    await work();
    passed += 1;
  } catch (error) {
    console.error(`FAILED: ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}

/** Opens a page; errors of its scripts, and requests to the network, fail the test. */
async function open(page, name) {
  const wrong = [];
  page.removeAllListeners();
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) wrong.push(request.url()); });
  await page.goto(`file://${book}/${name}`);
  return wrong;
}

/** The elements that reach beyond the window, other than those in boxes that scroll. */
const overflowing = () => {
  const scrolls = (element) => element && (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  const wide = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement));
  return wide.slice(0, 3).map((e) => `${e.tagName} ${e.textContent.slice(0, 80)}`);
};

const luminance = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;

async function main() {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  for (const width of [1280, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme });
      // Layout does not depend on colours.
      for (const name of colorScheme === "light" ? PAGES : PAGES.slice(0, 2)) {
        await test(`${name}, ${width} pixels, ${colorScheme}`, async () => {
          const wrong = await open(page, name);
          await page.screenshot({ path: `${screenshots}/${name.replace(/\W/g, "-")}-${width}-${colorScheme}.png` });
          assert.deepStrictEqual(await page.evaluate(overflowing), []);
          assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, "the page is wider than the window");
          const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
          assert.strictEqual(luminance(background) > 128, colorScheme === "light", background);
          assert.deepStrictEqual(wrong, []);
        });
      }
      await page.close();
    }
  }
  const page = await browser.newPage({ viewport: { width: 1280, height: 844 } });
  await test("SkriptND and MLIR are highlighted", async () => {
    await open(page, "docs/guide/operator.html");
    for (const [language, classes] of [["sknd", ["meta", "title", "built_in", "comment"]], ["mlir", ["variable", "built_in", "type"]]]) {
      for (const name of classes) {
        assert.ok(await page.locator(`code.language-${language} .hljs-${name}`).count(), `${language}: no ${name}`);
      }
    }
  });
  await test("search finds an operator by its name alone", async () => {
    await open(page, "index.html");
    await page.keyboard.press("s");
    await page.waitForFunction(() => window.search);
    await page.locator("#mdbook-searchbar").pressSequentially("nonmax_suppress");
    const results = page.locator("#mdbook-searchresults a");
    await results.first().waitFor({ timeout: 10000 });
    assert.match(await results.first().getAttribute("href"), /stdlib\.html.*#algononmax_suppress/);
  });
  // Without Rust's target for WebAssembly, the site has no playground.
  if (fs.existsSync(`${book}/playground.html`)) {
    await test("documents open in the playground", async () => {
      const wrong = await open(page, "docs/language.html");
      const count = await page.locator(".open-document a").count();
      assert.ok(count > 10 && count < await page.locator("code.language-sknd").count(), `${count} documents`);
      const block = page.locator("pre:has(+ .open-document)").first();
      const text = await block.locator("code").evaluate((code) => code.textContent);
      await block.locator("+ .open-document a").click();
      await page.locator("#problems", { hasText: /no problems|warning/ }).waitFor();
      assert.strictEqual(await page.evaluate(() => editor.state.doc.toString()), text);
      assert.deepStrictEqual(wrong, []);
    });
  }
  await test("codes lead to diagnostics", async () => {
    await open(page, "docs/language.html");
    await page.locator('main a[href$="diagnostics.html#sk0650"]').first().click();
    assert.match(page.url(), /diagnostics\.html#sk0650$/);
    assert.match(await page.locator("#sk0650").innerText(), /^SK0650: /);
  });
  await test("the highlighter knows the words of the editors' grammar", () => {
    const root = path.join(__dirname, "../..");
    const grammar = JSON.parse(fs.readFileSync(`${root}/editors/vscode/syntaxes/sknd.tmLanguage.json`, "utf8")).repository;
    const rules = [grammar.block, grammar.control, grammar["word-operator"], grammar.modifier, grammar.constant, ...grammar.type.patterns];
    const text = fs.readFileSync(`${root}/docs/theme/languages.js`, "utf8");
    for (const rule of rules) {
      for (const word of rule.match.match(/\(([a-z|]+)\)/)[1].split("|")) assert.match(text, new RegExp(`\\b${word}\\b`), word);
    }
  });
  await browser.close();
  console.log(`site: ${passed} tests passed`);
}

main().catch((error) => {
  console.error(error.stack);
  process.exitCode = 1;
});
