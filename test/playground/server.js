// SPDX-License-Identifier: Apache-2.0
// Starts a playground, and counts tests.
"use strict";
const { spawn } = require("node:child_process");
const path = require("node:path");
/** The working folder of the server, which contains a model. */
const FOLDER = path.join(__dirname, "../view/inputs");
let passed = 0;

/** Starts `skript playground`; returns its process, and the address that it prints. */
function serve(skript, ...flags) {
  const server = spawn(skript, ["playground", ...flags], { cwd: FOLDER, stdio: ["ignore", "inherit", "pipe"] });
  return new Promise((resolve, reject) => {
    let text = "";
    server.stderr.on("data", (data) => {
      text += data;
      const found = /http:\S+/.exec(text);
      if (found) resolve({ server, url: new URL(found[0]) });
    });
    server.on("exit", (code) => reject(new Error(`the playground ended with ${code}: ${text}`)));
  });
}

/** Ends a server as Ctrl-C does; returns its exit status. */
function end(server) {
  return new Promise((resolve) => {
    server.removeAllListeners("exit");
    server.on("exit", (code, signal) => resolve(signal ?? code));
    server.kill("SIGINT");
  });
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

module.exports = { serve, end, test, passed: () => passed };
