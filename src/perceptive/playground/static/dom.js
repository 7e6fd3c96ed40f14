// Small words for the page: elements, SVG, a plane on a canvas, and a clock that keeps frames short.

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export const number = (a, digits = 2) => (Number.isFinite(a) ? a.toFixed(digits).replace(/^-(0(\.0+)?)$/, "$1") : "∞");

// 1 mistake, 2 mistakes
export const counted = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

export function button(text, act, attributes = {}) {
  return el("button", { type: "button", onclick: act, ...attributes }, text);
}

let controls = 0;

export function slider(label, { min, max, step, value }, change, show = (a) => String(a)) {
  const id = `control-${++controls}`, output = el("output", { for: id }, show(value));
  const input = el("input", { id, type: "range", min, max, step, value });
  input.addEventListener("input", () => { output.textContent = show(Number(input.value)); change(Number(input.value)); });
  const node = el("div", { class: "control" }, el("label", { for: id }, label), input, output);
  node.set = (a) => { input.value = a; output.textContent = show(a); };
  return node;
}

export function choice(label, options, value, change) {
  const id = `control-${++controls}`;
  const input = el("select", { id }, ...Object.entries(options).map(([key, text]) => el("option", { value: key }, text)));
  input.value = value;
  input.addEventListener("change", () => change(input.value));
  const node = el("div", { class: "control" }, el("label", { for: id }, label), input);
  node.set = (a) => { input.value = a; };
  return node;
}

