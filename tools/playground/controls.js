// SPDX-License-Identifier: Apache-2.0
// Tabs, buttons, examples, links, and the start of the page.
const tabs = [...document.querySelectorAll("[role=tab]")];
const example = document.getElementById("example");

let spoken;
/** Shows a message for some seconds; screen readers read it. */
function say(text) {
  document.getElementById("spoken").textContent = text;
  clearTimeout(spoken);
  if (text !== "") spoken = setTimeout(() => say(""), 5000);
}

function selectTab(name, focuses = false) {
  settings.tab = name;
  for (const tab of tabs) {
    const selected = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    if (selected) {
      if (focuses) tab.focus();
      panel.setAttribute("aria-labelledby", tab.id);
    }
  }
  panel.replaceChildren();
  panel.className = name;
  shown = undefined;
  showOptions();
  refresh();
}

for (const [at, tab] of tabs.entries()) {
  tab.onclick = () => selectTab(tab.id.slice("tab-".length));
  tab.onkeydown = (event) => {
    const step = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    selectTab(tabs[(step + tabs.length) % tabs.length].id.slice("tab-".length), true);
  };
}

// Links: the text and the settings as JSON, compressed and in base64url after `#`.

const PREFIX = "#text=";

async function through(stream, bytes) {
  const result = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await result.arrayBuffer());
}

async function encode(value) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Maximum number of characters of a text in a link; a short link may expand to any length. */
const MAX_TEXT = 1 << 20;

async function decode(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder();
  let json = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return JSON.parse(json + decoder.decode());
    json += decoder.decode(value, { stream: true });
    if (json.length > 2 * MAX_TEXT) throw new Error("the text is too long");
  }
}

async function copyLink() {
  const hash = PREFIX + await encode({ text: editor.state.doc.toString(), settings });
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    say(LINK_COPIED);
  } catch {
    say("The link is in the address bar.");
  }
}

/** Opens the text of a link. Settings that are not known are ignored. */
async function openLink() {
  if (!location.hash.startsWith(PREFIX)) return false;
  try {
    const saved = await decode(location.hash.slice(PREFIX.length));
    if (typeof saved.text !== "string") throw new Error("it has no text");
    for (const [name, value] of Object.entries(saved.settings ?? {})) {
      if (Object.hasOwn(settings, name) && typeof settings[name] === typeof value) settings[name] = value;
    }
    if (!Object.hasOwn(views, settings.tab)) settings.tab = "values";
    setText(saved.text);
    return true;
  } catch (error) {
    say(`The link cannot be read: ${error.message}`);
    return false;
  }
}

// The divider between text and views.

function resize(percent) {
  const bounded = Math.min(85, Math.max(15, percent));
  document.body.style.setProperty("--share", `${bounded}%`);
  divider.setAttribute("aria-valuenow", String(Math.round(bounded)));
}

const divider = document.getElementById("divider");
divider.onpointerdown = (event) => divider.setPointerCapture(event.pointerId);
divider.onpointermove = (event) => {
  if (!divider.hasPointerCapture(event.pointerId)) return;
  const { left, width, top, height } = document.querySelector("main").getBoundingClientRect();
  const isStacked = getComputedStyle(document.querySelector("main")).flexDirection === "column";
  resize(100 * (isStacked ? (event.clientY - top) / height : (event.clientX - left) / width));
};
divider.onkeydown = (event) => {
  const step = { ArrowLeft: -4, ArrowUp: -4, ArrowRight: 4, ArrowDown: 4 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  resize(Number(divider.getAttribute("aria-valuenow")) + step);
};

// The start.

content.examples.forEach(({ title }, at) => { add(example, "option", title).value = String(at); });
example.onchange = () => {
  const chosen = content.examples[Number(example.value)];
  if (example.value === "" || !chosen) return;
  Object.assign(settings, { graph: "", attributes: "", shapes: "" });
  history.replaceState(null, "", location.pathname + location.search);
  setText(chosen.text);
};
textListeners.push(() => {
  if (content.examples[Number(example.value)]?.text !== editor.state.doc.toString()) example.value = "";
  showOptions();
  refresh(400);
});
document.getElementById("format").onclick = () => { format(); editor.focus(); };
document.getElementById("link").onclick = copyLink;
document.getElementById("keys").onclick = () => document.getElementById("help").showModal();
document.getElementById("problems").onclick = () => { CodeMirror.openLintPanel(editor); };
window.addEventListener("hashchange", async () => { if (await openLink()) selectTab(settings.tab); });

(async () => {
  if (!(await openLink())) {
    setText(content.text ?? content.examples[0].text);
    if (content.text === null) example.value = "0";
  }
  selectTab(settings.tab);
  editor.focus();
})();
