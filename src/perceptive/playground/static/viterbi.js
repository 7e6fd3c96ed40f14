// The fifth tab: a sentence, its trellis, and what one update does to the path.

import { Tagger } from "./learners.js";
import { button, el, number, svg } from "./dom.js";

const LABELS = ["O", "B", "I"];
const viterbiFields = {
  text: { type: "text", max: 120, initial: "tell Ziv William Cohen is on the way" },
  taught: { type: "text", max: 8000, initial: "" }, // sentence=LABELS, with ~ between them
};

// The word, and whether it begins with a capital.
const wordFeatures = (words, t) => [`word ${words[t].toLowerCase()}`, /^\p{Lu}/u.test(words[t]) ? "capital" : "small"];

function readTaught(text) {
  const rounds = [];
  for (const part of text ? text.split("~") : []) {
    const cut = part.lastIndexOf("="), words = part.slice(0, Math.max(0, cut)).split(" ").filter(Boolean), labels = [...part.slice(cut + 1)].map((label) => LABELS.indexOf(label));
    if (cut < 0 || !words.length || words.length > 12 || words.length !== labels.length || labels.includes(-1)) return null;
    rounds.push({ words, labels });
  }
  return rounds;
}

function openViterbi(host, state, changed, say) {
  let tagger, words, last, rounds = readTaught(state.taught);
  if (!rounds) { rounds = []; state.taught = ""; say("What this link had taught could not be read; nothing is taught yet."); }
  const picture = el("div", { class: "scroll" }), score = el("p", { class: "score" }), changes = el("div"), weights = el("div");
  const input = el("input", { id: "sentence", type: "text", maxlength: 120, value: state.text });
  input.addEventListener("change", () => { state.text = input.value.trim() || viterbiFields.text.initial; input.value = state.text; last = null; touch(); });
  host.append(
    el("div", { class: "stage wide" }, el("div", { class: "control" }, el("label", { for: "sentence" }, "sentence"), input), picture,
      el("p", { class: "hint" }, "B, I, O: begin of a name, inside it, outside. The bold path is Viterbi's. Click a label that the word should have: the perceptron learns once from the corrected path.")),
    el("div", { class: "side" },
      el("div", { class: "card" }, score, el("div", { class: "buttons" }, button("Undo", () => { rounds.pop(); last = null; touch(); }), button("Forget all", () => { rounds = []; last = null; touch(); }))),
      el("div", { class: "card" }, changes), el("div", { class: "card" }, weights)));

  function replay() {
    tagger = new Tagger(LABELS, wordFeatures);
    for (const round of rounds) { const done = tagger.learn(round.words, round.labels); if (round === rounds.at(-1) && last !== null) last = done; }
    words = state.text.split(/\s+/).filter(Boolean).slice(0, 12);
  }
  // What was last said of this very sentence: later corrections add to it.
  function wanted() {
    const before = rounds.at(-1);
    return before && before.words.join(" ") === words.join(" ") ? before.labels : null;
  }
  function teach(t, y) {
    const { path } = tagger.viterbi(words), labels = (wanted() || path).slice();
    labels[t] = y;
    if (labels.every((label, i) => label === path[i])) { say("The path is that already."); return; }
    if (state.taught.length > 7000) { say("That is enough teaching; forget all first."); return; }
    rounds.push({ words: words.slice(), labels });
    last = {};
    touch();
    const now = tagger.viterbi(words).path;
    say(now.every((a, i) => a === labels[i]) ? "One update, and the path is right." : "One update changed the path, but not yet to yours (dashed rings). Click one of its labels again.");
    picture.querySelector(`[data-node="${t}-${y}"]`)?.focus();
  }
  function touch() {
    state.taught = rounds.map((round) => `${round.words.join(" ")}=${round.labels.map((y) => LABELS[y]).join("")}`).join("~");
    replay(); changed(); write();
  }
  function write() {
    const { path, unary, edge, table, score: top } = tagger.viterbi(words), n = words.length, W = 86, H = 64, left = 40, topRow = 40, goal = wanted();
    const X = (t) => left + 40 + t * W, Y = (y) => topRow + 24 + y * H;
    const node = svg("svg", { viewBox: `0 0 ${left + n * W + 20} ${topRow + 3 * H}`, class: "trellis", role: "group", "aria-label": `Trellis of ${n} words. Viterbi's path: ${path.map((y, t) => `${words[t]} ${LABELS[y]}`).join(", ")}` });
    node.style.minWidth = `${(left + n * W + 20) * 0.8}px`;
    words.forEach((word, t) => node.append(svg("text", { x: X(t), y: 20, class: "word", "text-anchor": "middle" }, word.length > 11 ? `${word.slice(0, 10)}…` : word)));
    LABELS.forEach((label, y) => node.append(svg("text", { x: 16, y: Y(y) + 5, class: "word" }, label)));
    for (let t = 1; t < n; t++) for (let p = 0; p < 3; p++) for (let y = 0; y < 3; y++) {
      const on = path[t - 1] === p && path[t] === y;
      node.append(svg("line", { x1: X(t - 1), y1: Y(p), x2: X(t), y2: Y(y), class: on ? "edge on" : edge[p][y] > 0 ? "edge up" : edge[p][y] < 0 ? "edge down" : "edge" }));
    }
    for (let t = 0; t < n; t++) for (let y = 0; y < 3; y++) {
      const on = path[t] === y, act = () => teach(t, y);
      node.append(svg("g", { class: on ? "node on" : goal?.[t] === y ? "node wanted" : "node", role: "button", tabindex: 0, "data-node": `${t}-${y}`, "aria-pressed": String(on), "aria-label": `${words[t]}: ${LABELS[y]}, own score ${number(unary[t][y], 0)}, best path to here ${number(table[t][y], 0)}`, onclick: act, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } } },
        svg("circle", { cx: X(t), cy: Y(y), r: 17 }), svg("text", { x: X(t), y: Y(y) + 5, "text-anchor": "middle" }, number(table[t][y], 0))));
    }
    picture.replaceChildren(node);
    score.replaceChildren(el("strong", {}, String(tagger.k)), ` update${tagger.k === 1 ? "" : "s"}. Viterbi's path has the score ${number(top, 0)}: `, el("code", {}, path.map((y) => LABELS[y]).join(" ")), `, the best of 3^${n} = ${(3 ** n).toLocaleString("en")}.`);
    changes.replaceChildren(el("h3", {}, "The last update"), last?.delta?.size ? list(last.delta) : el("p", {}, "Φ(x, y) − Φ(x, ŷ): what the right path has more of than Viterbi's. Nothing yet."));
    const heavy = [...tagger.v].filter(([, w]) => w).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]) || (a[0] < b[0] ? -1 : 1)).slice(0, 12);
    weights.replaceChildren(el("h3", {}, "The heaviest weights"), heavy.length ? list(new Map(heavy)) : el("p", {}, "v₀ = 0."));
  }
  const list = (values) => el("ul", { class: "weights" }, ...[...values].map(([name, w]) => el("li", { class: w > 0 ? "up" : "down" }, el("code", {}, `${w > 0 ? "+" : "−"}${Math.abs(w)}`), ` ${name.startsWith("@") ? name.slice(1).replace("|", " → ") : name.replace("|", " as ")}`)));
  replay(); write();
  return { draw() {}, close() {} };
}

export const viterbiTab = { id: "viterbi", title: "Viterbi", fields: viterbiFields, open: openViterbi };
