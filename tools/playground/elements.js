// SPDX-License-Identifier: Apache-2.0
// The content of the page, errors of requests, and elements. `server.js` or `static.js` answers the requests.
"use strict";
const content = JSON.parse(document.getElementById("content").textContent);

/** A request that a newer one made obsolete. */
class Obsolete extends Error {}

/** Adds an element. All strings become text nodes, so that strings of models are never parsed as markup. */
function add(parent, name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind !== undefined) element.className = kind;
  parent.append(element);
  return element;
}
