// SPDX-License-Identifier: Apache-2.0
// Runs WebAssembly modules that are linked with `driver.c`: node drive.mjs LIST.json, a list of {module, input, output}.
// Prints one line for each: `ok`, or the error.
import { readFileSync, writeFileSync } from "node:fs";

for (const { module, input, output } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  try {
    const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
    const { memory, skript_stream_address, skript_drive } = instance.exports;
    const address = skript_stream_address() >>> 0;
    new Uint8Array(memory.buffer).set(readFileSync(input), address);
    const bytes = skript_drive() >>> 0;
    writeFileSync(output, new Uint8Array(memory.buffer, address, bytes));
    console.log("ok");
  } catch (error) {
    console.log(String(error).split("\n")[0]);
  }
}
