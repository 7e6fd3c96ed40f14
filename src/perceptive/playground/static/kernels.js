// The third tab: paint points, build a kernel, and see the surface, the supports and the mistakes.

import { KernelPerceptron, RandomNumbers, kernelOf } from "./learners.js";
import { Plane, Task, button, choice, counted, el, framed, slider } from "./dom.js";

const KINDS = { linear: "linear", polynomial: "polynomial", gaussian: "Gaussian" };
const PRESETS = { xor: "XOR", circle: "circle", spiral: "spiral", none: "empty" };
const part = (name, kind) => ({
  [`kind${name}`]: { type: "choice", of: Object.keys(KINDS), initial: kind },
  [`degree${name}`]: { type: "number", min: 1, max: 6, whole: true, initial: 2 },
  [`c${name}`]: { type: "number", min: 0, max: 2, initial: 1 },
  [`sigma${name}`]: { type: "number", min: 0.05, max: 2, initial: 0.3 },
});
const kernelFields = {
  preset: { type: "choice", of: Object.keys(PRESETS), initial: "circle" },
  n: { type: "number", min: 4, max: 2000, whole: true, initial: 80 },
  seed: { type: "number", min: 0, max: 4294967295, whole: true, initial: 1 },
  ...part("1", "polynomial"), op: { type: "choice", of: ["none", "sum", "product"], initial: "none" }, ...part("2", "gaussian"),
  brush: { type: "choice", of: ["1", "-1"], initial: "1" },
  painted: { type: "points", width: 3, most: 400, initial: [] },
};
const SIZE = 56, MOST_EPOCHS = 30;

function presetPoints(name, n, seed) {
  const random = new RandomNumbers(seed), rows = [];
  for (let i = 0; name !== "none" && i < n; i++) {
    const y = i % 2 ? 1 : -1;
    if (name === "xor") { const a = random.sign(), b = a * y; rows.push([a * random.uniform(0.12, 0.9), -b * random.uniform(0.12, 0.9), y]); }
    else if (name === "circle") { const [a, b] = random.direction(2), r = y > 0 ? random.uniform(0.05, 0.42) : random.uniform(0.58, 0.95); rows.push([a * r, b * r, y]); }
    else { const t = Math.sqrt((i + 1) / (n + 1)), turn = 3 * Math.PI * t + (y > 0 ? 0 : Math.PI), r = 0.95 * t; rows.push([r * Math.cos(turn) + random.uniform(-0.02, 0.02), r * Math.sin(turn) + random.uniform(-0.02, 0.02), y]); }
  }
  return rows;
}

const specOf = (state, name) => ({ kind: state[`kind${name}`], degree: state[`degree${name}`], c: state[`c${name}`], sigma: state[`sigma${name}`] });
const powers = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶"];
function formula({ kind, degree, c, sigma }) {
  if (kind === "linear") return "x·z";
  if (kind === "gaussian") return `exp(−‖x − z‖²/2·${sigma}²)`;
  return `(x·z${c ? ` + ${c}` : ""})${degree === 1 ? "" : powers[degree]}`;
}

