// SPDX-License-Identifier: Apache-2.0
// Answers requests in workers that execute the WebAssembly module of the page. Nothing is loaded from elsewhere.
const IS_STATIC = true;
const LINK_COPIED = "The link is copied. It contains the text.";
/** The time in milliseconds after which work is stopped. */
const MAX_TIME = 20000;
/** The methods of the language server have this document. */
const URI = "untitled:playground/playground.sknd";

/** The module, which is compressed and in base64 in the page. */
const compiled = (async () => {
  const bytes = Uint8Array.from(atob(content.module), (character) => character.charCodeAt(0));
  content.module = undefined;
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
})();

/** The address of the script of workers. */
const WORKER = URL.createObjectURL(new Blob([content.worker], { type: "text/javascript" }));

/** A worker that answers requests in order. It is replaced when it is stopped. */
class Place {
  #worker;
  #waiting = new Map();
  #last = 0;

  /** Answers a request, within the time limit and until `signal` is aborted. */
  async ask(body, signal) {
    const module = await compiled;
    if (signal?.aborted) throw new Obsolete();
    this.#worker ??= this.#start(module);
    const id = (this.#last += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.stop(new Error(`stopped after ${MAX_TIME / 1000} s`)), MAX_TIME);
      signal?.addEventListener("abort", () => { if (this.#waiting.has(id)) this.stop(new Obsolete()); });
      this.#waiting.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ id, body });
    });
  }

  /** Ends the worker and all work that it has. */
  stop(reason) {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(reason);
    }
    this.#waiting.clear();
  }

  #start(module) {
    const worker = new Worker(WORKER);
    worker.onmessage = ({ data: { id, answer, error } }) => {
      const { resolve, reject, timer } = this.#waiting.get(id) ?? {};
      clearTimeout(timer);
      this.#waiting.delete(id);
      if (error === undefined) resolve?.(answer);
      else reject?.(new Error(error));
    };
    worker.onerror = (event) => { event.preventDefault(); this.stop(new Error(`The worker ended: ${event.message}`)); };
    worker.postMessage({ module });
    return worker;
  }
}

/** One worker for the editor, so that work on a view does not delay it. */
const editing = new Place();
const working = new Place();

let legends;
/** The capabilities of the language server. */
function capabilities() {
  legends ??= language(0, "", "capabilities", {});
  return legends;
}

/** Requests a method of the language server for a version of the text. */
async function language(version, text, method, params) {
  if (params.textDocument) params = { ...params, textDocument: { uri: URI } };
  const answer = await editing.ask({ kind: "language", version, text, method, params });
  if (answer.status !== "done") throw new Error(answer.messages);
  return answer.result;
}

/** Requests the content of a view. */
async function job(body, signal) {
  try {
    return await working.ask({ ...body, name: "playground.sknd" }, signal);
  } catch (error) {
    if (error instanceof Obsolete) throw error;
    return { status: "stopped", messages: error.message };
  }
}

/** Shows a graph. Its scripts have no access to the playground. */
function showPage(frame, html) {
  frame.srcdoc = html;
}

for (const name of ["stages", "code", "stablehlo"]) document.getElementById(`tab-${name}`).remove();
const more = document.getElementById("more");
more.append("More views: run ");
more.title = "Stages of compilation, code and StableHLO need the compiler.";
add(more, "code", "skript playground");
document.getElementById("privacy").textContent = "The text remains in this browser.";
