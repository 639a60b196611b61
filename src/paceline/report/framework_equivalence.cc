// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/equal_training.h"
#include "paceline/report/framework_tables.h"

namespace paceline::report {
namespace {

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
        if (run_of(column, devices) != nullptr) {
          trained.push_back(&column);
        }
      }
      for (std::size_t i = 0; trained.size() > 1 && i < trained.size(); ++i) {
        compare(*trained[i], devices);
      }
    }
    for (const MissingQuantity& missing : missing_) {
      add(missing.column,
          fmt::format("not compared ({}): its {}. {}.", fmt::join(missing.places, ", "),
                      fmt::join(missing.quantities, ", "), missing.why));
    }
    return std::move(findings_);
  }

 private:
  void add(const std::string& column, std::string text) {
    findings_.push_back({.column = column, .text = std::move(text)});
  }

  void add_missing(const std::string& column, const std::string& why, const std::string& quantity,
                   const std::string& place) {
    auto missing = std::ranges::find_if(missing_, [&](const MissingQuantity& one) {
      return one.column == column && one.why == why;
    });
    if (missing == missing_.end()) {
      missing = missing_.insert(missing, {.column = column, .why = why});
    }
    add_once(missing->quantities, quantity);
    add_once(missing->places, place);
  }

  // The first of the column's runs on these devices, where a network is trained.
  static const records::RunRecord* run_of(const FrameworkColumn& column, const Devices& devices) {
    const auto cell = column.cells.find(devices);
    return cell == column.cells.end() || cell->second.runs.empty() ||
                   !trains_network(*cell->second.runs.front())
               ? nullptr
               : cell->second.runs.front();
  }

  // The first column that says it, and which `except` can be compared with.
  const FrameworkColumn* first_with(const TrainingQuantity& quantity, const FrameworkColumn& column,
                                    const Devices& devices, const FrameworkColumn* except) const {
    const records::RunRecord& mine = *run_of(column, devices);
    const auto found = std::ranges::find_if(table_.columns, [&](const FrameworkColumn& one) {
      const records::RunRecord* theirs = run_of(one, devices);
      return &one != except && theirs != nullptr && value_of(*theirs, quantity) &&
             asked_alike(*theirs, mine, quantity);
    });
    return found == table_.columns.end() ? nullptr : &*found;
  }

  // Each quantity against the first column that says it.
  void compare(const FrameworkColumn& column, const Devices& devices) {
    const records::RunRecord& mine = *run_of(column, devices);
    for (const TrainingQuantity& quantity : training_quantities()) {
      const FrameworkColumn* const other = first_with(quantity, column, devices, &column);
      const auto value = value_of(mine, quantity);
      // Norms are missed where another column has them.
      const bool expected = !quantity.is_norm || other != nullptr;
      if (!value) {
        if (expected) {
          add_missing(column.title, why_not(quantity, column, devices), quantity.words,
                      place_of(devices));
        }
        continue;
      }
      if (other == nullptr) {
        if (expected) {
          add_missing(column.title, "No other column says this of the same settings",
                      quantity.words, place_of(devices));
        }
        continue;
      }
      const FrameworkColumn& reference = *first_with(quantity, column, devices, nullptr);
      const records::RunRecord& theirs = *run_of(reference, devices);
      const Agreement found = agreement(mine, theirs, quantity);
      if (found == Agreement::kAlike) {
        continue;
      }
      const std::string differs =
          fmt::format("on {} its {} is {}, {}'s {}", place_of(devices), quantity.words, *value,
                      reference.title, *value_of(theirs, quantity));
      if (found == Agreement::kRounded) {
        add(column.title,
            fmt::format("{}, which the rounding of {} may explain", differs, table_.dtype));
        continue;
      }
      findings_.push_back({.column = column.title,
                           .text = "not comparable: " + differs,
                           .excludes = true,
                           .devices = devices});
      return;
    }
  }

  static std::string why_not(const TrainingQuantity& quantity, const FrameworkColumn& column,
                             const Devices& devices) {
    const records::Configuration& c = column.cells.at(devices).runs.front()->configuration;
    const std::string_view name = quantity.name;
    const bool of_fifth = name.ends_with("_fifth");
    const int steps = c.warmup + c.steps;
    if (of_fifth && steps < kFifthStep) {
      return fmt::format("It took {}", counted(steps, "step"));
    }
    if (name == "loss_fifth" && c.device == "cuda" && c.warmup < kFifthStep) {
      return fmt::format(
          "On a GPU this loss is read in a warm-up of at least {} steps, and the case has a "
          "warm-up of {}",
          kFifthStep, c.warmup);
    }
    if (quantity.is_norm && of_fifth) {
      return "Other programs take this norm at the end of a warm-up of at least five steps, and "
             "Paceline takes norms after the last step alone";
    }
    return "It does not say this";
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
