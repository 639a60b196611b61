// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/equal_training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/case/same.h"
#include "paceline/report/cases.h"
#include "paceline/strategies/strategy.h"

namespace paceline::report {
namespace {

using records::RunRecord;

constexpr int kFifthStep = 5;

/// A quantity by which trainings are compared: its key in the record, and the words for it in
/// messages.
struct TrainingQuantity {
  const char* name;
  const char* words;
  // Follows from steps, which amplify rounding: not compared in bf16 and amp.
  bool depends_on_steps = false;
};

// Sizes of the network come first, then losses and norms, from the first step to the last.
constexpr auto kQuantities = std::to_array<TrainingQuantity>({
    {"parameters", "number of parameters"},
    {"flops", "FLOPs of a sample's forward pass"},
    {"loss_first", "loss of the first step"},
    {"loss_fifth", "loss of the fifth step", true},
    {"update_norm_fifth", "norm of updates in five steps", true},
    {"weights_norm_fifth", "norm of weights after five steps", true},
    {"loss", "loss of the last step", true},
    {"update_norm_last", "norm of updates in all steps", true},
    {"weights_norm_last", "norm of weights after the last step", true},
});

constexpr double kLossTolerance = 1e-3;  // relative to the loss
// The fraction of the first loss that is added to the tolerance, because the rounding error of a
// loss near zero is that of a larger loss.
constexpr double kShareOfFirstLoss = 1e-5;
// Adjacent bf16 values at a loss are 2^-8 to 2^-7 of it apart, and programs round in different
// places.  amp is at least as precise as bf16.
constexpr double kReducedLossTolerance = 1.0 / 64;

// Steps amplify rounding.  Kernels that round differently caused differences of up to 3.5e-4 in 15
// steps of ResNet-50.
constexpr double kUpdateTolerance = 1e-3;  // relative to the norm, in five steps
constexpr double kAllStepsFactor = 5;      // factor on kUpdateTolerance for all steps
// The change of the weights' norm that rounding may cause, as a fraction of the norm of their
// updates.
constexpr double kShareOfUpdate = 1e-5;
constexpr double kNormTolerance = 1e-8;  // relative to the norm
// The rounding error in fp32 of the weight decay factor 1 - learning rate * decay.
constexpr double kFactorRounding = 6e-8;

std::optional<double> number(const RunRecord& record, const std::string& name) {
  const auto found = record.adapter.find(name);
  return found == record.adapter.end() || found->second.empty()
             ? std::nullopt
             : std::optional(std::strtod(found->second.c_str(), nullptr));
}

bool is_paceline_record(const RunRecord& record) {
  return record.configuration.framework.empty() && record.configuration.command.empty();
}

// Whether Paceline's strategy changes by design what is trained.  A strategy that this version does
// not have counts as one that does.
bool changes_training(const cases::Case& c) {
  if (c.strategy == "none") {
    return c.ranks > 1;
  }
  try {
    return strategies::strategy_of(c).guarantee() != strategies::Guarantee::kExact;
  } catch (const UsageError&) {
    return true;
  }
}

bool has_reduced_precision(const cases::Case& c) { return c.dtype == "bf16" || c.dtype == "amp"; }

bool ends_in(std::string_view name, std::string_view end) { return name.ends_with(end); }

bool is_after_last_step(std::string_view name) { return name == "loss" || ends_in(name, "_last"); }

// Returns the fraction of the weights that weight decay alone removes in `steps` steps.  Returns 0
// for optimizers that add the decay to gradients and then rescale them.
double decayed_fraction(const cases::Case& c, int steps) {
  const double each = c.learning_rate * c.weight_decay;
  if (c.optimizer == "sgd") {
    double velocity = 0;
    double sum = 0;
    for (int step = 0; step < steps; ++step) {
      velocity = c.momentum * velocity + 1;
      sum += velocity;
    }
    return each * sum;
  }
  return c.optimizer == "adamw" || c.optimizer == "bert-adamw" ? each * steps : 0;
}

// Returns the tolerance for the norm of the weights, relative to the norm: how much it may differ
// between equal trainings.
double weights_tolerance(const RunRecord& record, bool last, double norm) {
  const cases::Case& c = record.configuration;
  const int steps = last ? c.warmup + c.steps : kFifthStep;
  const double update = number(record, last ? "update_norm_last" : "update_norm_fifth").value_or(0);
  return kNormTolerance + kShareOfUpdate * update / std::max(norm, 1e-300) +
         std::min(decayed_fraction(c, steps) / 2, kFactorRounding * steps);
}

// Returns the largest absolute difference that two values of a quantity may have.
double tolerance_of(const RunRecord& theirs, std::string_view name, double value) {
  const double size = std::abs(value);
  if (name == "parameters" || name == "flops") {
    return 0;
  }
  const bool last = is_after_last_step(name);
  if (name.starts_with("loss")) {
    const double relative = has_reduced_precision(theirs.configuration)
                                ? kReducedLossTolerance
                                : kLossTolerance * (last ? 2 : 1);
    const double first = number(theirs, "loss_first").value_or(0);
    return std::max(relative * size, 1e-12) +
           (name == "loss_first" ? 0 : (last ? 10 : 1) * kShareOfFirstLoss * std::abs(first));
  }
  if (name.starts_with("update")) {
    return size * kUpdateTolerance * (last ? kAllStepsFactor : 1);
  }
  return size * weights_tolerance(theirs, last, size);
}

// Whether the record comes from training a network, by Paceline or by an adapter.
bool trains_network(const RunRecord& record) {
  return record.source != records::Source::kImported &&
         record.source != records::Source::kPredicted && record.configuration.command.empty() &&
         record.configuration.replay.empty();
}

// Returns the record's value of a quantity.  Returns nothing if the record does not state it or if
// it must not be compared.
std::optional<double> value_of(const RunRecord& record, const TrainingQuantity& quantity) {
  const std::string_view name = quantity.name;
  const bool changes = name != "parameters" && name != "flops" && name != "loss_first";
  if ((changes && is_paceline_record(record) && changes_training(record.configuration)) ||
      (quantity.depends_on_steps && has_reduced_precision(record.configuration))) {
    return std::nullopt;
  }
  return number(record, quantity.name);
}

// Whether two correct programs must give equal values of the quantity for these two records.  For
// parameters and FLOPs the two networks must be equal; for other quantities also the settings of
// training.
bool must_give_equal_values(const RunRecord& a, const RunRecord& b,
                            const TrainingQuantity& quantity) {
  const cases::Case& x = a.configuration;
  const cases::Case& y = b.configuration;
  const std::string_view name = quantity.name;
  if (!cases::equal_in(x, y,
                       {&cases::Case::model, &cases::Case::image_size, &cases::Case::classes,
                        &cases::Case::sequence_length})) {
    return false;
  }
  if (name == "parameters" || name == "flops") {
    return true;
  }
  return cases::equal_in(x, y,
                         {cases::Part::kTraining, &cases::Case::ranks, &cases::Case::dtype,
                          &cases::Case::start}) &&
         (!is_after_last_step(name) || x.warmup + x.steps == y.warmup + y.steps);
}

/// The values of a quantity that should be equal in two trainings.
struct ComparedValues {
  double mine, theirs;
  bool differ;
};

// Returns the two records' values of `quantity`, or nothing if the records cannot be compared by
// it.
std::optional<ComparedValues> compared(const RunRecord& mine, const RunRecord& theirs,
                                       const TrainingQuantity& quantity) {
  const auto value = value_of(mine, quantity);
  const auto other = value ? value_of(theirs, quantity) : std::nullopt;
  if (!other || !must_give_equal_values(mine, theirs, quantity)) {
    return std::nullopt;
  }
  return ComparedValues{
      *value, *other, !(std::abs(*value - *other) <= tolerance_of(theirs, quantity.name, *other))};
}

// Returns the first run of the case that succeeded, if the case trains a network; else null.
const RunRecord* trained_run(const CaseRecords& one) {
  const auto runs = one.measured();
  return runs.empty() || !trains_network(*runs.front()) ? nullptr : runs.front();
}

// Compares each quantity of a run with that of the first case that states the quantity.  Returns a
// text on the first difference.
std::optional<std::string> difference_from_first(const RunRecord& mine,
                                                 const std::vector<CaseRecords>& all) {
  for (const TrainingQuantity& quantity : kQuantities) {
    for (const CaseRecords& other : all) {
      const RunRecord* theirs = trained_run(other);
      if (theirs == nullptr || theirs->experiment != mine.experiment) {
        continue;
      }
      const auto values = compared(mine, *theirs, quantity);
      if (values && values->differ) {
        const cases::Case& c = theirs->configuration;
        return fmt::format("its {} is {}, {}'s {}", quantity.words, values->mine,
                           c.label.empty() ? c.strategy : c.label, values->theirs);
      }
      if (values) {
        break;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unequal_training(const RunRecord& base, const RunRecord& test) {
  if (!trains_network(base) || !trains_network(test) ||
      (is_paceline_record(base) && is_paceline_record(test))) {
    return std::nullopt;
  }
  for (const TrainingQuantity& quantity : kQuantities) {
    const auto values = compared(test, base, quantity);
    if (values && values->differ) {
      return fmt::format("the {} is {} in the base, {} in the test", quantity.words, values->theirs,
                         values->mine);
    }
  }
  return std::nullopt;
}

std::map<const RunRecord*, std::string> not_comparable(std::span<const RunRecord> records) {
  std::map<const RunRecord*, std::string> found;
  if (std::ranges::all_of(records, is_paceline_record)) {
    return found;
  }
  const std::vector<CaseRecords> all = group_cases(records);
  for (const CaseRecords& one : all) {
    const RunRecord* mine = trained_run(one);
    const auto reason = mine == nullptr ? std::nullopt : difference_from_first(*mine, all);
    for (const RunRecord* run : one.runs) {
      if (reason) {
        found.emplace(run, *reason);
      }
    }
  }
  return found;
}

}  // namespace paceline::report
