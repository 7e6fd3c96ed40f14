// The first tab: the perceptron game, as A or as B.

import { ADVERSARIES, PerceptronGame, RandomNumbers, dot, norm } from "./learners.js";
import { Plane, button, calm, chart, choice, counted, el, framed, number, slider } from "./dom.js";

const FOES = { random: "random", greedy: "greedy", planar: "planar" };
const CODES = Object.keys(FOES);
const RADIUS = 1;

const gameFields = {
  role: { type: "choice", of: ["a", "b"], initial: "a" },
  angle: { type: "number", min: 0, max: 359, whole: true, initial: 60 },
  gamma: { type: "number", min: 0.05, max: 0.9, initial: 0.2 },
  foe: { type: "choice", of: CODES, initial: "greedy" },
  seed: { type: "number", min: 0, max: 4294967295, whole: true, initial: 7 },
  speed: { type: "number", min: 1, max: 20, whole: true, initial: 4 },
  moves: { type: "points", width: 3, most: 500, initial: [] }, // x, y, label; or the number of an adversary, 0, 0
  guesses: { type: "points", width: 2, most: 500, initial: [] }, // B's v in each round
  mine: { type: "points", width: 2, most: 1, initial: [[0, 0.6]] },
  reveal: { type: "choice", of: ["no", "yes"], initial: "no" }, // whether B may see u
};

// A chooses u; from B it is hidden, so it comes from the seed.
function target(state) {
  if (state.role === "b") return new RandomNumbers(state.seed).direction(2);
  const radians = state.angle * Math.PI / 180;
  return [Math.cos(radians), Math.sin(radians)];
}

// The game as it stands: all moves played again.
function replay(state) {
  const game = new PerceptronGame(target(state), state.gamma, RADIUS), refused = [];
  if (state.role === "a") {
    const players = CODES.map((name, i) => ADVERSARIES[name](state.seed + i));
    for (const [x, y, label] of state.moves) {
      const move = label === 0 ? players[x]?.move(game) : [[x, y], Math.sign(label)];
      if (!move || game.refusal(...move)) refused.push([x, y, label]); else game.round(...move);
    }
    return { game, refused };
  }
  // B: A looks at your v, and shows what it gets wrong, if there is such a thing; the perceptron sees the same examples.
  const foe = ADVERSARIES[state.foe](state.seed), kind = ADVERSARIES.random(state.seed + 99), yours = [];
  let k = 0;
  for (const v of state.guesses) {
    const seen = { u: game.u, margin: game.margin, radius: game.radius, v, k: norm(v) > 0 ? 1 : 0, rounds: norm(v) > 0 ? [0] : [] };
    const [x, y] = foe.move(seen) || kind.move(game);
    const mistake = y * dot(v, x) <= 0;
    k += mistake;
    yours.push({ x, y, mistake, v, k });
    game.round(x, y);
  }
  return { game, refused, yours, k };
}

function record(u, gamma, name, seed) {
  const game = new PerceptronGame(u, gamma, RADIUS), player = ADVERSARIES[name](seed);
  for (let i = 0; i < 500; i++) {
    const move = player.move(game);
    if (!move) break;
    game.round(...move);
  }
  return game.k;
}

