// The learners and players of the page. They do what perceptive.games and the library's learners do, in the same order of
// summation: the tests play the same seeded games here and there. Nothing in this file knows of the page.

export class RandomNumbers {
  // mulberry32, as in games/random_numbers.py
  constructor(seed) { this.state = seed >>> 0; }
  bits() {
    this.state = (this.state + 0x6D2B79F5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }
  uniform(low = 0, high = 1) { return low + (high - low) * (this.bits() / 4294967296); }
  below(n) { return Math.floor(this.bits() * n / 4294967296); }
  sign() { return this.bits() & 1 ? 1 : -1; }
  direction(d) {
    for (;;) {
      const x = Array.from({ length: d }, () => this.uniform(-1, 1));
      let total = 0;
      for (const value of x) total += value * value;
      if ((total > 0.01 && total <= 1) || (d > 6 && total > 0.01)) {
        const length = Math.sqrt(total);
        return x.map((value) => value / length);
      }
    }
  }
}

export function dot(a, b) {
  let total = 0;
  for (let j = 0; j < a.length; j++) total += a[j] * b[j];
  return total;
}

export const norm = (a) => Math.sqrt(dot(a, a));

function combine(...terms) {
  let total = terms[0][1].map(() => 0);
  for (const [a, x] of terms) total = total.map((s, j) => s + a * x[j]);
  return total;
}

// ---------------------------------------------------------------- the perceptron game

const SLACK = 1e-9, TINY = 1e-12;

export class PerceptronGame {
  constructor(u, margin, radius) {
    this.u = u; this.margin = margin; this.radius = radius;
    this.v = u.map(() => 0); this.k = 0; this.rounds = [];
  }
  get bound() { return (this.radius / this.margin) ** 2; }
  // Why a move is illegal, or "".
  refusal(x, y) {
    const length = norm(x), along = y * dot(this.u, x);
    if (!(length <= this.radius * (1 + SLACK))) return `‖x‖ = ${length.toFixed(2)} is more than R = ${this.radius}`;
    if (!(along >= this.margin * (1 - SLACK))) return `y·(u·x) = ${along.toFixed(2)} is less than γ = ${this.margin}`;
    return "";
  }
  round(x, y) {
    const score = dot(this.v, x), mistake = y * score <= 0;
    if (mistake) { this.v = this.v.map((a, j) => a + y * x[j]); this.k += 1; }
    const played = { x, y, score, mistake, v: this.v, k: this.k, along: dot(this.v, this.u), length: norm(this.v),
      least: this.k * this.margin, most: Math.sqrt(this.k) * this.radius };
    this.rounds.push(played);
    return played;
  }
}

function across(game, x) {
  const rest = combine([1, x], [-dot(x, game.u), game.u]);
  const length = Math.sqrt(dot(rest, rest));
  return length > TINY ? rest.map((value) => value / length) : rest.map(() => 0);
}

const reach = (game) => Math.sqrt(Math.max(0, game.radius * game.radius - game.margin * game.margin));

export class RandomPlayer {
  constructor(seed) { this.random = new RandomNumbers(seed); }
  move(game) {
    const y = this.random.sign(), along = this.random.uniform(game.margin, game.radius);
    const room = Math.sqrt(Math.max(0, game.radius * game.radius - along * along)) * this.random.uniform();
    const side = across(game, this.random.direction(game.u.length));
    return [combine([y * along, game.u], [room, side]), y];
  }
}

export class Planar {
  move(game) {
    let axis = 0;
    game.u.forEach((value, j) => { if (Math.abs(value) < Math.abs(game.u[axis])) axis = j; });
    const side = across(game, game.u.map((_, j) => (j === axis ? 1 : 0))), s = reach(game);
    if (!game.rounds.length) return [combine([game.margin, game.u], [s / 2, side]), 1];
    const sign = dot(game.v, side) > 0 ? -1 : 1;
    const x = combine([game.margin, game.u], [sign * s, side]);
    return dot(game.v, x) <= 0 ? [x, 1] : null;
  }
}

export class Greedy {
  constructor(seed) { this.random = new RandomNumbers(seed); }
  move(game) {
    const side = across(game, game.v), y = this.random.sign(), s = reach(game), most = dot(game.v, side);
    const t = !game.k ? 0 : most > TINY ? dot(game.v, game.u) * game.margin / most : Infinity;
    if (t > s) return null;
    let free = across(game, this.random.direction(game.u.length));
    free = combine([1, free], [-dot(free, side), side]);
    const length = Math.sqrt(dot(free, free)), room = Math.sqrt(s * s - t * t);
    const terms = [[game.margin, game.u], [-t, side]];
    if (length > 1e-6) terms.push([room / length, free]);
    return [combine([y, nudged(game, combine(...terms))]), y];
  }
}

function nudged(game, x) {
  const score = dot(game.v, x), v2 = dot(game.v, game.v);
  if (score <= 0 || v2 === 0) return x;
  return combine([1, x], [-(score + TINY * Math.sqrt(v2) * game.radius) / v2, game.v]);
}

export const ADVERSARIES = {
  random: (seed) => new RandomPlayer(seed), planar: () => new Planar(), greedy: (seed) => new Greedy(seed),
};

// ---------------------------------------------------------------- after the stream

// Every v_k with its survival m_k, over several epochs; the bias is a last feature, 1.
export function voters(X, y, epochs) {
  const d = X.length ? X[0].length : 2;
  let v = new Array(d).fill(0), m = 0, mistakes = 0;
  const found = [];
  for (let e = 0; e < epochs; e++) {
    for (let i = 0; i < X.length; i++) {
      m += 1;
      if (y[i] * dot(v, X[i]) <= 0) {
        found.push({ v, m });
        const x = X[i], s = y[i];
        v = v.map((a, j) => a + s * x[j]);
        m = 0; mistakes += 1;
      }
    }
  }
  found.push({ v, m });
  return { voters: found, mistakes };
}

export function averaged(run) {
  const total = run.voters[0].v.map(() => 0);
  let rounds = 0;
  for (const { v, m } of run.voters) { rounds += m; v.forEach((a, j) => { total[j] += m * a; }); }
  return total.map((a) => a / Math.max(1, rounds));
}

export function best(run) {
  return run.voters.reduce((a, b) => (b.m > a.m ? b : a)).v;
}

export function vote(run, x) {
  let total = 0;
  for (const { v, m } of run.voters) if (m) total += m * Math.sign(dot(v, x));
  return Math.sign(total);
}

// k ≤ ((R + D)/γ)² for the unit vector u: the smallest over γ, with its γ and D.
export function certificate(X, y, epochs, u) {
  const length = norm(u), margins = X.map((x, i) => y[i] * dot(u, x) / (length || 1)).sort((a, b) => a - b);
  let R = 0;
  for (const x of X) R = Math.max(R, norm(x));
  let smallest = { bound: Infinity, margin: 0, D: 0, R };
  let count = 0, sum = 0, squares = 0;
  for (const gamma of margins) {   // at γ = a margin, those below fall short of it by γ − margin
    if (gamma > 0) {
      const D = Math.sqrt(Math.max(0, epochs * (count * gamma * gamma - 2 * gamma * sum + squares)));
      const bound = ((R + D) / gamma) ** 2;
      if (bound < smallest.bound) smallest = { bound, margin: gamma, D, R };
    }
    count += 1; sum += gamma; squares += gamma * gamma;
  }
  return smallest;
}

// ---------------------------------------------------------------- kernels

export const KERNELS = {
  linear: () => (x, z) => dot(x, z),
  polynomial: ({ degree, c }) => (x, z) => (dot(x, z) + c) ** degree,
  gaussian: ({ sigma }) => {
    const gamma = 1 / (2 * sigma * sigma);
    return (x, z) => {
      let d2 = 0;
      for (let j = 0; j < x.length; j++) d2 += (x[j] - z[j]) * (x[j] - z[j]);
      return Math.exp(-gamma * d2);
    };
  },
};

// {kind, …} alone, or {op: "sum" | "product", parts: [a, b]}
export function kernelOf(spec) {
  if (!spec.op) return KERNELS[spec.kind](spec);
  const [a, b] = spec.parts.map(kernelOf);
  return spec.op === "sum" ? (x, z) => a(x, z) + b(x, z) : (x, z) => a(x, z) * b(x, z);
}

// The kernel perceptron, an example at a time; equal examples are one support.
export class KernelPerceptron {
  constructor(kernel) { this.kernel = kernel; this.supports = []; this.slot = new Map(); this.mistakes = 0; }
  score(x) {
    let total = 0;
    for (const support of this.supports) total += support.alpha * this.kernel(support.x, x);
    return total;
  }
  learn(x, y, i) {
    if (y * this.score(x) > 0) return false;
    const key = x.join();
    let support = this.slot.get(key);
    if (!support) { support = { x, alpha: 0, i }; this.slot.set(key, support); this.supports.push(support); }
    support.alpha += y;
    this.mistakes += 1;
    return true;
  }
}

// ---------------------------------------------------------------- ranking

export class Ranker {
  constructor(d) { this.v = new Array(d).fill(0); this.k = 0; }
  scores(xs) { return xs.map((x) => dot(this.v, x)); }
  learn(xs, best) {
    const scores = this.scores(xs);
    let rival = -1;
    scores.forEach((s, j) => { if (j !== best && (rival < 0 || s > scores[rival])) rival = j; });
    const mistake = scores[best] - scores[rival] <= 0;
    if (mistake) { this.v = this.v.map((a, j) => a + (xs[best][j] - xs[rival][j])); this.k += 1; }
    return { mistake, rival };
  }
}

// ---------------------------------------------------------------- sequences

export class Tagger {
  // Weights of "feature|label" and "@before|label"; features of a token are given by a function.
  constructor(labels, features) { this.labels = labels; this.features = features; this.v = new Map(); this.k = 0; }
  weight(name) { return this.v.get(name) || 0; }
  trellis(words) {
    const unary = words.map((_, t) => this.labels.map((label) => {
      let total = 0;
      for (const name of this.features(words, t)) total += this.weight(`${name}|${label}`);
      return total;
    }));
    const edge = this.labels.map((a) => this.labels.map((b) => this.weight(`@${a}|${b}`)));
    return { unary, edge };
  }
  viterbi(words) {
    const { unary, edge } = this.trellis(words), L = this.labels.length, n = words.length;
    const table = [unary[0].slice()];
    for (let t = 1; t < n; t++) {
      table.push(unary[t].map((own, y) => {
        let top = -Infinity;
        for (let p = 0; p < L; p++) top = Math.max(top, table[t - 1][p] + edge[p][y]);
        return top + own;
      }));
    }
    const first = (values) => values.indexOf(Math.max(...values));   // the lowest of equals
    let y = first(table[n - 1]);
    const path = [y];
    for (let t = n - 1; t > 0; t--) { y = first(table[t - 1].map((s, p) => s + edge[p][y])); path.unshift(y); }
    return { path, score: Math.max(...table[n - 1]), table, unary, edge };
  }
  phi(words, path) {
    const count = new Map(), add = (name) => count.set(name, (count.get(name) || 0) + 1);
    path.forEach((y, t) => {
      for (const name of this.features(words, t)) add(`${name}|${this.labels[y]}`);
      if (t) add(`@${this.labels[path[t - 1]]}|${this.labels[y]}`);
    });
    return count;
  }
  learn(words, truth) {
    const { path } = this.viterbi(words);
    if (path.every((y, t) => y === truth[t])) return { mistake: false, path, delta: new Map() };
    const delta = this.phi(words, truth);
    for (const [name, value] of this.phi(words, path)) delta.set(name, (delta.get(name) || 0) - value);
    for (const [name, value] of delta) {
      if (value) this.v.set(name, this.weight(name) + value); else delta.delete(name);
    }
    this.k += 1;
    return { mistake: true, path, delta };
  }
}

// ---------------------------------------------------------------- the prediction game

// Thresholds t = 0 … n on the points 0 … n − 1: a point is 1 where it is ≥ t. What is left is low ≤ t ≤ high.
export class Thresholds {
  constructor(n) { this.n = n; this.low = 0; this.high = n; }
  get left() { return this.high - this.low + 1; }
  positive(x) { return Math.max(0, Math.min(this.high, x) - this.low + 1); }
  halving(x) { const yes = this.positive(x); return yes > this.left - yes; }
  learn(x, label) { if (label) this.high = Math.min(this.high, x); else this.low = Math.max(this.low, x + 1); }
  possible(x, label) { return label ? this.positive(x) > 0 : this.positive(x) < this.left; }
}

// M(C) of m thresholds that are left: the depth of the largest mistake tree.
export const littlestone = (m) => Math.floor(Math.log2(m) + 1e-9);
