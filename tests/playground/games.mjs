// Plays so many seeded games of each kind with the page's learners, and writes what happened as JSON.

import * as L from "./learners.js";
import { playThresholds } from "./prediction.js";

const games = Number(process.argv[2]), told = { perceptron: [], stream: [], kernel: [], ranking: [], tagger: [], halving: [] };

for (let seed = 0; seed < games; seed++) {
  const random = new L.RandomNumbers(seed);
  {
    const game = new L.PerceptronGame(random.direction(2 + random.below(3)), random.uniform(0.1, 0.6), 1);
    const player = Object.values(L.ADVERSARIES)[random.below(3)](seed);
    for (let i = 0; i < 30; i++) { const move = player.move(game); if (!move) break; game.round(...move); }
    told.perceptron.push({ x: game.rounds.map((one) => one.x), mistakes: game.rounds.map((one) => one.mistake), v: game.rounds.map((one) => one.v) });
  }
  const rows = Array.from({ length: 20 }, () => [random.uniform(-1, 1), random.uniform(-1, 1), 1]), y = rows.map(() => random.sign());
  const probes = rows.slice(0, 5).map(([a, b]) => [b, -a, 1]);
  {
    const run = L.voters(rows, y, 1), averaged = L.averaged(run), last = run.voters.at(-1).v, best = L.best(run);
    told.stream.push({ mistakes: run.mistakes, survival: run.voters.map((one) => one.m), last: probes.map((x) => L.dot(last, x)), averaged: probes.map((x) => L.dot(averaged, x)), best: probes.map((x) => L.dot(best, x)), voted: probes.map((x) => L.vote(run, x)) });
  }
  {
    const a = { kind: "gaussian", sigma: 0.5 }, b = { kind: "polynomial", degree: 2, c: 1 };
    const spec = [a, b, { op: "sum", parts: [a, b] }, { op: "product", parts: [a, b] }][seed % 4];
    const model = new L.KernelPerceptron(L.kernelOf(spec)), mistakes = [];
    for (let epoch = 0; epoch < 2; epoch++) rows.forEach((x, i) => mistakes.push(model.learn([x[0], x[1]], y[i], i)));
    told.kernel.push({ mistakes, alpha: model.supports.map((one) => [one.i, one.alpha]), scores: probes.map((x) => model.score([x[0], x[1]])) });
  }
  {
    const ranker = new L.Ranker(2), mistakes = [];
    for (let i = 0; i < 12; i++) {
      const list = Array.from({ length: 2 + random.below(4) }, () => [random.uniform(-1, 1), random.uniform(-1, 1)]);
      mistakes.push(ranker.learn(list, random.below(list.length)).mistake);
    }
    told.ranking.push({ mistakes, v: ranker.v });
  }
  {
    const tagger = new L.Tagger(["X", "Y", "Z"], (words, t) => [words[t]]), mistakes = [];
    for (let i = 0; i < 6; i++) {
      const words = Array.from({ length: 1 + random.below(5) }, () => "abcd"[random.below(4)]);
      mistakes.push(tagger.learn(words, words.map(() => random.below(3))).mistake);
    }
    told.tagger.push({ mistakes, path: tagger.viterbi(["a", "b", "c", "d", "a"]).path, weights: [...tagger.v].filter(([, w]) => w) });
  }
  {
    const n = [3, 7, 15, 31][random.below(4)], mode = random.below(2) ? "fair" : "cruel", said = Array.from({ length: 10 }, () => random.below(2));
    const { rounds, you, halving, space, secret } = playThresholds(n, mode, seed, said);
    told.halving.push({ n, mode, secret, you, halving, left: space.left, rounds: rounds.map((one) => [one.x, one.mine, one.theirs, one.truth]) });
  }
}
console.log(JSON.stringify(told));
