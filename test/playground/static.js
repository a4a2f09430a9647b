// SPDX-License-Identifier: Apache-2.0
// Types into the static playground in headless Chromium: node static.js SKRIPT FOLDER, with static.html. Screenshots go to FOLDER.
"use strict";
const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");
const { test, passed } = require("./server.js");
const { TEXT, numbers, open, place, problems, replaceText, settled, tab, text } = require("./typing.js");

/** Takes longer than the time limit. */
const LONG = TEXT.replaceAll("real[12]", "real[3000]").replace("y[i,] = 2.0 * x[i,],\n            i < n;", "y[i,] += x[i,] * x[j,] * x[k,], i < n, j < n, k < n;");
const [skript, folder] = process.argv.slice(2).map((one) => path.resolve(one));
/** The page with a shorter time limit. */
const impatient = path.join(folder, "impatient.html");

async function main() {
  const complete = fs.readFileSync(path.join(folder, "static.html"), "utf8");
  fs.writeFileSync(impatient, complete.replace("const MAX_TIME = 20000;", "const MAX_TIME = 3000;"));
  fs.writeFileSync(path.join(folder, "static.sknd"), TEXT);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const { page, wrong } = await open(browser, pathToFileURL(impatient), { colorScheme: "light" });

  await test("static: the views that need no compiler", async () => {
    await problems(page, "no problems");
    assert.deepStrictEqual(await page.locator("[role=tab]").allInnerTexts(), ["Values", "Graph", "Model"]);
    assert.match(await page.locator("#more").innerText(), /skript playground/);
  });
  await test("static: an error, its diagnostic and its fix", async () => {
    await replaceText(page, TEXT.replace("doubled(x);", "doubeld(x);"));
    await problems(page, "1 error");
    assert.strictEqual(await page.locator(".cm-lintRange-error").innerText(), "doubeld");
    await settled(page);
    assert.match(await page.locator("#panel .messages").innerText(), /playground\.sknd:26:/);
    await place(page, 26, "        y = dou".length);
    await page.keyboard.press("Control+.");
    await problems(page, "no problems");
    assert.strictEqual(await text(page), TEXT);
  });
  await test("static: values are those of skript run", async () => {
    await page.locator("#option-seed").fill("7");
    await settled(page);
    const printed = execFileSync(skript, ["playground-values", "--engine=reference", "--seed=7", "static.sknd"], { encoding: "utf8", cwd: folder });
    const { inputs, outputs } = JSON.parse(printed);
    assert.deepStrictEqual(await numbers(page, "x"), inputs[0].values);
    assert.deepStrictEqual(await numbers(page, "y"), outputs[0].values);
    assert.deepStrictEqual(outputs[0].values, inputs[0].values.map((value) => 2 * value));
  });
  await test("static: work ends at the time limit", async () => {
    await replaceText(page, LONG);
    await settled(page);
    assert.match(await page.locator("#panel .messages").innerText(), /stopped after 3 s/);
    await replaceText(page, TEXT);
    await settled(page);
    assert.strictEqual((await numbers(page, "y")).length, 12);
  });
  await test("static: hover, format, model and graph", async () => {
    await page.locator(".cm-line", { hasText: "y = doubled(x)" }).locator(".token-function").hover();
    await page.locator(".cm-tooltip-hover .markdown", { hasText: "Twice the input" }).waitFor();
    await page.mouse.move(5, 5);
    await tab(page, "model");
    const model = execFileSync(skript, ["compile", "--emit=model", "static.sknd"], { encoding: "utf8", cwd: folder });
    assert.strictEqual(await page.locator("#panel .lines").evaluate((box) => box.textContent), model.replaceAll("static.", "playground."));
    await tab(page, "graph");
    const frame = page.frameLocator("#panel iframe");
    await frame.locator(".box .title", { hasText: "doubled" }).waitFor();
    assert.strictEqual(await frame.locator("body").evaluate(() => { try { return Boolean(window.parent.document); } catch { return false; } }), false);
  });
  await test("static: a link restores the text", async () => {
    await page.locator("#link").click();
    await page.waitForFunction(() => location.hash.startsWith("#text="));
    const other = await open(browser, page.url(), { colorScheme: "dark", viewport: { width: 390, height: 844 } });
    assert.strictEqual(await text(other.page), TEXT);
    await other.page.frameLocator("#panel iframe").locator(".box").first().waitFor();
    await other.page.screenshot({ path: `${folder}/static-small.png` });
    assert.ok((await other.page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    assert.deepStrictEqual(other.wrong, []);
  });
  await test("static: no errors, no requests to other addresses", async () => assert.deepStrictEqual(wrong, []));
  await browser.close();
  console.log(`the static playground: ${passed()} passed`);
}

main();
