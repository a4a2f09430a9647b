// SPDX-License-Identifier: Apache-2.0
// Starts skript-language-server for SkriptND files.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("skriptnd").get("server");
  const options = { documentSelector: [{ scheme: "file", language: "sknd" }] };
  client = new LanguageClient("skriptnd", "SkriptND", { command }, options);
  return client.start();
};

exports.deactivate = () => client && client.stop();