export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The colours of the theme, read once for each drawing of a frame.
export function palette() {
  const names = ["ink", "faint", "line", "ground", "plus", "minus", "v", "u", "grey", "plus-soft", "minus-soft", "good"];
  return Object.fromEntries(names.map((name) => [name.replace("-s", "S"), css(`--${name}`)]));
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// A square piece of the plane, [−extent, extent]², on a canvas. Arrow keys move a cursor, Enter acts at it.
export class Plane {
  constructor({ extent, label, act, drag, key, small }) {
    this.extent = extent;
    this.cursor = null;
    this.canvas = el("canvas", { tabindex: small ? null : 0, role: small ? "img" : "application", "aria-label": label, class: small ? "plane small" : "plane" });
    this.context = this.canvas.getContext("2d");
    this.dragging = null;
    if (act || drag) this.listen(act, drag);
    if (!small) this.canvas.addEventListener("keydown", (event) => this.keyed(event, act, key));
    this.canvas.addEventListener("blur", () => { this.cursor = null; this.redraw?.(); });
  }
  listen(act, drag) {
    const canvas = this.canvas;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      this.cursor = null;
      this.dragging = held = drag?.begin(this.at(event)) ?? null;
      if (held !== null) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("click", (event) => { if (held === null) act?.(this.at(event), event.shiftKey); });   // a tap, not a swipe
    canvas.addEventListener("pointermove", (event) => { if (this.dragging !== null) drag.move(this.dragging, this.at(event)); });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { if (this.dragging !== null) drag.end?.(this.dragging); this.dragging = null; });
  }
  keyed(event, act, key) {
    if (key?.(event)) { event.preventDefault(); return; }
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (steps) {
      const size = this.extent * (event.shiftKey ? 0.1 : 0.025), [x, y] = this.cursor || [0, 0];
      const keep = (a) => Math.max(-this.extent, Math.min(this.extent, a));
      this.cursor = [keep(x + steps[0] * size), keep(y + steps[1] * size)];
      this.redraw?.();
      event.preventDefault();
    } else if ((event.key === "Enter" || event.key === " ") && act) {
      act(this.cursor || [0, 0], event.shiftKey);
      event.preventDefault();
    }
  }
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
    return [(2 * x - 1) * this.extent, (1 - 2 * y) * this.extent];
  }
  begin() {
    const side = this.canvas.clientWidth || 300, ratio = Math.min(2, devicePixelRatio || 1), pixels = Math.round(side * ratio);
    if (this.canvas.width !== pixels) { this.canvas.width = pixels; this.canvas.height = pixels; }
    this.scale = pixels / (2 * this.extent);
    this.pixel = ratio;
    this.colours = palette();
    const c = this.context;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, pixels, pixels);
    c.fillStyle = this.colours.ground;
    c.fillRect(0, 0, pixels, pixels);
    c.lineCap = "round";
    return c;
  }
  // A clear sheet of the size of another plane, to be drawn on once and laid over several.
  clearLike(other) {
    Object.assign(this, { extent: other.extent, scale: other.scale, pixel: other.pixel, colours: other.colours });
    this.canvas.width = this.canvas.height = other.canvas.width;
    return this;
  }
  px([x, y]) { return [(x + this.extent) * this.scale, (this.extent - y) * this.scale]; }
  line(a, b, colour, width = 1.5, dash = []) {
    const c = this.context;
    c.strokeStyle = colour; c.lineWidth = width * this.pixel; c.setLineDash(dash.map((d) => d * this.pixel));
    c.beginPath(); c.moveTo(...this.px(a)); c.lineTo(...this.px(b)); c.stroke(); c.setLineDash([]);
  }
  arrow(a, b, colour, width = 3) {
    const c = this.context, [x0, y0] = this.px(a), [x1, y1] = this.px(b), length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 2) return;
    const head = Math.min(length, (6 + 2 * width) * this.pixel), dx = (x1 - x0) / length, dy = (y1 - y0) / length;
    c.strokeStyle = c.fillStyle = colour; c.lineWidth = width * this.pixel;
    c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1 - dx * head * 0.7, y1 - dy * head * 0.7); c.stroke();
    c.beginPath(); c.moveTo(x1, y1);
    c.lineTo(x1 - dx * head - dy * head * 0.45, y1 - dy * head + dx * head * 0.45);
    c.lineTo(x1 - dx * head + dy * head * 0.45, y1 - dy * head - dx * head * 0.45);
    c.fill();
  }
  text(words, [x, y], colour, dx = 0, dy = 0) {
    const c = this.context, [px, py] = this.px([x, y]);
    c.font = `${13 * this.pixel}px system-ui, sans-serif`; c.fillStyle = colour; c.textAlign = "center"; c.textBaseline = "middle";
    const inset = 10 * this.pixel, keep = (a) => Math.max(inset, Math.min(this.canvas.width - inset, a));
    c.fillText(words, keep(px + dx * this.pixel), keep(py + dy * this.pixel));
  }
  // Points of both classes at once: discs for +1, squares for −1, so that colour is not all that tells them apart.
  points(rows, { size = 6, wrong = null, ring = null, signs = true } = {}) {
    const c = this.context, r = size * this.pixel, few = rows.length <= 300;
    for (const y of [1, -1]) {
      c.fillStyle = y > 0 ? this.colours.plus : this.colours.minus;
      c.strokeStyle = this.colours.ground; c.lineWidth = this.pixel;
      c.beginPath();
      for (const row of rows) {
        if (Math.sign(row[2]) !== y) continue;
        const [px, py] = this.px(row);
        if (y < 0) c.rect(px - r * 0.9, py - r * 0.9, 1.8 * r, 1.8 * r);
        else if (few) { c.moveTo(px + r, py); c.arc(px, py, r, 0, 2 * Math.PI); }
        else { c.moveTo(px + 1.2 * r, py); c.lineTo(px, py + 1.2 * r); c.lineTo(px - 1.2 * r, py); c.lineTo(px, py - 1.2 * r); }
      }
      c.fill();
      if (few) c.stroke();
    }
    if (signs && few && size > 4) {
      c.strokeStyle = this.colours.ground; c.lineWidth = 1.6 * this.pixel; c.beginPath();
      for (const row of rows) {
        const [px, py] = this.px(row), h = r * 0.5;
        c.moveTo(px - h, py); c.lineTo(px + h, py);
        if (row[2] > 0) { c.moveTo(px, py - h); c.lineTo(px, py + h); }
      }
      c.stroke();
    }
    const circles = (which, colour, grow, width) => {
      if (!which) return;
      c.strokeStyle = colour; c.lineWidth = width * this.pixel; c.beginPath();
      for (const i of which) { const [px, py] = this.px(rows[i]); c.moveTo(px + r + grow, py); c.arc(px, py, r + grow * this.pixel, 0, 2 * Math.PI); }
      c.stroke();
    };
    circles(ring, this.colours.ink, 3, 1.5);
    circles(wrong, this.colours.v, 5, 2);
  }
  cross() {
    if (!this.cursor) return;
    const [x, y] = this.cursor, s = this.extent * 0.05;
    this.line([x - s, y], [x + s, y], this.colours.ink, 2);
    this.line([x, y - s], [x, y + s], this.colours.ink, 2);
  }
  // The line w·(x, y, 1) = 0, as far as it is seen.
  boundary([a, b, c = 0], colour, width = 2, dash = []) {
    const length2 = a * a + b * b;
    if (!length2) return;
    const x = -a * c / length2, y = -b * c / length2, far = 4 * this.extent / Math.sqrt(length2);
    this.line([x - b * far, y + a * far], [x + b * far, y - a * far], colour, width, dash);
  }
}

