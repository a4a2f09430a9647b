// SPDX-License-Identifier: Apache-2.0
// Types into the playground in headless Chromium: node page.js SKRIPT FOLDER. Screenshots go to FOLDER.
"use strict";
const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");
const { serve, end, test, passed } = require("./server.js");
const { TEXT, numbers, open, place, problems, replaceText, settled, tab, text } = require("./typing.js");

const [skript, folder] = process.argv.slice(2).map((one) => path.resolve(one));
const run = (...flags) => execFileSync(skript, flags, { encoding: "utf8", cwd: folder });

/** The elements of an array of 32-bit reals in a .npy file. */
function reals(file) {
  const bytes = fs.readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  return Array.from({ length: (bytes.length - start) / 4 }, (_, at) => bytes.readFloatLE(start + 4 * at));
}

const lines = (page) => page.locator("#panel .lines").evaluate((box) => box.textContent);

async function main() {
  const { server, url } = await serve(skript);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const { page, wrong } = await open(browser, url, { colorScheme: "light" });
  fs.writeFileSync(path.join(folder, "playground.sknd"), TEXT);

  await test("an example is shown first, with values", async () => {
    await problems(page, "no problems");
    assert.ok((await page.locator(".array").count()) > 0);
    await page.screenshot({ path: `${folder}/first.png` });
  });
  await test("a diagnostic appears while one types, and disappears", async () => {
    await replaceText(page, TEXT);
    await problems(page, "no problems");
    await place(page, 26, "        y = doubled(x".length);
    await page.keyboard.type("x");
    await problems(page, "1 error");
    assert.strictEqual(await page.locator(".cm-lintRange-error").innerText(), "xx");
    await page.locator(".cm-lintRange-error").hover();
    await page.locator(".cm-tooltip .cm-diagnostic", { hasText: "`xx`" }).waitFor();
    await settled(page);
    assert.match(await page.locator("#panel .messages").innerText(), /playground\.sknd:26:/);
    await page.screenshot({ path: `${folder}/diagnostic.png` });
    await page.mouse.move(5, 5);
    await place(page, 26, "        y = doubled(xx".length);
    await page.keyboard.press("Backspace");
    await problems(page, "no problems");
    await settled(page);
    assert.strictEqual(await page.locator("#panel .messages").count(), 0);
  });
  await test("words have colours", async () => {
    await page.locator(".token-function.is-declaration", { hasText: "doubled" }).waitFor();
    assert.ok((await page.locator(".token-comment", { hasText: "# Twice" }).count()) > 0);
  });
  await test("hover shows the signature and the comment", async () => {
    await page.locator(".cm-line", { hasText: "y = doubled(x)" }).locator(".token-function").hover();
    const shown = page.locator(".cm-tooltip-hover .markdown");
    await shown.waitFor();
    assert.match(await shown.innerText(), /operator playground\.doubled[^]*Twice the input/);
    await page.screenshot({ path: `${folder}/hover.png` });
    await page.mouse.move(5, 5);
  });
  await test("completion inserts names, and shows their documentation", async () => {
    await place(page, 26, "        y = ".length);
    await page.keyboard.press("Shift+End");
    await page.keyboard.type("nn.rel");
    await page.locator(".cm-tooltip-autocomplete li", { hasText: /^relu/ }).first().waitFor();
    await page.locator(".cm-completionInfo .markdown").waitFor();
    await page.screenshot({ path: `${folder}/completion.png` });
    await page.waitForTimeout(100);
    await page.keyboard.press("Enter");
    await page.keyboard.type("(x);");
    assert.match(await text(page), /y = nn\.relu\(x\);/);
    await problems(page, "no problems");
  });
  await test("a fix is applied, and arguments show their operator", async () => {
    await replaceText(page, TEXT.replace("doubled(x);", "doubeld(x);"));
    await problems(page, "1 error");
    await page.locator(".cm-lintRange-error").hover();
    await page.locator(".cm-diagnosticAction", { hasText: "Change to `doubled`" }).waitFor();
    await page.screenshot({ path: `${folder}/fix.png` });
    await page.locator(".cm-diagnosticAction").click();
    await problems(page, "no problems");
    assert.strictEqual(await text(page), TEXT);
    await place(page, 26, "        y = ".length);
    await page.keyboard.press("Shift+End");
    await page.keyboard.type("doubled(");
    const signature = page.locator(".cm-tooltip.signature");
    await signature.waitFor();
    assert.match(await signature.innerText(), /doubled[^]*x: real\[n\][^]*Twice the input/);
    assert.strictEqual(await signature.locator("b").innerText(), "x: real[n]");
    await page.screenshot({ path: `${folder}/signature.png` });
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await signature.waitFor({ state: "detached" });
  });
  await test("the text is formatted as by skript fmt", async () => {
    const messy = TEXT.replace("        y = doubled(x);", "  y=doubled( x ) ;");
    await replaceText(page, messy);
    await problems(page, "no problems");
    await page.keyboard.press("Control+s");
    await page.waitForFunction(() => /y = doubled\(x\);/.test(editor.state.doc.toString()));
    const file = path.join(folder, "formatted.sknd");
    fs.writeFileSync(file, messy);
    run("fmt", file);
    assert.strictEqual(await text(page), fs.readFileSync(file, "utf8"));
  });
  await test("values are those of skript run, for each engine and seed", async () => {
    await replaceText(page, TEXT);
    for (const [seed, engine] of [[1, "compiled"], [7, "compiled"], [7, "reference"]]) {
      await page.locator("#option-seed").fill(String(seed));
      await page.locator("#option-engine").selectOption(engine);
      await settled(page);
      const outputs = path.join(folder, `outputs-${seed}-${engine}`);
      run("run", "playground.sknd", `--input=x=random:${seed}`, `--engine=${engine}`, "--no-cache", "--output-dir", outputs);
      const expected = reals(path.join(outputs, "y.npy"));
      assert.strictEqual(expected.length, 12);
      assert.deepStrictEqual(await numbers(page, "y"), expected);
      assert.deepStrictEqual(await numbers(page, "x"), expected.map((value) => value / 2));
    }
  });
  await test("texts of views are those of skript compile", async () => {
    for (const [name, ...flags] of [["model", "--emit=model"], ["code", "--emit=asm"], ["stablehlo", "--emit=stablehlo", "--no-locations"]]) {
      await tab(page, name);
      const compact = (shown) => shown.replace(/\n+/g, "\n");
      assert.strictEqual(compact(await lines(page)), compact(run("compile", "playground.sknd", ...flags)), name);
    }
    await tab(page, "code");
    await page.locator("#option-target").selectOption("ptx");
    await settled(page);
    assert.match(await lines(page), /\.visible \.entry kernel_0/);
  });
  await test("instructions are linked to formulas and their invocations", async () => {
    for (const [target, instruction] of [["cpu", /add[sp]s/], ["ptx", "add.f32"], ["amdgcn", "v_add_f32"], ["wasm32", "f32.add"]]) {
      await page.locator("#option-target").selectOption(target);
      await settled(page);
      assert.doesNotMatch(await lines(page), /\.loc\b|debug_/, target);
      await page.locator("#panel .located", { hasText: instruction }).first().hover();
      const origins = await page.locator(".cm-line.origin").allInnerTexts();
      assert.ok(["y[i,] = 2.0", "doubled(x)"].every((part) => origins.some((line) => line.includes(part))), `${target}: ${origins}`);
      await page.screenshot({ path: `${folder}/code-${target}.png` });
    }
    await place(page, 26, "        y = doubled".length);
    await page.locator("#panel .located.current").first().waitFor();
    await page.locator("#option-target").selectOption("cpu");
  });
  await test("stages show what changed, and lines come from the text", async () => {
    await tab(page, "stages");
    await page.locator("#option-stage").selectOption("linalg");
    const plain = run("compile", "playground.sknd", "--emit=linalg", "--no-locations");
    assert.strictEqual((await lines(page)).trim(), plain.trim());
    await page.locator("#option-changes").check();
    const marked = await page.locator("#panel .lines span").evaluateAll((all) => all.map((line) => [line.classList[0], line.textContent]));
    const after = marked.filter(([kind]) => kind === "added").map(([, line]) => line);
    assert.ok(after.length > 0 && after.every((line) => plain.includes(line)));
    assert.ok(marked.some(([kind]) => kind === "removed"));
    await page.screenshot({ path: `${folder}/stages.png` });
    const passes = await page.locator("#option-stage option").allInnerTexts();
    const pass = passes.find((name) => /^\d+: inline$/.test(name));
    await page.locator("#option-stage").selectOption(pass);
    assert.ok((await page.locator("#panel .removed", { hasText: "skript.invoke" }).count()) > 0);
    await page.getByLabel("Previous step").click();
    assert.strictEqual(await page.locator("#option-stage").inputValue(), passes[passes.indexOf(pass) - 1]);
    await page.locator("#option-stage").selectOption("linalg");
    await page.locator("#panel .added.located", { hasText: "linalg.generic" }).first().hover();
    assert.match(await page.locator(".cm-line.origin").first().innerText(), /y\[i,\] = 2\.0|doubled\(x\)/);
  });
  await test("differences rebuild both texts", async () => {
    const checked = await page.evaluate(() => {
      let state = 1;
      const next = (bound) => { state = (state * 48271) % 2147483647; return state % bound; };
      const list = () => Array.from({ length: next(30) }, () => "abcde"[next(5)]);
      for (let round = 0; round < 400; round += 1) {
        const [before, after] = [list(), list()];
        const found = difference(before, after);
        const left = found.filter(([kind]) => kind !== "+").map(([, i]) => before[i]);
        const right = found.filter(([kind]) => kind !== "-").map(([kind, i, j]) => after[kind === "=" ? j : i]);
        if (String(left) !== String(before) || String(right) !== String(after)) return [before, after, found];
        if (found.some(([kind, i, j]) => kind === "=" && before[i] !== after[j])) return [before, after, found];
      }
      return "equal";
    });
    assert.strictEqual(checked, "equal");
  });
  await test("the graph is the page of skript view", async () => {
    await tab(page, "graph");
    const frame = page.frameLocator("#panel iframe");
    await frame.locator(".box .title", { hasText: "doubled" }).waitFor();
    // It has no access to the playground.
    assert.strictEqual(await frame.locator("body").evaluate(() => { try { return Boolean(window.parent.document); } catch { return false; } }), false);
    await page.screenshot({ path: `${folder}/graph.png` });
  });
  await test("keys select tabs", async () => {
    await page.locator("#tab-graph").focus();
    await page.keyboard.press("ArrowLeft");
    assert.strictEqual(await page.locator("[aria-selected=true]").first().innerText(), "Values");
    await page.keyboard.press("End");
    await settled(page);
    assert.strictEqual(await page.evaluate(() => document.activeElement.id), "tab-stablehlo");
    await page.keyboard.press("Home");
    await settled(page);
  });
  await test("a link restores text and settings", async () => {
    await page.locator("#option-seed").fill("42");
    await settled(page);
    await page.locator("#link").click();
    await page.waitForFunction(() => location.hash.startsWith("#text="));
    const other = await open(browser, page.url());
    assert.strictEqual(await text(other.page), TEXT);
    assert.strictEqual(await other.page.locator("#option-seed").inputValue(), "42");
    assert.deepStrictEqual(await numbers(other.page, "y"), await numbers(page, "y"));
    assert.deepStrictEqual(other.wrong, []);
    await other.page.goto(`${url}#text=AAAA`);
    await other.page.reload();
    await other.page.locator("#spoken", { hasText: "cannot be read" }).waitFor();
    await problems(other.page, "no problems");
    await other.page.context().close();
  });
  await test("the view of the newest text remains", async () => {
    await tab(page, "stages");
    await page.locator("#example").selectOption({ label: "Digits" });
    await page.locator("#work", { hasText: "working" }).waitFor();
    await replaceText(page, TEXT);
    await settled(page);
    await page.locator("#option-stage").selectOption("model");
    await page.locator("#option-changes").uncheck();
    assert.match(await lines(page), /Net/);
  });
  await test("each example has values without errors", async () => {
    await tab(page, "values");
    await page.locator("#option-engine").selectOption("compiled");
    const titles = await page.locator("#example option").allInnerTexts();
    assert.ok(titles.length > 15);
    for (const label of titles.slice(1)) {
      await page.locator("#example").selectOption({ label });
      await settled(page);
      assert.ok((await page.locator(".array").count()) >= 1, `${label}: ${await page.locator("#panel").innerText()}`);
      await problems(page, "no problems");
    }
  });
  await test("attributes of the graph and their errors", async () => {
    await page.locator("#example").selectOption({ label: "Haar wavelets" });
    await settled(page);
    await page.locator("#option-attributes").fill("channels=1 rows=4 columns=6");
    await settled(page);
    assert.match(await page.locator("#panel").innerText(), /y\s+f32\[1, 4, 2, 3\]/);
    await page.locator("#option-attributes").fill("depth=1");
    await settled(page);
    assert.match(await page.locator("#panel .messages").innerText(), /error\[SK\d+\][^]*depth/);
  });
  await test("images and curves", async () => {
    await page.locator("#example").selectOption({ label: "Bilateral filter" });
    await settled(page);
    assert.strictEqual(await page.locator(".array canvas").count(), 2);
    await page.screenshot({ path: `${folder}/values.png` });
  });
  await test("no errors, no requests to other servers", async () => assert.deepStrictEqual(wrong, []));

  const dark = await open(browser, url, { colorScheme: "dark" });
  await test("dark", async () => {
    const colours = await dark.page.evaluate(() => ["backgroundColor", "color"].map((name) => getComputedStyle(document.body)[name].match(/\d+/g).map(Number)));
    assert.ok(colours[0].every((part) => part < 60) && colours[1].every((part) => part > 200), JSON.stringify(colours));
    await dark.page.screenshot({ path: `${folder}/dark.png` });
    assert.deepStrictEqual(dark.wrong, []);
  });
  const small = await open(browser, url, { colorScheme: "light", viewport: { width: 390, height: 844 } });
  await test("390 pixels wide", async () => {
    for (const name of ["values", "graph", "model", "stages", "code", "stablehlo"]) {
      await tab(small.page, name);
      if (name === "graph") await small.page.frameLocator("#panel iframe").locator(".box").first().waitFor();
      assert.ok((await small.page.evaluate(() => document.documentElement.scrollWidth)) <= 390, name);
      await small.page.screenshot({ path: `${folder}/small-${name}.png` });
    }
    assert.deepStrictEqual(small.wrong, []);
  });
  await test("every control has a name", async () => {
    const names = await page.locator("button, input, select, [role=tab], [role=separator]").evaluateAll((all) => all.map((one) => (one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent).trim()));
    assert.ok(names.every((name) => name !== ""), names.join("|"));
  });
  await test("a page without its server says so", async () => {
    assert.strictEqual(await end(server), 0);
    await page.locator(".cm-content").click();
    await page.keyboard.type("# ");
    await page.locator("#problems", { hasText: "The server does not answer" }).waitFor();
  });
  await browser.close();
  console.log(`the playground in a browser: ${passed()} passed`);
}

main();
