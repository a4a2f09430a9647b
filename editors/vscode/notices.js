// SPDX-License-Identifier: Apache-2.0
// notices.js METAFILE OUTPUT: writes the licenses of the packages that esbuild bundled.
const fs = require("node:fs");
const path = require("node:path");

const [metafile, output] = process.argv.slice(2);
const inputs = Object.keys(JSON.parse(fs.readFileSync(metafile, "utf8")).inputs);
const folders = new Set(inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean));
const notices = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${folder} has no license`);
  return `${name} ${version} (${license})\n\n${fs.readFileSync(path.join(folder, file), "utf8").trim()}\n`;
});
fs.writeFileSync(output, notices.join(`\n${"-".repeat(80)}\n\n`));
