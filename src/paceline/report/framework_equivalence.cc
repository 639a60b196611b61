// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/framework_tables.h"

namespace paceline::report {
namespace {

constexpr double kLossTolerance = 1e-3;  // relative
// Neighbors of a bf16 loss are 2^-8 to 2^-7 of it apart, and programs round in
// other places.  amp is bf16 or finer.
constexpr double kReducedLossTolerance = 1.0 / 64;
constexpr const char* kLossFifth = "loss_fifth";
constexpr int kFifth = 5;

// Whether equal programs would have equal values in both columns: parameters
// and FLOPs of equal networks, losses of equal trainings.
bool asked_alike(const FrameworkColumn& a,
                 const FrameworkColumn& b,
                 const Devices& devices,
                 std::string_view quantity) {
  const auto asked = [&](const FrameworkColumn& one) -> const auto& {
    return one.cells.at(devices).runs.front()->configuration;
  };
  const auto network = [](const records::Configuration& c) {
    return std::tie(c.image_size, c.classes, c.sequence_length);
  };
  const auto training = [](const records::Configuration& c) {
    return std::tie(c.batch_size,
                    c.accumulate,
                    c.optimizer,
                    c.learning_rate,
                    c.momentum,
                    c.weight_decay,
                    c.clip_norm,
                    c.data,
                    c.seed,
                    c.start);
  };
  return network(asked(a)) == network(asked(b)) &&
         (!quantity.starts_with("loss") ||
          training(asked(a)) == training(asked(b)));
}

// What a column does not say, why, and on which devices.
struct MissingQuantity {
  std::string column, why;
  std::vector<std::string> quantities{}, places{};
};

class TrainingEquivalence {
 public:
  explicit TrainingEquivalence(const FrameworkTable& table) : table_(table) {}

  std::vector<Finding> run() {
    for (const Devices& devices : table_.rows) {
      std::vector<const FrameworkColumn*> trained;
      for (const FrameworkColumn& column : table_.columns) {
        if (trains(column, devices)) {
          trained.push_back(&column);
        }
      }
      for (std::size_t i = 0; trained.size() > 1 && i < trained.size(); ++i) {
        compare(*trained[i], devices);
      }
    }
    for (const MissingQuantity& missing : missing_) {
      add(missing.column,
          fmt::format("not compared: its {}, {} ({})",
                      fmt::join(missing.quantities, ", "),
                      missing.why,
                      fmt::join(missing.places, ", ")));
    }
    return std::move(findings_);
  }

 private:
  void add(const std::string& column, std::string text, bool excludes = false) {
    findings_.push_back({column, std::move(text), excludes});
  }

  void add_missing(const std::string& column,
                   const std::string& why,
                   const std::string& quantity,
                   const std::string& place) {
    auto missing =
        std::ranges::find_if(missing_, [&](const MissingQuantity& one) {
          return one.column == column && one.why == why;
        });
    if (missing == missing_.end()) {
      missing = missing_.insert(missing, {.column = column, .why = why});
    }
    add_once(missing->quantities, quantity);
    add_once(missing->places, place);
  }

  // Whether a network of the case is trained, by us or by an adapter.
  static bool trains(const FrameworkColumn& column, const Devices& devices) {
    const auto cell = column.cells.find(devices);
    if (cell == column.cells.end() || cell->second.runs.empty()) {
      return false;
    }
    const records::RunRecord& run = *cell->second.runs.front();
    return run.source != records::Source::kImported &&
           run.configuration.command.empty() &&
           run.configuration.replay.empty();
  }

  static std::optional<double> value_of(const FrameworkColumn& column,
                                        const Devices& devices,
                                        const std::string& name) {
    if (!trains(column, devices)) {
      return std::nullopt;
    }
    const auto& facts = column.cells.at(devices).runs.front()->adapter;
    const auto found = facts.find(name);
    return found == facts.end()
               ? std::nullopt
               : std::optional(std::strtod(found->second.c_str(), nullptr));
  }

  const FrameworkColumn* first_with(const std::string& name,
                                    const FrameworkColumn& column,
                                    const Devices& devices,
                                    bool other) const {
    const auto found =
        std::ranges::find_if(table_.columns, [&](const FrameworkColumn& one) {
          return !(other && &one == &column) &&
                 value_of(one, devices, name).has_value() &&
                 asked_alike(one, column, devices, name);
        });
    return found == table_.columns.end() ? nullptr : &*found;
  }

  // Each quantity against the first column that says it.
  void compare(const FrameworkColumn& column, const Devices& devices) {
    const bool reduced = table_.dtype == "bf16" || table_.dtype == "amp";
    const double of_loss = reduced ? kReducedLossTolerance : kLossTolerance;
    for (const auto& [name, words, tolerance] :
         {std::tuple{"parameters", "number of parameters", 0.0},
          std::tuple{"flops", "FLOPs of a sample's forward pass", 0.0},
          std::tuple{"loss_first", "loss of the first step", of_loss},
          std::tuple{kLossFifth, "loss of the fifth step", of_loss}}) {
      const auto mine = value_of(column, devices, name);
      if (!mine) {
        add_missing(column.title,
                    why_not(name, column, devices),
                    words,
                    place_of(devices));
        continue;
      }
      const FrameworkColumn& reference =
          *first_with(name, column, devices, false);
      if (first_with(name, column, devices, true) == nullptr) {
        add_missing(column.title,
                    "which no other column has with its settings",
                    words,
                    place_of(devices));
      }
      const double theirs = *value_of(reference, devices, name);
      const double apart =
          std::abs(*mine - theirs) / std::max(std::abs(theirs), 1e-12);
      if (apart <= tolerance) {
        continue;
      }
      const std::string differs = fmt::format("on {} its {} is {}, {}'s {}",
                                              place_of(devices),
                                              words,
                                              *mine,
                                              reference.title,
                                              theirs);
      // Updates enlarge what the first step rounded.
      if (reduced && std::string_view(name) == kLossFifth) {
        add(column.title,
            fmt::format("{}, which the rounding of {} may explain",
                        differs,
                        table_.dtype));
        continue;
      }
      add(column.title, "not comparable: " + differs, true);
      return;
    }
  }

  static std::string why_not(std::string_view name,
                             const FrameworkColumn& column,
                             const Devices& devices) {
    const records::Configuration& c =
        column.cells.at(devices).runs.front()->configuration;
    const int steps = c.warmup + c.steps;
    if (name == kLossFifth && steps < kFifth) {
      return fmt::format("because it took {}", counted(steps, "step"));
    }
    if (name == kLossFifth && c.device == "cuda" && c.warmup < kFifth) {
      return fmt::format(
          "which a GPU says of a warm-up of {} steps; this one had {}",
          kFifth,
          c.warmup);
    }
    return "which it does not say";
  }

  const FrameworkTable& table_;
  std::vector<Finding> findings_;
  std::vector<MissingQuantity> missing_;
};

}  // namespace

std::string place_of(const Devices& devices) {
  return fmt::format("{}n{}d", devices.nodes, devices.devices);
}

std::vector<Finding> unequal_training(const FrameworkTable& table) {
  return TrainingEquivalence(table).run();
}

}  // namespace paceline::report
