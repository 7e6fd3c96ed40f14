// The second tab: what to predict with after the stream. Last, best, averaged and voted, from one run.

import { RandomNumbers, averaged, best, certificate, dot, vote, voters } from "./learners.js";
import { Plane, Task, button, chart, el, framed, number, slider } from "./dom.js";

const streamFields = {
  seed: { type: "number", min: 0, max: 4294967295, whole: true, initial: 3 },
  n: { type: "number", min: 4, max: 2000, whole: true, initial: 60 },
  noise: { type: "number", min: 0, max: 0.5, initial: 0.1 },
  epochs: { type: "number", min: 1, max: 10, whole: true, initial: 1 },
  moved: { type: "points", width: 3, most: 100, initial: [] }, // number of the point, x, y
};

// A line through the square, points on both sides of it, some of them with the other label.
export function noisyPoints(seed, n, noise) {
  const random = new RandomNumbers(seed), [a, b] = random.direction(2), c = random.uniform(-0.2, 0.2), rows = [];
  while (rows.length < n) {
    const x = random.uniform(-1, 1), y = random.uniform(-1, 1), score = a * x + b * y + c, lie = random.uniform() < noise;
    if (Math.abs(score) > 0.08) rows.push([x, y, (score > 0) === lie ? -1 : 1]);
  }
  return rows;
}

