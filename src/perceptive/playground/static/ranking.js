// The fourth tab: a small list to rank.

import { RandomNumbers, Ranker, dot, norm } from "./learners.js";
import { Plane, button, counted, el, framed, number, slider } from "./dom.js";

const rankingFields = {
  seed: { type: "number", min: 0, max: 4294967295, whole: true, initial: 5 },
  n: { type: "number", min: 2, max: 8, whole: true, initial: 5 },
  angle: { type: "number", min: 0, max: 359, whole: true, initial: 35 },
  answers: { type: "points", width: 1, most: 300, initial: [] }, // the best of each list
};
const LETTERS = "ABCDEFGH";

function listOf(state, round) {
  const random = new RandomNumbers(state.seed * 1000 + round);
  return Array.from({ length: state.n }, () => { const [a, b] = random.direction(2), r = Math.sqrt(random.uniform()); return [a * r, b * r]; });
}

function openRanking(host, state, changed, say) {
  let ranker, xs, last;
  const u = () => { const t = state.angle * Math.PI / 180; return [Math.cos(t), Math.sin(t)]; };
  const plane = new Plane({
    extent: 1.25,
    label: "The candidates of the list as points. Click the one that is best.",
    act: (at) => { let found = 0; xs.forEach((x, j) => { if (Math.hypot(x[0] - at[0], x[1] - at[1]) < Math.hypot(xs[found][0] - at[0], xs[found][1] - at[1])) found = j; }); answer(found); },
    key: (event) => { const j = LETTERS.indexOf(event.key.toUpperCase()); if (event.key.length === 1 && j >= 0 && j < xs.length) { answer(j); return true; } return false; },
  });
  const score = el("p", { class: "score" }), table = el("div"), what = el("p");
  host.append(
    el("div", { class: "stage" }, plane.canvas, el("p", { class: "hint" }, "B ranks by the shadow on v. Click the candidate that you find best (or press its letter). Where B had another on top, v learns x_best − x_rival.")),
    el("div", { class: "side" },
      el("div", { class: "card" }, score, what),
      el("div", { class: "card" }, table),
      el("div", { class: "card controls" },
        slider("candidates", { min: 2, max: 8, step: 1, value: state.n }, (a) => { state.n = a; state.answers = []; touch(); }),
        slider("direction of u", { min: 0, max: 359, step: 1, value: state.angle }, (a) => { state.angle = a; touch(); }, (a) => `${a}°`),
        el("div", { class: "buttons" }, button("Let u answer", () => answer(best(u()))), button("u answers 20 lists", () => { for (let i = 0; i < 20; i++) answer(best(u()), i < 19); }), button("Undo", () => { state.answers.pop(); touch(); }), button("Start over", () => { state.answers = []; touch(); })))));

  const best = (w) => { const scores = xs.map((x) => dot(w, x)); return scores.indexOf(Math.max(...scores)); };
  function answer(j, quiet = false) {
    if (state.answers.length >= rankingFields.answers.most) { say("300 lists are enough; start over."); return; }
    state.answers.push([j]);
    if (quiet) { replay(); return; }
    touch();
    say(last.mistake ? `B had ${LETTERS[last.rival]} on top: v learned x${LETTERS[j]} − x${LETTERS[last.rival]}.` : `B agreed: ${LETTERS[j]}.`);
  }
  function replay() {
    ranker = new Ranker(2); last = null;
    state.answers.forEach(([j], round) => {
      const list = listOf(state, round), to = Math.max(0, Math.min(list.length - 1, Math.round(j))), before = ranker.v;
      last = { ...ranker.learn(list, to), list, to, before };
    });
    xs = listOf(state, state.answers.length);
  }
  const touch = () => { replay(); changed(); write(); draw(); };
  function write() {
    const scores = ranker.scores(xs), order = xs.map((_, j) => j).sort((a, b) => scores[b] - scores[a] || a - b);
    score.replaceChildren(el("strong", {}, String(ranker.k)), ` mistake${ranker.k === 1 ? "" : "s"} on ${counted(state.answers.length, "list")}.`);
    what.textContent = last ? (last.mistake ? `The last list: you said ${LETTERS[last.to]}, B said ${LETTERS[last.rival]}. The thin arrow is what v learned.` : `The last list: you and B said ${LETTERS[last.to]}.`) : "v₀ = 0: every candidate has the score 0, and B picks the first.";
    table.replaceChildren(el("table", {}, el("caption", {}, "B's ranking of this list"), el("thead", {}, el("tr", {}, ...["place", "candidate", "v·x", "u·x", ""].map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, ...order.map((j, place) => el("tr", {}, el("td", {}, String(place + 1)), el("th", { scope: "row" }, LETTERS[j]), el("td", {}, number(scores[j])), el("td", {}, number(dot(u(), xs[j]))), el("td", {}, button("is best", () => answer(j), { "aria-label": `${LETTERS[j]} is best` })))))));
  }
  const draw = framed(() => {
    const c = plane.begin(), p = plane.colours, v = ranker.v, length = norm(v), w = length ? v.map((a) => a / length) : null, t = u();
    c.strokeStyle = p.line; c.lineWidth = plane.pixel; c.beginPath(); c.arc(...plane.px([0, 0]), plane.scale, 0, 2 * Math.PI); c.stroke();
    plane.arrow([0, 0], t.map((a) => 1.1 * a), p.u, 2); plane.text("u", t.map((a) => 1.18 * a), p.u);
    if (w) {
      plane.line(w.map((a) => -2 * a), w.map((a) => 2 * a), p.v, 1, [4, 4]);
      for (const x of xs) { const s = dot(w, x); plane.line(x, [w[0] * s, w[1] * s], p.faint, 1, [2, 3]); }
      plane.arrow([0, 0], w.map((a) => a * Math.min(1, length)), p.v, 4); plane.text("v", w.map((a) => a * Math.min(1, length)), p.v, 14, -12);
    }
    if (last?.mistake) plane.arrow([0, 0], last.list[last.to].map((a, j) => (a - last.list[last.rival][j]) / 2), p.good, 1.5);
    const mine = best(v), right = best(t);
    xs.forEach((x, j) => {
      const [px, py] = plane.px(x);
      c.fillStyle = p.ground; c.strokeStyle = j === mine ? p.v : j === right ? p.u : p.ink; c.lineWidth = (j === mine || j === right ? 3 : 1) * plane.pixel;
      c.beginPath(); c.arc(px, py, 11 * plane.pixel, 0, 2 * Math.PI); c.fill(); c.stroke();
      plane.text(LETTERS[j], x, p.ink);
    });
    plane.cross();
  });
  plane.redraw = draw;
  replay(); write(); draw();
  return { draw, close() {} };
}

export const rankingTab = { id: "ranking", title: "Ranking", fields: rankingFields, open: openRanking };
