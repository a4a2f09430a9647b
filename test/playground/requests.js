// SPDX-License-Identifier: Apache-2.0
// Requests to a playground without a browser: node requests.js SKRIPT.
"use strict";
const assert = require("node:assert");
const http = require("node:http");
const net = require("node:net");
const { serve, end, test, passed } = require("./server.js");

const GRAPH = "graph G {\n    @input { x: real[2]; }\n    @output { y: real[2]; }\n    @compose { y = x; }\n}\n";

/** Sends a request with exactly these headers; returns status, headers and text. */
function send(url, method, path, headers = {}, body = "") {
  return new Promise((resolve, reject) => {
    const all = { Host: url.host, ...headers };
    const request = http.request({ host: "127.0.0.1", port: url.port, method, path, headers: all, setHost: false }, (response) => {
      let text = "";
      response.on("data", (data) => { text += data; });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function main(skript) {
  const { server, url } = await serve(skript);
  const query = url.search;
  const json = { "Content-Type": "application/json", Origin: url.origin };
  const post = (path, body, headers = json) => send(url, "POST", path, headers, typeof body === "string" ? body : JSON.stringify(body));
  const status = async (answer) => (await answer).status;
  const { page } = JSON.parse((await post(`/pages${query}`, {})).text);
  const job = (body) => post(`/job${query}&page=${page}`, body);

  await test("the page needs the token and the loopback address", async () => {
    assert.match(url.search, /^\?token=[0-9a-f]{32}$/);
    const answer = await send(url, "GET", `/${query}`);
    assert.strictEqual(answer.status, 200);
    assert.match(answer.headers["content-security-policy"], /default-src 'none'; script-src 'nonce-[0-9a-f]{32}';.*frame-ancestors 'none'/);
    assert.strictEqual(answer.headers["referrer-policy"], "no-referrer");
    assert.strictEqual(answer.headers["access-control-allow-origin"], undefined);
    for (const path of ["/", "/?token=", `/?token=${"0".repeat(32)}`]) assert.strictEqual(await status(send(url, "GET", path)), 403);
    for (const host of ["evil.example", `evil.example:${url.port}`, `localhost:${url.port}`, "127.0.0.1"]) {
      assert.strictEqual(await status(send(url, "GET", `/${query}`, { Host: host })), 403, host);
    }
  });
  await test("other addresses of the machine are not served", async () => {
    const addresses = Object.values(require("node:os").networkInterfaces()).flat().filter((one) => !one.internal && one.family === "IPv4");
    for (const { address } of addresses) {
      const refused = await new Promise((resolve) => {
        const socket = net.connect(url.port, address, () => { socket.destroy(); resolve(false); });
        socket.on("error", () => resolve(true));
      });
      assert.ok(refused, address);
    }
  });
  await test("posts of other origins are refused", async () => {
    for (const origin of [undefined, "null", "http://evil.example", `http://localhost:${url.port}`, `https://${url.host}`]) {
      const headers = { "Content-Type": "application/json", ...(origin ? { Origin: origin } : {}) };
      for (const path of ["pages", "language", "job"]) assert.strictEqual(await status(post(`/${path}${query}`, {}, headers)), 403, origin);
    }
    assert.strictEqual(await status(post(`/job${query}`, {}, { ...json, "Content-Type": "text/plain" })), 415);
    assert.strictEqual(await status(post("/pages", {})), 403);
  });
  await test("unknown addresses, methods and pages are refused", async () => {
    assert.strictEqual(await status(send(url, "GET", `/other${query}`)), 404);
    assert.strictEqual(await status(send(url, "GET", `/../../etc/passwd${query}`)), 404);
    assert.strictEqual(await status(send(url, "GET", `/job${query}`)), 405);
    assert.strictEqual(await status(send(url, "DELETE", `/${query}`)), 405);
    assert.strictEqual(await status(post(`/job${query}&page=0`, {})), 410);
    assert.strictEqual(await status(send(url, "GET", `/graph${query}&page=0`)), 410);
  });
  await test("malformed and large requests are refused", async () => {
    for (const body of ["", "{", "[]", "{}", { kind: "shell", text: "" }, { kind: "model", text: "", output: "x" }]) {
      assert.strictEqual(await status(job(body)), 400, JSON.stringify(body));
    }
    for (const body of ["", "{}", { version: 1, text: "", method: "shutdown" }, { version: 1e10, text: "", method: "diagnostics" }]) {
      assert.strictEqual(await status(post(`/language${query}&page=${page}`, body)), 400, JSON.stringify(body));
    }
    assert.strictEqual(await status(job({ kind: "model", text: "#".repeat((1 << 20) + 1) })), 413);
    assert.strictEqual(await status(job("x".repeat((4 << 20) + 1))), 413);
    assert.strictEqual(await status(send(url, "GET", `/${query}`, { "X-Long": "x".repeat(60 << 10) })), 431);
  });
  await test("bytes that are not HTTP close the connection", async () => {
    const text = await new Promise((resolve, reject) => {
      let received = "";
      const socket = net.connect(url.port, "127.0.0.1", () => socket.write("\x16\x03\x01 no request\r\n\r\n"));
      socket.on("data", (data) => { received += data; });
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });
    assert.match(text, /^HTTP\/1\.1 400/);
  });
  await test("work has a result, or messages", async () => {
    const done = JSON.parse((await job({ kind: "values", text: GRAPH, seed: 3 })).text);
    assert.strictEqual(done.status, "done");
    const { inputs, outputs } = JSON.parse(done.result);
    assert.strictEqual(outputs[0].values.length, 2);
    assert.deepStrictEqual(outputs[0].values, inputs[0].values);
    const wrong = JSON.parse((await job({ kind: "values", text: "graph {" })).text);
    assert.strictEqual(wrong.status, "wrong");
    assert.match(wrong.messages, /error\[SK\d{4}\][^]*playground\.sknd:1:/);
    const flag = JSON.parse((await job({ kind: "model", text: GRAPH, graph: "--help" })).text);
    assert.strictEqual(flag.status, "wrong");
    const file = JSON.parse((await job({ kind: "model", text: `import etc.passwd;\n${GRAPH}` })).text);
    assert.strictEqual(file.status, "wrong");
  });
  await test("a text imports no files of the working folder", async () => {
    const text = `import main;\n${GRAPH}`;
    const answer = await post(`/language${query}&page=${page}`, { version: 1, text, method: "diagnostics" });
    assert.match(JSON.parse(answer.text).diagnostics[0].message, /there is no module `main`/);
    assert.match(JSON.parse((await job({ kind: "model", text })).text).messages, /there is no module `main`/);
  });
  await test("a newer text makes older work obsolete", async () => {
    const long = require("node:fs").readFileSync("examples/alexnet/main.sknd", "utf8");
    const older = job({ kind: "stages", text: long });
    await status(send(url, "GET", `/${query}`));
    assert.strictEqual((await job({ kind: "model", text: GRAPH })).status, 200);
    assert.strictEqual((await older).status, 409);
  });
  await test("Ctrl-C ends the server", async () => {
    const working = job({ kind: "stages", text: GRAPH }).catch(() => undefined);
    await status(send(url, "GET", `/${query}`));
    assert.strictEqual(await end(server), 0);
    await working;
  });
  await test("work ends at the time limit", async () => {
    const limited = await serve(skript, "--timeout=0.001");
    const headers = { "Content-Type": "application/json", Origin: limited.url.origin };
    const opened = await send(limited.url, "POST", `/pages${limited.url.search}`, headers, "{}");
    const path = `/job${limited.url.search}&page=${JSON.parse(opened.text).page}`;
    const answer = await send(limited.url, "POST", path, headers, JSON.stringify({ kind: "model", text: GRAPH }));
    assert.deepStrictEqual(JSON.parse(answer.text), { status: "stopped", messages: "stopped after 0.001 s (--timeout)" });
    await assert.rejects(serve(skript, `--port=${limited.url.port}`), /cannot listen on 127\.0\.0\.1/);
    assert.strictEqual(await end(limited.server), 0);
  });
  await test("a file is the first text", async () => {
    await assert.rejects(serve(skript, "missing.sknd"), /missing\.sknd/);
    const opened = await serve(skript, "main.sknd");
    const { text } = await send(opened.url, "GET", `/${opened.url.search}`);
    assert.ok(text.includes('"text":"# SPDX-License-Identifier: Apache-2.0\\nimport math;'));
    await end(opened.server);
  });
  console.log(`requests to the playground: ${passed()} passed`);
}

main(require("node:path").resolve(process.argv[2]));