function openKernels(host, state, changed, say) {
  let rows = [], model = null, surface = null, told = { epochs: 0, mistakes: 0, done: false };
  const picture = document.createElement("canvas");
  picture.width = picture.height = SIZE;
  const plane = new Plane({
    extent: 1.1,
    label: "The plane of the kernel perceptron. Click to paint a point; with Shift one of the other class. Arrow keys move a cursor, Enter paints there.",
    act: (at, other) => paintPoint(at, other),
  });
  const paintPoint = (at, other) => {
    if (state.painted.length >= kernelFields.painted.most) { say("400 painted points are enough; clear them first."); return; }
    state.painted.push([...at.map((a) => Math.round(a * 10000) / 10000), Number(state.brush) * (other ? -1 : 1)]);
    learn();
  };
  const score = el("p", { class: "score" }), text = el("p", { class: "formula" });
  const sides = ["1", "2"].map((name) => {
    const set = (field) => (a) => { state[`${field}${name}`] = a; shape(); learn(); };
    const degree = slider("degree", { min: 1, max: 6, step: 1, value: state[`degree${name}`] }, set("degree")), c = slider("constant c", { min: 0, max: 2, step: 0.5, value: state[`c${name}`] }, set("c"));
    const sigma = slider("width σ", { min: 0.05, max: 2, step: 0.05, value: state[`sigma${name}`] }, set("sigma"), (a) => a.toFixed(2));
    return { node: el("fieldset", {}, el("legend", {}, `kernel ${name}`), choice("kind", KINDS, state[`kind${name}`], set("kind")), degree, c, sigma), degree, c, sigma };
  });
  host.append(
    el("div", { class: "stage" }, plane.canvas, el("p", { class: "hint" }, "Ringed points are supports: examples that it erred on. The model is nothing but their list, with a count for each.")),
    el("div", { class: "side" },
      el("div", { class: "card" }, score, text),
      el("div", { class: "card controls" },
        choice("points", PRESETS, state.preset, (a) => { state.preset = a; state.painted = []; learn(); }),
        slider("how many", { min: 4, max: 2000, step: 1, value: state.n }, (a) => { state.n = a; learn(); }),
        choice("brush", { 1: "● positive", "-1": "■ negative" }, state.brush, (a) => { state.brush = a; changed(); }),
        el("div", { class: "buttons" }, button("Undo", () => { state.painted.pop(); learn(); }), button("Clear painted", () => { state.painted = []; learn(); }), button("New points", () => { state.seed = (state.seed + 1) % 4294967296; learn(); }))),
      el("div", { class: "card controls" }, el("p", { class: "hint" }, "Sums and products of kernels are kernels."), sides[0].node, choice("combine", { none: "kernel 1 alone", sum: "kernel 1 + kernel 2", product: "kernel 1 × kernel 2" }, state.op, (a) => { state.op = a; shape(); learn(); }), sides[1].node)));

  function shape() {
    sides.forEach((side, i) => {
      const kind = state[`kind${i + 1}`];
      side.degree.hidden = side.c.hidden = kind !== "polynomial";
      side.sigma.hidden = kind !== "gaussian";
    });
    sides[1].node.hidden = state.op === "none";
    const a = formula(specOf(state, "1")), b = formula(specOf(state, "2"));
    text.replaceChildren("K(x, z) = ", el("code", {}, state.op === "none" ? a : state.op === "sum" ? `${a} + ${b}` : `${a} · ${b}`));
  }
  function* work() {
    const kernel = kernelOf(state.op === "none" ? specOf(state, "1") : { op: state.op, parts: [specOf(state, "1"), specOf(state, "2")] });
    model = new KernelPerceptron(kernel);
    told = { epochs: 0, mistakes: 0, done: false };
    for (let epoch = 0; epoch < MOST_EPOCHS && rows.length; epoch++) {
      told.mistakes = 0;
      for (let i = 0; i < rows.length; i++) { told.mistakes += model.learn([rows[i][0], rows[i][1]], rows[i][2], i); yield; }
      told.epochs = epoch + 1;
      if (!told.mistakes) break;
    }
    told.done = true;
    const next = new Float64Array(SIZE * SIZE);
    for (let at = 0; at < next.length; at++) {
      next[at] = model.score([(2 * ((at % SIZE) + 0.5) / SIZE - 1) * plane.extent, (1 - 2 * (Math.floor(at / SIZE) + 0.5) / SIZE) * plane.extent]);
      yield;
    }
    surface = next;
    colour();
  }
  function colour() {
    const c = picture.getContext("2d", { willReadFrequently: true }), image = c.createImageData(SIZE, SIZE), p = plane.colours || {};
    const sorted = Array.from(surface, Math.abs).sort((a, b) => a - b), scale = sorted[Math.floor(sorted.length * 0.8)] || 1;
    const rgb = (text) => { c.fillStyle = text; c.fillRect(0, 0, 1, 1); return c.getImageData(0, 0, 1, 1).data; };
    const plus = rgb(p.plus || "#000"), minus = rgb(p.minus || "#000");
    for (let at = 0; at < surface.length; at++) {
      const from = surface[at] > 0 ? plus : minus;
      image.data.set([from[0], from[1], from[2], surface[at] === 0 ? 0 : 30 + 95 * Math.min(1, Math.abs(surface[at]) / scale)], 4 * at);
    }
    c.putImageData(image, 0, 0);
  }
  const task = new Task(work, (finished) => { write(); if (finished) draw(); });
  function write() {
    const supports = model ? model.supports.length : 0;
    score.replaceChildren(el("strong", {}, String(model ? model.mistakes : 0)), ` mistakes, ${supports} supports of ${rows.length} points. `,
      told.done ? (told.mistakes ? `Still ${told.mistakes} mistakes in epoch ${told.epochs}: this kernel does not separate them (yet).` : `All right after ${counted(told.epochs, "epoch")}.`) : `Learning, epoch ${told.epochs + 1} …`);
  }
  function learn() {
    rows = [...presetPoints(state.preset, state.n, state.seed), ...state.painted];
    changed();
    surface = model = null;   // those of other points
    draw();
    task.start();
  }
  const draw = framed(() => {
    const c = plane.begin(), p = plane.colours;
    if (surface) {
      c.imageSmoothingEnabled = true;
      c.drawImage(picture, 0, 0, plane.canvas.width, plane.canvas.height);
      contour(c, p.ink);
    }
    const few = rows.length <= 300;
    plane.points(rows, { size: few ? 6 : 2.5, ring: model && told.done && few ? model.supports.map((one) => one.i) : null });
    plane.cross();
  });
  // Where the surface is 0: short lines, a cell at a time.
  function contour(c, colour) {
    const step = plane.canvas.width / SIZE, at = (i, j) => surface[j * SIZE + i];
    c.strokeStyle = colour; c.lineWidth = 2 * plane.pixel; c.beginPath();
    for (let j = 0; j + 1 < SIZE; j++) for (let i = 0; i + 1 < SIZE; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], cuts = [];
      corners.forEach(([a, b], q) => {
        const [a2, b2] = corners[(q + 1) % 4], s = at(a, b), t = at(a2, b2);
        if ((s > 0) !== (t > 0)) { const f = s / (s - t); cuts.push([(a + (a2 - a) * f + 0.5) * step, (b + (b2 - b) * f + 0.5) * step]); }
      });
      for (let q = 0; q + 1 < cuts.length; q += 2) { c.moveTo(...cuts[q]); c.lineTo(...cuts[q + 1]); }
    }
    c.stroke();
  }
  plane.redraw = draw;
  shape(); learn();
  return { draw: () => { plane.colours = null; draw(); if (surface) requestAnimationFrame(() => { colour(); draw(); }); }, close: () => task.stop() };
}

export const kernelTab = { id: "kernels", title: "Kernels", fields: kernelFields, open: openKernels };
