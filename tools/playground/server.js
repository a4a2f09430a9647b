// SPDX-License-Identifier: Apache-2.0
// Requests to the server. A request that a newer one made obsolete throws `Obsolete`.
"use strict";
const content = JSON.parse(document.getElementById("content").textContent);
const token = new URLSearchParams(location.search).get("token") ?? "";

class Obsolete extends Error {}
class Expired extends Error {}

/** The page's name on the server and the capabilities of its language server, as a promise. */
let opened;

async function post(path, body, signal) {
  let response;
  try {
    response = await fetch(`${path}token=${token}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
    });
  } catch (error) {
    throw error.name === "AbortError" ? new Obsolete() : new Error("The server does not answer. Has it ended?");
  }
  const answer = await response.json();
  if (response.status === 409) throw new Obsolete();
  if (response.status === 410) throw new Expired();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Posts a request of this page. After the server has closed the page, such as for newer ones, it is opened again. */
async function ask(path, body, signal) {
  for (let attempt = 0; ; attempt += 1) {
    opened ??= post("/pages?", {});
    const current = opened;
    try {
      return await post(`${path}?page=${(await current).page}&`, body, signal);
    } catch (error) {
      if (opened === current && !(error instanceof Obsolete)) opened = undefined;
      if (!(error instanceof Expired) || attempt === 1) throw error;
    }
  }
}

/** Requests a method of the language server for a version of the text. */
async function language(version, text, method, params) {
  const answer = await ask("/language", { version, text, method, params });
  if (answer.error) throw new Error(answer.error.message);
  return method === "diagnostics" ? answer.diagnostics : answer.result;
}

/** Adds an element. All strings become text nodes, so that strings of models are never parsed as markup. */
function add(parent, name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind !== undefined) element.className = kind;
  parent.append(element);
  return element;
}