// Draws at most once a frame, however often it is asked.
export function framed(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; timed(draw); });
  };
}

// Script time of the frames, for those who ask: window.frameTimes.
export function timed(draw) {
  const began = performance.now();
  draw();
  const times = (window.frameTimes ||= []);
  times.push(performance.now() - began);
  if (times.length > 1000) times.shift();
}

// A task in slices of a few milliseconds: a generator that yields between two steps.
export class Task {
  constructor(make, done) { this.make = make; this.done = done; this.number = 0; }
  start(...given) {
    const mine = ++this.number, steps = this.make(...given);
    const slice = () => {
      if (mine !== this.number) return;
      let finished = false;
      timed(() => {
        const until = performance.now() + 4;
        while (!finished && performance.now() < until) finished = steps.next().done;
        this.done(finished);
      });
      if (!finished) requestAnimationFrame(slice);
    };
    requestAnimationFrame(slice);
  }
  stop() { this.number += 1; }
}

// Lines over k: series is [{name, values, className}], as an SVG picture with words for those who do not see it.
export function chart(series, { height = 150, label, bars = null }) {
  const width = 320, left = 30, bottom = 20, top = 8, all = [...series.flatMap((s) => s.values), ...(bars || [])];
  const most = Math.max(1e-9, ...all), n = Math.max(2, bars ? bars.length : series[0].values.length);
  const X = (i) => left + (width - left - 8) * (bars ? (i + 0.5) / n : i / (n - 1)), Y = (a) => height - bottom - (height - bottom - top) * a / most;
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
  node.append(svg("line", { x1: left, x2: width - 8, y1: Y(0), y2: Y(0), class: "axis" }));
  for (const a of [0, most / 2, most]) node.append(svg("text", { x: left - 4, y: Y(a) + 4, class: "tick", "text-anchor": "end" }, a >= 10 ? String(Math.round(a)) : number(a, 1)));
  if (bars) bars.forEach((a, i) => node.append(svg("rect", { x: X(i) - (width - left) / n * 0.4, width: Math.max(0.5, (width - left) / n * 0.8), y: Y(a), height: Math.max(0, Y(0) - Y(a)), class: "bar" })));
  for (const { values, className } of series) {
    node.append(svg("polyline", { points: values.map((a, i) => `${X(i)},${Y(a)}`).join(" "), class: className, fill: "none" }));
    if (values.length === 1) node.append(svg("circle", { cx: X(0), cy: Y(values[0]), r: 2.5, class: `${className} dot` }));
  }
  node.append(svg("text", { x: width - 8, y: height - 4, class: "tick", "text-anchor": "end" }, bars ? `v₀ … v${n - 1}` : `k = 0 … ${n - 1}`));
  return node;
}
