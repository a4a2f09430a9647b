// SPDX-License-Identifier: Apache-2.0
// Opens a playground in a browser, and types into it.
"use strict";

const TEXT = `import math;
import nn;

# Twice the input.
operator doubled {
    @input {
        x: real[n];
    }
    @output {
        y: real[n];
    }
    @lower {
        y[i,] = 2.0 * x[i,],
            i < n;
    }
}

graph Net {
    @input {
        x: real[12];
    }
    @output {
        y: real[12];
    }
    @compose {
        y = doubled(x);
    }
}
`;

/** Opens a page. Script errors, and requests to other servers, fail the test. */
async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  const wrong = [];
  // The browser logs answers with a status of 4xx, such as those to obsolete requests.
  page.on("console", (message) => { if (/error|warning/.test(message.type()) && !/status of 409/.test(message.text())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  const { origin, href } = new URL(url);
  const own = origin === "null" ? href.split("#")[0] : origin;
  page.on("request", (request) => { if (!request.url().startsWith(own) && !/^(data|blob):/.test(request.url())) wrong.push(request.url()); });
  await page.goto(String(url));
  await settled(page);
  return { page, wrong };
}

/** Waits until the view of the current text is shown. */
async function settled(page) {
  await page.waitForFunction(() => panel.childElementCount > 0 && panel.getAttribute("aria-busy") === "false" && shown === JSON.stringify(request()), undefined, { polling: 50 });
}

async function replaceText(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await page.keyboard.press("Escape");
}

const text = (page) => page.evaluate(() => editor.state.doc.toString());
const problems = (page, expected) => page.locator("#problems", { hasText: expected }).waitFor();
async function place(page, line, column) {
  await page.evaluate(([line, column]) => {
    const anchor = editor.state.doc.line(line).from + column;
    editor.dispatch({ selection: { anchor }, scrollIntoView: true });
    editor.focus();
  }, [line, column]);
}

const tab = async (page, name) => { await page.locator(`#tab-${name}`).click(); await settled(page); };
/** The numbers of the arrays of a section. */
const numbers = (page, name) => page.locator(".array", { has: page.locator(".name", { hasText: new RegExp(`^${name}$`) }) }).locator("td")
  .evaluateAll((cells) => cells.map((cell) => Number(cell.title)));
module.exports = { TEXT, numbers, open, place, problems, replaceText, settled, tab, text };
