// The page: tabs, the address, the theme.

import { gameTab } from "./game.js";
import { streamTab } from "./stream.js";
import { kernelTab } from "./kernels.js";
import { rankingTab } from "./ranking.js";
import { viterbiTab } from "./viterbi.js";
import { predictionTab } from "./prediction.js";
import { readState, writeState } from "./state.js";
import { el } from "./dom.js";

const TABS = [gameTab, streamTab, kernelTab, rankingTab, viterbiTab, predictionTab];
const list = document.getElementById("tabs"), panel = document.getElementById("panel"), notice = document.getElementById("notice");
let open = null, written = null, address = location.hash;   // what is to be in the address, and what was last seen there

const say = (words) => { notice.textContent = words; };

function show(id, hash, focus = false) {
  const tab = TABS.find((one) => one.id === id) || TABS[0], { state, refused } = readState(tab.fields, hash), unknown = id && tab.id !== id ? [`tab “${id.slice(0, 20)}”`] : [];
  open?.view.close();
  say("");
  for (const one of list.children) {
    const here = one.dataset.tab === tab.id;
    one.setAttribute("aria-selected", String(here));
    one.tabIndex = here ? 0 : -1;
    if (here && focus) one.focus();
    if (here) list.scrollLeft = Math.max(0, one.offsetLeft - list.offsetLeft - 60);
  }
  panel.setAttribute("aria-labelledby", `tab-${tab.id}`);
  const host = el("div", { class: "tab" });
  panel.replaceChildren(host);
  const changed = () => save(tab, state);
  let view;
  try {
    view = tab.open(host, state, changed, say);
  } catch (error) {   // whatever a link may hold: begin anew, and say so
    host.replaceChildren();
    Object.assign(state, readState(tab.fields, "").state);
    view = tab.open(host, state, changed, say);
    refused.push("all of it");
  }
  if (refused.length || unknown.length) say(`This link had values that cannot be (${[...unknown, ...refused].join(", ")}); the usual ones are used instead.`);
  open = { tab, view };
  save(tab, state);
}

function save(tab, state) {
  const rest = writeState(tab.fields, state);
  written = `#tab=${tab.id}${rest ? `&${rest}` : ""}`;
  clearTimeout(save.later);
  save.later = setTimeout(() => { if (location.hash === address) write(); }, 150);   // browsers allow few a second; a link that was followed meanwhile stays
}

function write() {
  history.replaceState(null, "", written);
  address = location.hash;
}

function fromAddress() {
  let hash = address = location.hash;
  try { decodeURIComponent(hash); } catch { hash = ""; say("This link cannot be read; the page begins anew."); }
  const id = new URLSearchParams(hash.slice(1)).get("tab");
  show(id || TABS[0].id, hash);
}

for (const tab of TABS) {
  list.append(el("button", { type: "button", role: "tab", id: `tab-${tab.id}`, "data-tab": tab.id, "aria-controls": "panel", onclick: () => show(tab.id, "") }, tab.title));
}
list.addEventListener("keydown", (event) => {
  const at = TABS.findIndex((tab) => tab.id === open.tab.id), to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  show(TABS[(to + TABS.length) % TABS.length].id, "", true);
});
document.getElementById("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  open.view.draw();
});
document.getElementById("share").addEventListener("click", async () => {
  write();
  try { await navigator.clipboard.writeText(location.href); say("The link to this position is copied."); } catch { say(`The link to this position: ${location.href}`); }
});
addEventListener("hashchange", () => { if (location.hash !== address) fromAddress(); });
addEventListener("resize", () => open.view.draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => open.view.draw());
fromAddress();
