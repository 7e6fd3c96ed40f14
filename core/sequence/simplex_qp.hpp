// The small quadratic program of k-best MIRA (Crammer & Singer 2003; McDonald, Crammer & Pereira 2005):
//
//   min ½‖v' − v‖² + C·ξ  with v'·δ_j ≥ cost_j − ξ for j = 1 … k, ξ ≥ 0
//
// Its dual is max Σ α_j ℓ_j − ½‖Σ α_j δ_j‖² over α ≥ 0, Σ α ≤ C, with ℓ_j = cost_j − v·δ_j. With a slack α_0 the α lie
// on a simplex, and two of them at a time are moved along it, the pair that violates the conditions most (SMO), until
// the largest violation is below KKT.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rows.hpp"

namespace perceptive {

constexpr double KKT = 1e-9;
constexpr int MAX_STEPS = 100000;

// α (without the slack) for the Gram matrix K of the δ_j (k × k) and the losses; the residual is written to
// `violation`.
inline std::vector<double> solve_mira(const std::vector<double>& K, const std::vector<double>& loss, double C,
                                      double* violation = nullptr) {
    const std::size_t k = loss.size();
    std::vector<double> alpha(k + 1, 0.0), slope(k + 1, 0.0);  // the last is the slack: δ = 0, ℓ = 0
    alpha[k] = C;
    std::copy(loss.begin(), loss.end(), slope.begin());
    const auto gram = [&](std::size_t i, std::size_t j) { return i < k && j < k ? K[i * k + j] : 0.0; };
    double scale = 1.0;
    for (const double l : loss) scale = std::max(scale, std::abs(l));
    double gap = 0.0;
    for (int step = 0; step < MAX_STEPS; ++step) {
        std::size_t up = 0, down = k + 1;
        for (std::size_t i = 1; i <= k; ++i)
            if (slope[i] > slope[up]) up = i;
        for (std::size_t i = 0; i <= k; ++i)
            if (alpha[i] > 0.0 && (down > k || slope[i] < slope[down])) down = i;
        gap = slope[up] - slope[down];
        if (gap <= KKT * scale) break;
        const double curvature = gram(up, up) + gram(down, down) - 2.0 * gram(up, down);
        double move = alpha[down];
        if (curvature > 0.0) move = std::min(move, gap / curvature);
        alpha[up] += move;
        alpha[down] = move == alpha[down] ? 0.0 : alpha[down] - move;
        for (std::size_t i = 0; i < k; ++i) slope[i] -= move * (gram(i, up) - gram(i, down));
    }
    if (violation) *violation = std::max(0.0, gap) / scale;
    alpha.pop_back();
    return alpha;
}

}  // namespace perceptive
