// SPDX-License-Identifier: Apache-2.0
// Executes the module in a worker. The loader of the npm package precedes this text.
let skript;
onmessage = ({ data: { module, id, body } }) => {
  if (module) {
    skript = new Skript(module);
    return;
  }
  try {
    const begin = performance.now();
    const answer = skript.answer(body);
    if (body.kind === "values" && answer.result) answer.result.seconds = (performance.now() - begin) / 1000;
    postMessage({ id, answer });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
