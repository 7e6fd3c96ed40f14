// The rules: when to update, and v ← a·v + τ·δ.
//
// m = v·δ is how much better the right answer scores than its best competitor, q = ‖δ‖² (AROW: δᵀΣδ), v2 = ‖v‖².
//
//   perceptron   a mistake, or m ≤ β    τ = η                    Rosenblatt 1958
//   pa           ℓ = 1 − m > 0          τ = ℓ/q                  Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006
//   pa1          ℓ > 0                  τ = min(C, ℓ/q)
//   pa2          ℓ > 0                  τ = ℓ/(q + 1/2C)
//   mira         ℓ = cost − m > 0       τ = ℓ/q                  Crammer & Singer 2003
//   romma        a mistake              see step()               Li & Long 2002
//   aggressive   1 − m > 0              the same
//   arow         1 − m > 0              τ = ℓ/(q + r)            Crammer, Kulesza, Dredze 2009 (Σ diagonal)
//
// A sample weight w stands beside the trade-off of a rule: η becomes w·η, C becomes w·C, r becomes r/w; pa, mira and
// romma have none and take no weights. A zero δ is never an update. At v = 0 every rule updates; ROMMA's first step is
// δ/‖δ‖². Where ROMMA's two constraints are collinear (0/0), or the new one implies the old, it starts anew: a = 0, τ =
// 1/q.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

namespace perceptive {

enum class RuleName { perceptron, pa, pa1, pa2, mira, romma, aggressive_romma, arow };

inline RuleName rule_by_name(const std::string& name) {
    constexpr const char* names[] = {"perceptron", "pa", "pa1", "pa2", "mira", "romma", "aggressive-romma", "arow"};
    for (int i = 0; i < 8; ++i)
        if (name == names[i]) return static_cast<RuleName>(i);
    throw std::invalid_argument("unknown rule " + name);
}

// A rule of the kind v ← v + τ·δ, which knows neither ‖v‖ nor Σ: the only kind for lists, sequences and the dual.
inline RuleName additive_rule_by_name(const std::string& name) {
    const RuleName rule = rule_by_name(name);
    if (rule > RuleName::mira)
        throw std::invalid_argument("rule " + name + " does not go here; choose perceptron, pa, pa1, pa2 or mira");
    return rule;
}

// A hinge loss below this is the rounding of float32 weights, not a loss to learn from.
constexpr double LOSS_FLOOR = 1e-6;
// sin² of the angle between v and δ below which ROMMA's determinant is the rounding of its terms.
constexpr double COLLINEAR = 1e-12;

// The right answer must win strictly. A margin that is not a number, of scores that have overflowed, is no win either:
// its mistake makes the loss no number, which is how the overflow is found.
inline bool errs(double m) { return !(m > 0.0); }

struct Step {
    double a, tau;
};

struct Rule {
    RuleName name = RuleName::perceptron;
    double learning_rate = 1.0;  // η
    double margin = 0.0;         // β
    double C = 1.0;
    double r = 1.0;

    bool wants_norm() const { return name == RuleName::romma || name == RuleName::aggressive_romma; }

    bool wants_update(double m, bool mistake, double cost = 1.0) const {
        switch (name) {
            case RuleName::perceptron: return mistake || (margin > 0 && m <= margin);
            case RuleName::romma: return mistake;
            default: return cost - m > LOSS_FLOOR;
        }
    }

    Step step(double m, double q, double v2, double cost, double weight) const {
        const double loss = cost - m;
        switch (name) {
            case RuleName::perceptron: return {1.0, learning_rate * weight};
            case RuleName::pa:
            case RuleName::mira: return {1.0, loss / q};
            case RuleName::pa1: return {1.0, std::min(weight * C, loss / q)};
            case RuleName::pa2: return {1.0, loss / (q + 1.0 / (2.0 * weight * C))};
            case RuleName::arow: return {1.0, loss / (q + r / weight)};
            default: {  // ROMMA: the smallest v' with v'·v ≥ ‖v‖² and v'·δ ≥ 1
                if (v2 == 0.0) return {1.0, 1.0 / q};
                const double product = q * v2;
                const double determinant = product - m * m;
                if (determinant <= COLLINEAR * product || m >= product) return {0.0, 1.0 / q};
                return {(product - m) / determinant, v2 * (1.0 - m) / determinant};
            }
        }
    }
};

}  // namespace perceptive
