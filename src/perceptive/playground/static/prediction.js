// The sixth tab: the prediction game over thresholds, against halving.

import { RandomNumbers, Thresholds, littlestone } from "./learners.js";
import { button, choice, counted, el, number, svg } from "./dom.js";

const predictionFields = {
  n: { type: "choice", of: ["3", "7", "15", "31"], initial: "7" },
  mode: { type: "choice", of: ["fair", "cruel"], initial: "fair" },
  seed: { type: "number", min: 0, max: 4294967295, whole: true, initial: 11 },
  said: { type: "points", width: 1, most: 200, initial: [] },
};

// The game as it stands: points, what you said, what was true; and the next point, or none.
export function playThresholds(n, mode, seed, said) {
  const random = new RandomNumbers(seed), secret = random.below(n + 1), space = new Thresholds(n), rounds = [];
  const next = () => {
    if (mode === "cruel") return space.left > 1 ? Math.floor((space.low + space.high - 1) / 2) : null;
    return random.below(n);
  };
  let you = 0, halving = 0, x = next();
  for (const one of said) {
    if (x === null) break;
    const mine = one > 0, theirs = space.halving(x);
    const truth = mode === "fair" ? x >= secret : space.possible(x, !mine) ? !mine : mine;
    you += mine !== truth; halving += theirs !== truth;
    space.learn(x, truth);
    rounds.push({ x, mine, theirs, truth, left: space.left });
    x = next();
  }
  return { rounds, you, halving, space, x, secret };
}

function openPrediction(host, state, changed, say) {
  const score = el("p", { class: "score" }), picture = el("div"), question = el("p", { class: "question" }), log = el("div", { class: "scroll" });
  const no = button("below: 0", () => answer(0), { class: "big minus" }), yes = button("at or above: 1", () => answer(1), { class: "big plus" });
  host.append(
    el("div", { class: "stage wide" }, picture, question, el("div", { class: "buttons" }, no, yes),
      el("p", { class: "hint" }, "Player A has a threshold t in mind: a point is 1 from t on, and 0 below. Guess each label. Halving guesses what most thresholds that are left would say: each of its mistakes rules out half of them."), log),
    el("div", { class: "side" },
      el("div", { class: "card" }, score),
      el("div", { class: "card controls" },
        choice("points", { 3: "3 points", 7: "7 points", 15: "15 points", 31: "31 points" }, state.n, (a) => { state.n = a; state.said = []; touch(); }),
        choice("player A", { fair: "fair: one threshold, any points", cruel: "cruel: says what you did not" }, state.mode, (a) => { state.mode = a; state.said = []; touch(); }),
        el("div", { class: "buttons" }, button("Undo", () => { state.said.pop(); touch(); }), button("New game", () => { state.seed = (state.seed + 1) % 4294967296; state.said = []; touch(); }))),
      el("div", { class: "card" }, el("h3", {}, "How many mistakes can be forced?"), el("p", {}, "Over n points there are n + 1 thresholds. One point can be labelled both ways, two cannot be labelled 1, 0: the VC dimension is 1. Yet whoever predicts can be made to err log₂(n + 1) times: that is the Littlestone dimension."))));
  host.addEventListener("keydown", (event) => { if (event.key === "0" || event.key === "1") answer(Number(event.key)); });

  function answer(label) {
    const before = current();
    if (before.x === null || state.said.length >= predictionFields.said.most) return;
    state.said.push([label]);
    touch();
    const done = current().rounds.at(-1);
    say(`Point ${done.x + 1} is ${done.truth ? 1 : 0}. You were ${done.mine === done.truth ? "right" : "wrong"}, halving was ${done.theirs === done.truth ? "right" : "wrong"}.`);
  }
  const current = () => playThresholds(Number(state.n), state.mode, state.seed, state.said.map(([a]) => a));
  const touch = () => { changed(); write(); };
  function write() {
    const { rounds, you, halving, space, x } = current(), n = Number(state.n), gap = 600 / (n + 1);
    score.replaceChildren(el("strong", {}, `${you} : ${halving}`), ` mistakes, you : halving, in ${counted(rounds.length, "round")}. Halving never makes more than log₂ ${n + 1} = ${number(Math.log2(n + 1), 0)}, and no one can promise less than ${littlestone(n + 1)}.`);
    question.textContent = x === null ? `One threshold is left: the game is over. ${you === littlestone(n + 1) ? "You made no more mistakes than anyone must." : "Try again: always ask what most of those left would say."}` : `Point ${x + 1}: is it below the threshold (0), or not (1)?`;
    no.disabled = yes.disabled = x === null;
    const node = svg("svg", { viewBox: "0 0 600 120", class: "axis-picture", role: "img", "aria-label": `${n} points in a row. Thresholds from ${space.low} to ${space.high} are left: ${space.left} of ${n + 1}.` });
    node.append(svg("rect", { x: (space.low + 0.5) * gap, width: Math.max(4, (space.high - space.low) * gap), y: 84, height: 8, rx: 4, class: "left-band" }), svg("text", { x: (space.low + space.high + 1) * gap / 2, y: 112, "text-anchor": "middle", class: "tick" }, space.left === 1 ? "the threshold" : `${space.left} thresholds left`));
    const known = new Map(rounds.map((round) => [round.x, round.truth]));
    for (let i = 0; i < n; i++) {
      const at = (i + 1) * gap, sure = i < space.low ? false : i >= space.high ? true : null, seen = known.has(i), r = Math.min(16, gap * 0.42);
      const kind = sure === null ? "unknown" : sure ? "one" : "zero";
      node.append(kind === "zero" ? svg("rect", { x: at - r, y: 44 - r, width: 2 * r, height: 2 * r, class: `mark zero${seen ? " seen" : ""}` }) : svg("circle", { cx: at, cy: 44, r, class: `mark ${kind}${seen ? " seen" : ""}` }));
      if (r > 8) node.append(svg("text", { x: at, y: 49, "text-anchor": "middle", class: sure === null ? "tick" : "on-mark" }, sure === null ? "?" : sure ? "1" : "0"));
      if (i === x) node.append(svg("path", { d: `M${at} 22 l-7 -12 h14 z`, class: "pointer" }));
    }
    picture.replaceChildren(node);
    log.replaceChildren(rounds.length ? el("table", {}, el("caption", {}, "The rounds"), el("thead", {}, el("tr", {}, ...["point", "you", "halving", "truth", "left"].map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, ...rounds.slice(-8).reverse().map((one) => el("tr", {}, el("td", {}, String(one.x + 1)), el("td", { class: one.mine === one.truth ? "" : "wrong" }, one.mine ? "1" : "0", one.mine === one.truth ? "" : " ✗"), el("td", { class: one.theirs === one.truth ? "" : "wrong" }, one.theirs ? "1" : "0", one.theirs === one.truth ? "" : " ✗"), el("td", {}, one.truth ? "1" : "0"), el("td", {}, String(one.left)))))) : "");
  }
  write();
  return { draw() {}, close() {} };
}

export const predictionTab = { id: "prediction", title: "Prediction game", fields: predictionFields, open: openPrediction };
