// SPDX-License-Identifier: Apache-2.0
// Pages of `skript view` in headless Chromium: node page.js FOLDER, with net.html and long.html. Screenshots go to FOLDER.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const { chromium } = require("playwright-core");
const folder = path.resolve(process.argv[2]);
let passed = 0;

/** Opens a page. Script errors and requests other than that of the page fail the test. */
async function open(browser, name, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  const wrong = [];
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) wrong.push(request.url()); });
  await page.goto(`file://${folder}/${name}`);
  return { page, wrong };
}

async function test(name, work) {
  try {
    await work();
    passed += 1;
  } catch (error) {
    console.error(`FAILED: ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}

const titles = (page) => page.locator(".box .title").allTextContents();
const panel = (page) => page.locator("#details").innerText();
const active = (page) => page.locator("#graph").getAttribute("aria-activedescendant");

async function main() {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const { page, wrong } = await open(browser, "net.html", "light");

  await test("boxes, and types on edges", async () => {
    assert.deepStrictEqual((await titles(page)).sort(), ["+ main.step", "+ main.step", "math.add", "x", "y"]);
    assert.ok((await page.locator(".edge text").allTextContents()).every((text) => text === "f32[2,4]"));
    assert.strictEqual(await page.title(), "main.Net");
  });
  await test("times colour the boxes", async () => {
    assert.strictEqual(await page.locator("#colour").inputValue(), "time");
    const fill = (number) => page.locator(`[data-path="/${number}"] .frame`).evaluate((frame) => frame.style.fill);
    assert.match(await fill(1), /color-mix/);
    assert.strictEqual(await fill(2), "");
    await page.locator("#colour").selectOption("operator");
    assert.strictEqual(await fill(1), "");
  });
  await test("boxes have the comments of calls, and times", async () => {
    const inside = (number, kind) => page.locator(`[data-path="/${number}"] .${kind}`).allTextContents();
    assert.ok((await inside(2, "line")).includes("the node </text> of it"));
    assert.ok(!(await inside(1, "line")).some((line) => line.includes("node")));
    assert.deepStrictEqual(await inside(1, "time"), ["9.00 µs"]);
    assert.deepStrictEqual(await inside(2, "time"), []);
  });
  await test("keys move along edges, expand and collapse", async () => {
    await page.locator("#graph").focus();
    await page.keyboard.press("Home");
    assert.strictEqual(await active(page), "box/0");
    await page.keyboard.press("ArrowDown");
    assert.strictEqual(await active(page), "box/1");
    assert.strictEqual(await page.locator('[id="box/1"]').getAttribute("aria-expanded"), "false");
    await page.keyboard.press("Enter");
    assert.strictEqual(await page.locator('[id="box/1"]').getAttribute("aria-expanded"), "true");
    assert.ok((await titles(page)).includes("nn.linear"));
    await page.keyboard.press("PageDown");
    assert.strictEqual(await active(page), "box/1:0/0");
    await page.keyboard.press("ArrowDown");
    const text = await panel(page);
    for (const part of ["nn.linear", "main.sknd:17:13", "@lower", "main.Net.first.weight", "16 elements"]) {
      assert.ok(text.includes(part), `no ${part} in ${text}`);
    }
    assert.strictEqual(await page.locator("#details .histogram").count(), 1);
    await page.screenshot({ path: `${folder}/light.png` });
    await page.keyboard.press("PageUp");
    await page.keyboard.press("Enter");
    assert.ok(!(await titles(page)).includes("nn.linear"));
  });
  await test("the panel has the time and the text of a box, as text", async () => {
    const text = await panel(page);
    assert.ok(text.includes("9.00 µs, 90.0 %"), text);
    assert.ok(text.includes("<b>markup</b>"), text);
    assert.strictEqual(await page.locator("#details b").count(), 0);
    assert.strictEqual(await page.evaluate(() => window.changed), undefined);
  });
  await test("the mouse shows formulas, a second click expands", async () => {
    await page.locator('[id="box/3"]').hover();
    assert.ok((await panel(page)).startsWith("math.add"));
    await page.locator('[id="box/2"] .title').click();
    await page.locator('[id="box/2"] .title').click();
    assert.ok((await titles(page)).includes("nn.relu"));
    await page.keyboard.press("c");
  });
  await test("search finds boxes in collapsed ones", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("relu");
    assert.strictEqual(await page.locator("#results [role=option]").count(), 2);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.match(await active(page), /^box\/2:0\//);
    assert.ok((await panel(page)).startsWith("nn.relu"));
    await page.keyboard.press("/");
    await page.locator("#search").fill("nothing of the kind");
    assert.strictEqual(await page.locator("#results").innerText(), "nothing found");
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#results").isHidden());
  });
  await test("every control has a name", async () => {
    const names = await page.locator("button, input, select, [role=tree], aside, .box").evaluateAll((all) => all.map((one) => (one.getAttribute("aria-label") ?? one.textContent).trim()));
    assert.ok(names.every((name) => name !== ""), names.join("|"));
    await page.keyboard.press("?");
    assert.ok(await page.locator("#help").isVisible());
    await page.keyboard.press("Escape");
  });
  await test("no errors, no requests", async () => assert.deepStrictEqual(wrong, []));

  const dark = await open(browser, "net.html", "dark");
  await test("dark", async () => {
    const colours = await dark.page.evaluate(() => ["backgroundColor", "color"].map((name) => getComputedStyle(document.body)[name].match(/\d+/g).map(Number)));
    assert.ok(colours[0].every((part) => part < 60) && colours[1].every((part) => part > 200), JSON.stringify(colours));
    await dark.page.screenshot({ path: `${folder}/dark.png` });
    assert.deepStrictEqual(dark.wrong, []);
  });

  const long = await open(browser, "long.html", "light");
  await test("of 2,000 operators, the visible ones are drawn", async () => {
    const drawn = () => long.page.locator("#world > g").count();
    assert.ok((await drawn()) < 150, String(await drawn()));
    await long.page.locator("#graph").focus();
    await long.page.keyboard.press("End");
    assert.strictEqual(await long.page.locator(".box.selected .title").textContent(), "y");
    assert.ok((await drawn()) < 150);
    await long.page.mouse.move(400, 400);
    await long.page.mouse.wheel(0, -3000);
    await long.page.keyboard.press("f");
    // After the last step, the selected box is visible.
    assert.ok((await drawn()) > 200 && (await drawn()) < 1500, String(await drawn()));
    assert.ok(await long.page.locator(".box.selected").isVisible());
    assert.strictEqual(await long.page.locator(".box text").count(), 0, "texts that nobody can read");
    await long.page.screenshot({ path: `${folder}/long.png` });
    assert.deepStrictEqual(long.wrong, []);
  });
  await browser.close();
  console.log(`pages in a browser: ${passed} passed`);
}

main();
