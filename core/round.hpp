// One round of the game, the same for every task.
//
//   begin()          a prediction is made: rounds, the survival m_k of v_k, the clock of the lazy average
//   mistake(m)       it was wrong: mistakes, and the loss −m
//   wants_update()   the rule's decision
//   update(δ)        v ← a·v + τ·P·δ: updates, R = max ‖δ‖, ‖v‖², the journal's next step
//
// A task finds the competitor, and with it m = v·δ; its δ says how long it is and how it is applied:
//
//   squared_norm()      q = ‖δ‖²
//   apply(step)         v ← a·v + τ·δ, with its share of the average's sum and its entries in the journal
//   has_sigma           whether AROW can be had. If so: variance(), which is δᵀΣδ, and apply_arow(τ, s), which is
//                       v ← v + τ·Σδ, Σ ← Σ − s·(Σδ)²
//   keeps_norm          whether ‖v‖² is wanted
//   has_romma           whether ROMMA can be had. If so: measured_norm(), which is ‖v‖² from the weights, and precise,
//                       the relative error that is allowed of ‖v‖²
//
// ‖v‖² is tracked: ‖a·v + τ·δ‖² = a²‖v‖² + 2aτm + τ²q. ROMMA steps by it, and has an a as large as 1/sin² of the angle
// between v and δ: an error ε of ‖v‖² becomes a²ε, while ‖v‖² grows by a. So its relative error grows as ‖v‖² does, and
// by the rounding of a step. Where it passes PRECISE, or where the determinant of the step is no larger, ‖v‖² is
// measured anew, which costs O(dimension): once while ‖v‖² grows a million times, or in a million updates.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "rows.hpp"
#include "rules.hpp"

namespace perceptive {

// The numbers of a run so far. `scale` and `clock` are those of the lazy average (linear.hpp).
struct Progress {
    i64 rounds = 0;
    i64 mistakes = 0;
    i64 updates = 0;
    i64 touched = 0;           // weights written
    double criterion = 0.0;    // Σ −m over the mistakes, as they happened
    double radius2 = 0.0;      // largest (weight·‖δ‖)² over the updates
    double norm2 = 0.0;        // ‖v‖², where it is wanted
    double norm2_error = 0.0;  // how far it may be from the truth, where the rule asks for it
    double scale = 1.0;
    double clock = 0.0;
    bool open = false;  // between two examples of a stream: the average credits v_K with the one it is about to predict
    i64 mixed_rounds = 0;    // of the rounds, those that shards have played: parameter mixing, McDonald et al. 2010
    i64 mixed_updates = 0;   // and the updates they made, k_{i,n} by shard i between two mixes
    i64 mixed_mistakes = 0;  // the same of mistakes
    double weighted_updates = 0.0;  // Σ_n Σ_i μ_{i,n} k_{i,n}
    double weighted_mistakes = 0.0;
    double heaviest = 0.0;  // the largest μ_{i,n}

    // (clock, total) such that the average is (clock·z − sum)/total: Σ m_k v_k/m, or while the run is open (as before
    // the first example) (Σ m_k v_k + v_K)/(m + 1). The mean of v_0 … v_K (`of_mistakes`) has v_K anyhow.
    std::pair<double, double> average_clock(bool of_mistakes) const {
        if (of_mistakes) return {clock + scale, static_cast<double>(updates) + 1.0};
        if (open || rounds == 0) return {clock + scale, static_cast<double>(rounds) + 1.0};
        return {clock, static_cast<double>(rounds)};
    }

    void mistake(double m) {
        ++mistakes;
        criterion -= m;
    }

    // The run of two shards together.
    void add(const Progress& other) {
        rounds += other.rounds, mistakes += other.mistakes, updates += other.updates, touched += other.touched;
        criterion += other.criterion, clock += other.clock;
        radius2 = std::max(radius2, other.radius2);
    }

    // Shards were mixed. `weight` is Σ ω_i, with μ_i = ω_i/Σ ω; the next two are Σ ω_i k_i of
    // updates and of mistakes, `most` is the largest ω_i.
    void mix(const Progress& shards, double weight, double updates_weigh, double mistakes_weigh, double most) {
        add(shards);
        mixed_rounds += shards.rounds, mixed_updates += shards.updates, mixed_mistakes += shards.mistakes;
        if (weight == 0.0) return;
        weighted_updates += updates_weigh / weight, weighted_mistakes += mistakes_weigh / weight;
        heaviest = std::max(heaviest, most / weight);
    }
};

constexpr double PRECISE = 1e-8;           // relative error of ‖v‖² that is allowed
constexpr double STEP_ROUNDING = 0x1p-46;  // of the terms of a step, and of ‖v‖² when it has been measured
constexpr double SURE = 1e-3;              // relative error of the determinant that is allowed

template <bool Averaged, class Journal>
struct Round {
    const Rule& rule;
    bool average_mistakes;  // the clock ticks on updates, not on examples
    Progress& run;
    Journal* journal;  // or null

    void begin() const {
        ++run.rounds;
        if (journal) journal->predicted();
        if (Averaged && !average_mistakes) run.clock += run.scale;
    }

    void mistake(double m) const { run.mistake(m); }

    bool wants_update(double m, bool mistake, double cost) const { return rule.wants_update(m, mistake, cost); }

    // v ← a·v + τ·P·δ; a zero δ is never an update.
    template <class Delta>
    PERCEPTIVE_INLINE void update(double m, double cost, double weight, const Delta& delta) const {
        const double q = delta.squared_norm();
        if (q == 0.0) return;
        if (Averaged && average_mistakes) run.clock += run.scale;
        close(Delta::has_sigma && rule.name == RuleName::arow ? adapt(m, cost, weight, delta)
                                                              : move(m, q, cost, weight, delta),
              weight * weight * q);
    }

    void close(double a, double length2) const {
        if (journal) journal->close_step(a);
        ++run.updates;
        run.radius2 = std::max(run.radius2, length2);
    }

  private:
    // Both return a of v ← a·v + τ·P·δ.
    template <class Delta>
    double move(double m, double q, double cost, double weight, const Delta& delta) const {
        if constexpr (Delta::has_romma)
            if (rule.wants_norm() && q * run.norm2_error > SURE * std::abs(q * run.norm2 - m * m)) measure(delta);
        const Step step = rule.step(m, q, run.norm2, cost, weight);
        const double kept = step.a * step.a * run.norm2, crossed = 2.0 * step.a * step.tau * m,
                     added = step.tau * step.tau * q;
        delta.apply(step);
        if constexpr (Delta::keeps_norm) run.norm2 = std::max(0.0, kept + crossed + added);  // rounding
        if constexpr (Delta::has_romma) {
            if (rule.wants_norm()) {
                const double terms = kept + std::abs(crossed) + added;
                run.norm2_error = step.a * step.a * run.norm2_error + STEP_ROUNDING * terms;
                if (run.norm2_error > Delta::precise * run.norm2) measure(delta);
            }
        }
        return step.a;
    }

    template <class Delta>
    void measure(const Delta& delta) const {
        if (run.norm2_error <= 2.0 * STEP_ROUNDING * run.norm2) return;  // it cannot be known better
        run.norm2 = delta.measured_norm();
        run.norm2_error = STEP_ROUNDING * run.norm2;
    }

    template <class Delta>
    double adapt(double m, double cost, double weight, const Delta& delta) const {
        if constexpr (Delta::has_sigma) {
            const double variance = delta.variance();
            delta.apply_arow(rule.step(m, variance, run.norm2, cost, weight).tau, 1.0 / (variance + rule.r / weight));
        }
        return 1.0;
    }
};

}  // namespace perceptive