function openStream(host, state, changed, say) {
  let rows = [], run = null, vectors = {}, chosen = -1, grid = null;
  const NAMES = { last: "last: v_K, never tested", best: "best: the longest survivor", averaged: "averaged: Σ m_k v_k / m", voted: "voted: each v_k has m_k votes" };
  const near = (at, within = 0.08) => {
    let found = -1, least = within;
    rows.forEach((row, i) => { const d = Math.hypot(row[0] - at[0], row[1] - at[1]); if (d < least) { least = d; found = i; } });
    return found;
  };
  const move = (i, at) => {
    rows[i] = [Math.max(-1.1, Math.min(1.1, at[0])), Math.max(-1.1, Math.min(1.1, at[1])), rows[i][2]];
    const kept = state.moved.filter((one) => one[0] !== i);
    if (kept.length < streamFields.moved.most) state.moved = [...kept, [i, rows[i][0], rows[i][1]]];
    learn(); changed(); draw();
  };
  const planes = Object.fromEntries(Object.keys(NAMES).map((name) => [name, new Plane({
    extent: 1.15,
    label: `${NAMES[name]}. Press N and P to choose a point, arrow keys to move it.`,
    drag: { begin: (at) => { chosen = near(at); return chosen >= 0 ? chosen : null; }, move },
    key: (event) => {
      if (event.key === "n" || event.key === "p") { chosen = (chosen + (event.key === "n" ? 1 : rows.length - 1) + rows.length) % rows.length; say(`Point ${chosen + 1} of ${rows.length}, ${rows[chosen][2] > 0 ? "positive" : "negative"}.`); draw(); return true; }
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!steps || chosen < 0) return false;
      move(chosen, [rows[chosen][0] + 0.04 * steps[0], rows[chosen][1] + 0.04 * steps[1]]);
      return true;
    },
  })]));
  const errors = {}, bars = el("div"), proof = el("p"), told = el("p", { class: "score" });
  host.append(
    el("div", { class: "stage four" }, ...Object.entries(NAMES).map(([name, text]) => el("figure", {}, el("figcaption", {}, text, " ", (errors[name] = el("b")), ), planes[name].canvas))),
    el("div", { class: "side" },
      el("div", { class: "card" }, told, el("p", { class: "hint" }, "Drag a point, and the stream is played again. On a noisy stream the last vector depends on the last mistake; the others do not.")),
      el("div", { class: "card controls" },
        slider("points", { min: 4, max: 2000, step: 1, value: state.n }, (a) => { state.n = a; fresh(); }),
        slider("lies", { min: 0, max: 0.5, step: 0.01, value: state.noise }, (a) => { state.noise = a; fresh(); }, (a) => `${Math.round(a * 100)} %`),
        slider("epochs", { min: 1, max: 10, step: 1, value: state.epochs }, (a) => { state.epochs = a; learn(); changed(); draw(); }),
        el("div", { class: "buttons" }, button("New data", () => { state.seed = (state.seed + 1) % 4294967296; fresh(); }), button("Put points back", () => fresh()))),
      el("div", { class: "card" }, el("h3", {}, "How long each v_k survived"), bars),
      el("div", { class: "card" }, el("h3", {}, "The certificate"), proof)));

  function fresh() { state.moved = []; load(); changed(); draw(); }
  function load() {
    rows = noisyPoints(state.seed, state.n, state.noise);
    for (const [i, x, y] of state.moved) if (rows[i]) rows[i] = [x, y, rows[i][2]];
    chosen = -1;
    learn();
  }
  function learn() {
    const X = rows.map(([x, y]) => [x, y, 1]), y = rows.map((row) => row[2]);
    run = voters(X, y, state.epochs);
    vectors = { last: run.voters.at(-1).v, best: best(run), averaged: averaged(run) };
    voting.start(run);
  }
  // The votes on a grid of 48 × 48 places, and on the points: in slices, since there may be many voters.
  function* votes(asked) {
    const size = 48, signs = [];
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) { signs.push(vote(asked, [-1.15 + 2.3 * (i + 0.5) / size, -1.15 + 2.3 * (j + 0.5) / size, 1])); yield; }
    let count = 0;
    for (const [x, y, label] of rows) { if (vote(asked, [x, y, 1]) !== label) count += 1; yield; }
    grid = { size, signs, count };
  }
  const voting = new Task(votes, (finished) => { if (finished) draw(); });
  function wrong(v) {
    let count = 0;
    for (const [x, y, label] of rows) if (label * dot(v, [x, y, 1]) <= 0) count += 1;
    return count;
  }
  const sheet = new Plane({ extent: 1.15, label: "", small: true });
  const draw = framed(() => {
    let laid = false;
    for (const [name, plane] of Object.entries(planes)) {
      const c = plane.begin(), p = plane.colours;
      if (name === "voted") {
        const { size, signs } = grid || { size: 1, signs: [0] }, cell = plane.canvas.width / size;
        signs.forEach((s, at) => { c.fillStyle = s > 0 ? p.plusSoft : s < 0 ? p.minusSoft : p.grey; c.fillRect(Math.floor(at / size) * cell, plane.canvas.height - (at % size + 1) * cell, cell + 1, cell + 1); });
      } else {
        shade(plane, vectors[name]);
        plane.boundary(vectors[name], p.v, 2.5);
      }
      if (!laid) { sheet.clearLike(plane).points(rows, { size: rows.length > 300 ? 2 : 5, ring: chosen >= 0 ? [chosen] : null }); laid = true; }
      c.drawImage(sheet.canvas, 0, 0, plane.canvas.width, plane.canvas.height);
      errors[name].textContent = name !== "voted" ? `${wrong(vectors[name])} wrong` : grid ? `${grid.count} wrong` : "";
    }
    told.replaceChildren(el("strong", {}, String(run.mistakes)), ` mistakes on ${rows.length * state.epochs} rounds made ${run.voters.length} vectors.`);
    const m = run.voters.map((one) => one.m), shown = m.length > 80 ? m.slice(0, 80) : m;
    bars.replaceChildren(chart([], { bars: shown, height: 120, label: `Survivals: ${m.slice(0, 40).join(", ")}${m.length > 40 ? ", …" : ""}` }));
    const X = rows.map(([x, y]) => [x, y, 1]), y = rows.map((row) => row[2]), found = certificate(X, y, state.epochs, vectors.averaged);
    proof.replaceChildren("With u the averaged vector, ", el("code", {}, `k = ${run.mistakes} ≤ ((R + D)/γ)² = ((${number(found.R)} + ${number(found.D)})/${number(found.margin)})² = ${number(found.bound, 0)}`),
      ". D measures how far the examples fall short of the margin γ", state.epochs > 1 ? `, each counted ${state.epochs} times.` : ".",
      ` In the first pass k/m estimates the error of a v_k drawn at random${state.epochs === 1 ? `: ${number(100 * run.mistakes / rows.length, 0)} %.` : "."}`);
  });
  for (const plane of Object.values(planes)) plane.redraw = draw;
  load(); draw();
  return { draw, close: () => voting.stop() };
}

// Tints both sides of a line.
export function shade(plane, [a, b, c]) {
  const context = plane.context, E = plane.extent, corners = [[-E, -E], [E, -E], [E, E], [-E, E]];
  for (const sign of [1, -1]) {
    const shape = [], value = ([x, y]) => sign * (a * x + b * y + c);
    corners.forEach((corner, i) => {
      const next = corners[(i + 1) % 4], s = value(corner), t = value(next);
      if (s > 0) shape.push(corner);
      if ((s > 0) !== (t > 0)) shape.push(corner.map((q, j) => q + (next[j] - q) * s / (s - t)));
    });
    context.fillStyle = sign > 0 ? plane.colours.plusSoft : plane.colours.minusSoft;
    context.beginPath();
    for (const corner of shape) context.lineTo(...plane.px(corner));
    context.fill();
  }
}

export const streamTab = { id: "stream", title: "After the stream", fields: streamFields, open: openStream };
