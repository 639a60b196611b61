// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The step after which programs say a loss and norms, beside the last.
inline constexpr int kFifthStep = 5;

/// What trainings are compared by: a fact of a record, and its words.
struct TrainingQuantity {
  const char* name;
  const char* words;
  bool is_norm = false;  // of weights or updates; older records have none
};

/// Sizes first, then what training changes, from the first step to the last.
std::span<const TrainingQuantity> training_quantities();

/// Whether a network of the case is trained, by Paceline or by an adapter.
bool trains_network(const records::RunRecord& record);

/// The value of a quantity; absent where the record does not say it, and where Paceline's strategy
/// changes it by design.
std::optional<double> value_of(const records::RunRecord& record, const TrainingQuantity& quantity);

/// Whether equal programs would have equal values: parameters and FLOPs of equal networks, the
/// others of equal trainings.
bool asked_alike(const records::RunRecord& a, const records::RunRecord& b,
                 const TrainingQuantity& quantity);

/// How two values differ.
enum class Agreement {
  kAlike,
  kRounded,  // by no more than rounding may explain
  kOther     // the trainings are not the same
};

/// Compares the values of both, which were asked alike.
Agreement agreement(const records::RunRecord& mine, const records::RunRecord& theirs,
                    const TrainingQuantity& quantity);

/// Why the figures of two records are not comparable: one is an adapter's,
/// both were asked for the same training, and one trained another; nothing where they are.
std::optional<std::string> unequal_training(const records::RunRecord& base,
                                            const records::RunRecord& test);

/// The records whose figures are not comparable with those of the first column of their table of
/// frameworks, with the reason.
std::map<const records::RunRecord*, std::string> not_comparable(
    std::span<const records::RunRecord> records);

}  // namespace paceline::report
