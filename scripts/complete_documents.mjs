// SPDX-License-Identifier: Apache-2.0
// Reads a list of texts as JSON, and writes a list that states which of them are documents with a graph and without errors.
import { readFileSync } from "node:fs";
import { load } from "../build/javascript/skriptnd.js";

const skript = await load();
const isComplete = (text) => /^graph\s/m.test(text) && skript.check(text).every(({ severity }) => severity !== "error");
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(isComplete)));
