// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// An optimizer with its default constants, as defined by torch.optim if it is there.
struct Optimizer {
  std::string_view name;  // as named in configurations
  /// The name of the update rule. Optimizers with the same rule have the same kernel, state and
  /// cost.
  std::string_view rule;
  std::string_view summary;
  /// The buffers of the state, each with one element per element of the parameters.
  std::array<std::string_view, 2> states{};
  /// Whether the state is a momentum buffer.  Without momentum there is no state.
  bool momentum = false;
  /// Whether the update kernel reads the number of updates done, for a bias correction.
  bool counts_steps = false;
  /// The decay rates of the running averages in `states`.  If one rate applies to both averages,
  /// only the first is given.
  std::array<double, 2> decay_rates{};
  double epsilon = 0;
  /// Whether weight decay applies to matrices only, not to biases and normalizations.
  bool decays_matrices_alone = false;
  /// Whether each matrix has its own learning rate, computed from norms over all of its elements;
  /// biases and normalizations use the common learning rate.
  bool layerwise = false;
};

/// All optimizers.  A row has everything that executors must know about an optimizer except its
/// kernel (runtime/kernels/optimizers.cc) and the times of other frameworks' kernels
/// (data/engine_costs.toml).
///
/// sgd: Sutskever et al., ICML 2013.  adam: Kingma & Ba, ICLR 2015, arXiv:1412.6980.  adamw:
/// Loshchilov & Hutter, ICLR 2019, arXiv:1711.05101. adagrad: Duchi et al., JMLR 2011.  adadelta:
/// Zeiler, arXiv:1212.5701. rmsprop: Tieleman & Hinton, Coursera lecture 6.5, 2012.
///
/// lamb: You et al., ICLR 2020, arXiv:1904.00962, with bias correction and the constants of
/// NVIDIA's FusedLAMB (apex).  As in FusedLAMB and in MLPerf's reference, biases and normalizations
/// have neither decay nor rates of their own.  FusedLAMB's clipping of all gradients is
/// --clip-norm. lars: You et al., 2017, arXiv:1708.03888.  Its coefficient, its rate of 1 where a
/// norm is 0, and its exception for biases and normalizations are those of TensorFlow's
/// LARSOptimizer, which MLPerf's reference uses; the momentum is that of the paper and of apex's
/// LARC, a sum of gradients that are already scaled.
inline constexpr auto kOptimizers = std::to_array<Optimizer>({
    {.name = "sgd",
     .rule = "sgd",
     .summary = "with momentum or without",
     .states = {"momentum"},
     .momentum = true},
    {.name = "adam",
     .rule = "adam",
     .summary = "weight decay is part of the gradient",
     .states = {"exp_avg", "exp_avg_sq"},
     .counts_steps = true,
     .decay_rates = {0.9, 0.999},
     .epsilon = 1e-8},
    {.name = "adamw",
     .rule = "adamw",
     .summary = "adam whose weight decay is apart from the gradient",
     .states = {"exp_avg", "exp_avg_sq"},
     .counts_steps = true,
     .decay_rates = {0.9, 0.999},
     .epsilon = 1e-8},
    {.name = "bert-adamw",
     .rule = "adamw",
     .summary = "adamw with epsilon 1e-6 and without weight decay of biases and normalizations",
     .states = {"exp_avg", "exp_avg_sq"},
     .counts_steps = true,
     .decay_rates = {0.9, 0.999},
     .epsilon = 1e-6,
     .decays_matrices_alone = true},
    {.name = "rmsprop",
     .rule = "rmsprop",
     .summary = "alpha 0.99, without momentum, not centered",
     .states = {"square_avg"},
     .decay_rates = {0.99},
     .epsilon = 1e-8},
    {.name = "adagrad",
     .rule = "adagrad",
     .summary = "sums of squares, which start at zero",
     .states = {"sum"},
     .counts_steps = true,
     .epsilon = 1e-10},
    {.name = "adadelta",
     .rule = "adadelta",
     .summary = "rho 0.9; torch.optim's learning rate is 1",
     .states = {"square_avg", "acc_delta"},
     .decay_rates = {0.9},
     .epsilon = 1e-6},
    {.name = "lamb",
     .rule = "lamb",
     .summary = "adam with decay apart, each matrix's step scaled to the matrix's norm",
     .states = {"exp_avg", "exp_avg_sq"},
     .counts_steps = true,
     .decay_rates = {0.9, 0.999},
     .epsilon = 1e-6,
     .decays_matrices_alone = true,
     .layerwise = true},
    {.name = "lars",
     .rule = "lars",
     .summary = "sgd, each matrix's gradient scaled by the norms of both",
     .states = {"momentum"},
     .momentum = true,
     .decays_matrices_alone = true,
     .layerwise = true},
});

inline constexpr auto kOptimizerNames = [] {
  std::array<std::string_view, kOptimizers.size()> names{};
  std::ranges::transform(kOptimizers, names.begin(), &Optimizer::name);
  return names;
}();

/// Returns the names of all optimizers.
std::vector<std::string> optimizer_names();

/// The row of `name`; null if there is none.
const Optimizer* find_optimizer(std::string_view name);

/// The row of `name`.  Throws UsageError, which lists the known names, if there is none.
const Optimizer& optimizer_named(std::string_view name);

/// The update rule of `optimizer`; for an unknown name, the name itself.
std::string update_rule_of(const std::string& optimizer);

/// The properties of `optimizer`, with or without momentum, that a plan must know.  Throws
/// UsageError as optimizer_named().
OptimizerShape shape_of(std::string_view optimizer, bool momentum = true);

/// The names of the state's buffers.  Throws UsageError as optimizer_named().
std::vector<std::string_view> state_names(const OptimizerShape& optimizer);

}  // namespace paceline::plan
