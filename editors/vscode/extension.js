// SPDX-License-Identifier: Apache-2.0
// Starts skript-language-server for SkriptND files.
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = workspace.getConfiguration("skriptnd").get("server");
  const documentSelector = ["file", "untitled"].map((scheme) => ({ scheme, language: "sknd" }));
  client = new LanguageClient("skriptnd", "SkriptND", { command }, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(`"${command}" did not start: ${error.message}. The setting "skriptnd.server" is the path of the server.`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

exports.activate = (context) => {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(commands.registerCommand("skriptnd.restart", restart));
  return start();
};

exports.deactivate = stop;
