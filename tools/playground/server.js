// SPDX-License-Identifier: Apache-2.0
// Requests to the server of `skript playground`.
const IS_STATIC = false;
const LINK_COPIED = "The link is copied. It needs this server; the part after # opens the text in any playground.";
const token = new URLSearchParams(location.search).get("token") ?? "";

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

/** The capabilities of the language server. */
async function capabilities() {
  return (await opened)?.capabilities;
}

/** Requests a method of the language server for a version of the text. */
async function language(version, text, method, params) {
  const answer = await ask("/language", { version, text, method, params });
  if (answer.error) throw new Error(answer.error.message);
  return method === "diagnostics" ? answer.diagnostics : answer.result;
}

/** Requests the content of a view. */
function job(body, signal) {
  return ask("/job", body, signal);
}

/** Shows the graph that was drawn last, which the server has. */
async function showPage(frame) {
  const { page } = await opened;
  frame.src = `/graph?page=${page}&token=${token}&at=${version}`;
}