function openGame(host, state, changed, say) {
  let current = replay(state), timer = null, shown = [0, 0];
  if (current.refused.length) { say(`${current.refused.length} moves of this link are against the rules and were left out.`); state.moves = state.moves.filter((move) => !current.refused.includes(move)); }

  const plane = new Plane({
    extent: 1.3 * RADIUS,
    label: "The plane of the game. Arrow keys move a cursor, Enter places an example there; as B they move the tip of your vector, and Enter asks for the next example.",
    act: (at) => { if (state.role === "a") place(at); else { state.mine = [at]; touch(); } },
    drag: {
      begin: (at) => {
        if (state.role === "b") return near(at, state.mine[0], 0.15) || norm(at) > 0.05 ? "v" : null;
        return near(at, game().u.map((a) => a * 1.15), 0.12) ? "u" : null;
      },
      move: (what, at) => {
        if (what === "v") state.mine = [at.map((a) => Math.round(a * 1000) / 1000)];
        else { state.angle = (Math.round(Math.atan2(at[1], at[0]) * 180 / Math.PI) + 360) % 360; state.moves = []; angle.set(state.angle); }
        touch();
      },
    },
    key: (event) => {
      if (state.role !== "b") return false;
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (steps) { const size = event.shiftKey ? 0.1 : 0.025; state.mine = [state.mine[0].map((a, j) => Math.max(-1.25, Math.min(1.25, a + steps[j] * size)))]; touch(); return true; }
      if (event.key === "Enter" || event.key === " ") { step(); return true; }
      return false;
    },
  });
  const path = new Plane({ extent: 2, small: true, label: "The guesses v₀, v₁, … in their true length, and their shadow on u." });
  const game = () => current.game;
  const near = (a, b, r) => Math.hypot(a[0] - b[0], a[1] - b[1]) < r;

  let proof, pictures;
  const score = el("p", { class: "score" }), meter = el("meter", { min: 0, "aria-label": "mistakes of B, of the most that the theorem allows" });
  const lemmas = el("div", { class: "lemmas" }), curves = el("div"), records = el("div", { class: "records" }), hint = el("p", { class: "hint" });
  const play = button("Play", () => (timer ? pause() : run()), { "aria-pressed": "false" });
  const reveal = button("Show u", () => { state.reveal = state.reveal === "yes" ? "no" : "yes"; touch(); });
  const undo = button("Undo", () => { pause(); (state.role === "a" ? state.moves : state.guesses).pop(); touch(); });
  const angle = slider("direction of u", { min: 0, max: 359, step: 1, value: state.angle }, (a) => { state.angle = a; restart(); }, (a) => `${a}°`);
  const gamma = slider("margin γ", { min: 0.05, max: 0.9, step: 0.01, value: state.gamma }, (a) => { state.gamma = a; restart(); }, (a) => a.toFixed(2));
  const roles = el("div", { class: "switch", role: "group", "aria-label": "who you are" },
    ...[["a", "Be A: choose examples"], ["b", "Be B: choose v"]].map(([key, text]) => button(text, () => { pause(); state.role = key; touch(); }, { "data-role": key })));

  host.append(
    el("div", { class: "stage" }, plane.canvas, hint),
    el("div", { class: "side" },
      roles,
      el("div", { class: "card" }, score, meter, records),
      el("div", { class: "card controls" },
        choice("adversary", FOES, state.foe, (a) => { state.foe = a; if (state.role === "b") state.guesses = []; touch(); }), gamma, angle,
        slider("speed", { min: 1, max: 20, step: 1, value: state.speed }, (a) => { state.speed = a; if (timer) run(); changed(); }, (a) => `${a}/s`),
        el("div", { class: "buttons" }, button("Step", () => { pause(); step(); }), undo, play, reveal, button("Start over", () => restart()), button("New seed", () => { state.seed = (state.seed + 1) % 4294967296; restart(); say(`Seed ${state.seed}.`); }))),
      proof = el("div", { class: "card" }, lemmas),
      pictures = el("div", { class: "card pair" }, el("figure", {}, curves, el("figcaption", {}, legend())), el("figure", {}, path.canvas, el("figcaption", {}, "v₀ … v_k in true length; its shadow on u is v·u"))),
    ));

  function legend() {
    return el("span", { class: "legend" }, el("i", { class: "c-least" }), "kγ ≤ ", el("i", { class: "c-along" }), "v·u ≤ ", el("i", { class: "c-length" }), "‖v‖ ≤ ", el("i", { class: "c-most" }), "√k·R");
  }
  function restart() { pause(); state.moves = []; state.guesses = []; state.reveal = "no"; touch(); }
  function place(at) {
    const x = at.map((a) => Math.round(a * 10000) / 10000), y = dot(game().u, x) >= 0 ? 1 : -1, why = game().refusal(x, y);
    if (why) { say(`Not there: ${why}.`); return; }
    if (state.moves.length >= gameFields.moves.most) { say("500 moves are enough; start over."); return; }
    state.moves.push([...x, y]);
    touch();
    const last = game().rounds.at(-1);
    say(last.mistake ? `A mistake: B said ${sign(last.score)}. Now k = ${last.k}.` : "B got it right. Look for the other side of the dashed line.");
  }
  function sign(a) { return a > 0 ? "+" : a < 0 ? "−" : "nothing (a score of 0)"; }
  function step() {
    if (state.role === "b") {
      if (state.guesses.length >= 500) return;
      state.guesses.push(state.mine[0].map((a) => Math.round(a * 10000) / 10000));
      touch();
      const last = current.yours.at(-1);
      say(last.mistake ? `You erred: drag v so that the ringed example is right. ${counted(last.k, "mistake")} so far.` : "Right.");
      return;
    }
    if (state.moves.length >= 500) { pause(); return; }
    const before = game().rounds.length;
    state.moves.push([CODES.indexOf(state.foe), 0, 0]);
    current = replay(state);
    if (game().rounds.length === before) { state.moves.pop(); pause(); say(`The ${FOES[state.foe]} adversary gives up: every legal example is right by now.`); }
    touch();
  }
  function run() {
    clearInterval(timer);
    timer = setInterval(step, 1000 / state.speed);
    play.textContent = "Pause"; play.setAttribute("aria-pressed", "true");
  }
  function pause() { clearInterval(timer); timer = null; play.textContent = "Play"; play.setAttribute("aria-pressed", "false"); }

  const touch = () => { current = replay(state); changed(); write(); draw(); };
  const draw = framed(paint);

  function write() {
    const g = game(), isA = state.role === "a", k = isA ? g.k : current.k, last = g.rounds.at(-1);
    for (const one of roles.children) one.setAttribute("aria-pressed", String(one.dataset.role === state.role));
    meter.max = g.bound; meter.value = Math.min(k, g.bound);
    score.replaceChildren(el("strong", {}, String(k)), isA ? ` mistake${k === 1 ? "" : "s"} of B. The theorem allows (R/γ)² = ${number(g.bound, 1)}.` : ` mistake${k === 1 ? "" : "s"} of yours in ${counted(state.guesses.length, "round")}; the perceptron made ${g.k} on the same examples, and never makes more than ${number(g.bound, 1)}.`);
    const hidden = !isA && state.reveal === "no";
    proof.hidden = pictures.hidden = hidden; angle.hidden = !isA; reveal.hidden = isA;
    reveal.setAttribute("aria-pressed", String(state.reveal === "yes"));
    plane.canvas.classList.toggle("mine", !isA);
    hint.textContent = isA ? "Click where B is wrong, in the tinted parts. Grey places break the rules: too close to the boundary of u, or outside the circle. Drag u to turn it."
      : "u is hidden. Drag v, then ask for the next example (Step, or Enter). A sees your v, and looks for an example that it gets wrong. Can you learn faster than the perceptron?";
    const rows = isA ? CODES.map((name, i) => [FOES[name], record(g.u, g.margin, name, state.seed + i)]) : [];
    records.replaceChildren(...(isA ? [el("table", {}, el("caption", {}, "Can you beat them?"), el("tbody", {}, ...[["this game", k], ...rows].map(([name, n]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, String(n))))))] : []));
    const v = last ? last.v : [0, 0], along = dot(v, g.u), length2 = dot(v, v), tick = (right) => el("b", { class: right ? "ok" : "no" }, right ? " ✓" : " ✗");
    lemmas.replaceChildren(
      el("p", {}, el("strong", {}, "Lemma 1"), ` v·u ≥ kγ: `, el("code", {}, `${number(along)} ≥ ${g.k} × ${number(g.margin)} = ${number(g.k * g.margin)}`), tick(along >= g.k * g.margin - 1e-9)),
      el("p", {}, el("strong", {}, "Lemma 2"), ` ‖v‖² ≤ kR²: `, el("code", {}, `${number(length2)} ≤ ${g.k} × ${number(RADIUS ** 2, 0)} = ${number(g.k * RADIUS ** 2)}`), tick(length2 <= g.k + 1e-9)),
      el("p", {}, "So k²γ² ≤ ‖v‖² ≤ kR², and ", el("code", {}, `k = ${g.k} ≤ (R/γ)² = ${number(g.bound, 1)}`), "."));
    const by = [{ along: 0, length: 0, least: 0, most: 0 }, ...g.rounds.filter((one) => one.mistake)];
    curves.replaceChildren(chart(["most", "length", "along", "least"].map((name) => ({ values: by.map((one) => one[name]), className: `c-${name}` })),
      { label: `The chain after ${g.k} mistakes: kγ ${number(g.k * g.margin)}, v·u ${number(along)}, length of v ${number(Math.sqrt(length2))}, √k·R ${number(Math.sqrt(g.k))}` }));
  }

  function paint() {
    const g = game(), c = plane.begin(), p = plane.colours, [ux, uy] = g.u, isA = state.role === "a", E = plane.extent;
    c.fillStyle = p.grey; c.fillRect(0, 0, plane.canvas.width, plane.canvas.height);
    const [ox, oy] = plane.px([0, 0]), r = RADIUS * plane.scale, theta = Math.atan2(uy, ux), open = Math.acos(Math.min(1, g.margin / RADIUS));
    const seen = isA || state.reveal === "yes";
    if (!seen) { c.fillStyle = p.ground; c.beginPath(); c.arc(ox, oy, r, 0, 2 * Math.PI); c.fill(); }
    for (const y of seen ? [1, -1] : []) {   // the two caps where examples may lie
      const middle = -(y > 0 ? theta : theta + Math.PI);
      c.fillStyle = y > 0 ? p.plusSoft : p.minusSoft;
      c.beginPath(); c.arc(ox, oy, r, middle - open, middle + open); c.closePath(); c.fill();
    }
    c.strokeStyle = p.line; c.lineWidth = 1.5 * plane.pixel; c.beginPath(); c.arc(ox, oy, r, 0, 2 * Math.PI); c.stroke();
    if (seen) for (const [shift, width, dash] of [[0, 1.5, []], [g.margin, 1, [4, 4]], [-g.margin, 1, [4, 4]]]) plane.boundary([ux, uy, shift], p.u, width, dash);
    const v = isA ? g.v : state.mine[0], goal = norm(v) > 1.2 ? v.map((a) => 1.2 * a / norm(v)) : v;
    const apart = Math.hypot(goal[0] - shown[0], goal[1] - shown[1]);
    shown = !isA || calm() || apart < 0.01 ? goal : shown.map((a, j) => a + 0.35 * (goal[j] - a));
    if (norm(v)) plane.boundary([...v, 0], p.v, 2, [8, 5]);
    const rows = (isA ? g.rounds : current.yours).map((one) => [...one.x, one.y]), rounds = isA ? g.rounds : current.yours;
    plane.points(rows, { wrong: rounds.map((one, i) => (one.mistake ? i : -1)).filter((i) => i >= 0 && (isA || i === rounds.length - 1)) });
    if (seen) { plane.arrow([0, 0], g.u.map((a) => a * 1.15), p.u, 2.5); plane.text("u", g.u.map((a) => a * 1.24), p.u); }
    plane.arrow([0, 0], shown, p.v, 4);
    const aside = dot(shown, [-uy, ux]) >= 0 ? 1 : -1;   // the side of u that v is on: there its name has room
    if (!isA) plane.text("your v", shown.map((a) => a * (1 + 0.12 / Math.max(0.2, norm(shown)))), p.v);
    else if (norm(shown) > 0.1) plane.text(`v${norm(v) > 1.2 ? " (shortened)" : ""}`, shown.map((a) => 0.85 * a), p.v, aside * -uy * (norm(v) > 1.2 ? 52 : 26), aside * -ux * 26);
    if (seen) plane.text("γ", [ux * g.margin / 2 - uy * E * 0.9, uy * g.margin / 2 + ux * E * 0.9], p.ink);
    const spoke = seen ? theta - 2.2 : -2.2,   // where u is hidden it must not tell
       tip = [Math.cos(spoke), Math.sin(spoke)].map((a) => a * RADIUS);
    plane.line([0, 0], tip, p.line, 1.5); plane.text("R", tip.map((a) => a / 2), p.ink, 12, 0);
    plane.cross();
    if (seen) paintPath(g);
    if (isA && shown !== goal) draw();
  }

  function paintPath(g) {
    const all = [[0, 0], ...g.rounds.filter((one) => one.mistake).map((one) => one.v)];
    path.extent = Math.max(1.2, ...all.map((v) => 1.15 * Math.max(Math.abs(v[0]), Math.abs(v[1]))));
    path.begin();
    const p = path.colours;
    path.line(g.u.map((a) => -a * 9 * path.extent), g.u.map((a) => a * 9 * path.extent), p.u, 1);
    for (let i = 1; i < all.length; i++) path.line(all[i - 1], all[i], p.faint, 1.5);
    const v = all.at(-1), shadow = g.u.map((a) => a * dot(v, g.u));
    path.line([0, 0], shadow, p.u, 5); path.line(v, shadow, p.faint, 1, [3, 3]);
    path.arrow([0, 0], v, p.v, 3);
  }

  plane.redraw = draw;
  write(); draw();
  return { draw, close: pause, field: plane };
}

export const gameTab = { id: "game", title: "The game", fields: gameFields, open: openGame };
