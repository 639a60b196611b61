// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/framework_tables.h"

namespace paceline::report {
namespace {

constexpr double kMostScaling = 1.02;       // of the number of devices
constexpr double kSpeedUpTolerance = 1e-3;  // relative, beyond rounding
constexpr double kLeastOnANode = 0.5;       // efficiency
constexpr double kSpread = 0.03;            // coefficient of variation
constexpr const char* kRecipe[] = {"clipping",
                                   "loss_scaling",
                                   "layout",
                                   "data",
                                   "objective",
                                   "optimizer",
                                   "dali"};

class Validator {
 public:
  explicit Validator(const FrameworkTable& table) : table_(table) {}

  std::vector<Finding> run() {
    for (const FrameworkColumn& column : table_.columns) {
      own_recipe(column);
      scaling(column);
      runs(column);
      remarks(column);
    }
    recipes();
    machines();
    std::ranges::move(unequal_training(table_), std::back_inserter(findings_));
    return std::move(findings_);
  }

 private:
  void add(const std::string& column, std::string text, bool excludes = false) {
    findings_.push_back(
        {.column = column, .text = std::move(text), .excludes = excludes});
  }

  void own_recipe(const FrameworkColumn& column) {
    for (const char* name : kRecipe) {
      if (column.varied.contains(name)) {
        add(column.title,
            fmt::format(
                "its runs differ in {}: {}", name, column.facts.at(name)));
      }
    }
    if (column.varied.contains("framework_version")) {
      add(column.title,
          fmt::format("its runs are of several versions: {}",
                      column.facts.at("framework_version")));
    }
  }

  // Speed-ups as the number of devices grows.
  void scaling(const FrameworkColumn& column) {
    const FrameworkCell* before = nullptr;
    Devices where;
    for (const Devices& devices : table_.rows) {
      const auto found = column.cells.find(devices);
      if (found == column.cells.end() || !found->second.rate) {
        continue;
      }
      const FrameworkCell& cell = found->second;
      if (before != nullptr && cell.rate->value < before->rate->value) {
        add(column.title,
            fmt::format("throughput falls from {:.2f} on {} to {:.2f} on {}",
                        before->rate->value,
                        place_of(where),
                        cell.rate->value,
                        place_of(devices)));
      }
      before = &cell;
      where = devices;
      one_speed_up(column, devices);
      published_speed_up(column, devices);
    }
  }

  // A speed-up that its source printed beside the throughput.
  void published_speed_up(const FrameworkColumn& column,
                          const Devices& devices) {
    const auto times = column.speed_up(devices);
    const auto& facts = column.cells.at(devices).runs.front()->adapter;
    const auto printed = facts.find("published_speed_up");
    if (!times || printed == facts.end()) {
      return;
    }
    const std::string& text = printed->second;
    const std::size_t point = text.find('.');
    const auto decimals = static_cast<double>(
        point == std::string::npos ? 0 : text.size() - point - 1);
    const double rounding = 0.5 * std::pow(10, -decimals);
    const double value = std::strtod(text.c_str(), nullptr);
    if (!(std::abs(value - *times) <= rounding + kSpeedUpTolerance * *times)) {
      add(column.title,
          fmt::format("the published speed-up of {} on {} is not that of the "
                      "throughput beside it, which is {:.{}f}",
                      text,
                      place_of(devices),
                      *times,
                      std::max(2, static_cast<int>(decimals))));
    }
  }

  void one_speed_up(const FrameworkColumn& column, const Devices& devices) {
    const auto times = column.speed_up(devices);
    if (!times) {
      return;
    }
    if (*times > kMostScaling * devices.devices) {
      add(column.title,
          fmt::format("a speed-up of {:.2f} on {} devices cannot be: the "
                      "figures are not of one setting",
                      *times,
                      devices.devices),
          true);
    } else if (devices.nodes == 1 && devices.devices > 1 &&
               *times < kLeastOnANode * devices.devices) {
      add(column.title,
          fmt::format("a speed-up of {:.2f} on {} devices of one node, "
                      "less than half of linear; the figures do not tell the "
                      "cause",
                      *times,
                      devices.devices));
    }
  }

  void runs(const FrameworkColumn& column) {
    for (const auto& [devices, cell] : column.cells) {
      double sum = 0;
      double squares = 0;
      for (const records::RunRecord* run : cell.runs) {
        for (const auto& [check, held] : run->verified) {
          if (!held) {
            add(column.title,
                fmt::format("{} on {}: {} does not hold",
                            counted(devices.devices, "device"),
                            counted(devices.nodes, "node"),
                            check),
                true);
          }
        }
        const double seconds = window_s(*run);
        sum += seconds;
        squares += seconds * seconds;
      }
      const auto n = static_cast<double>(cell.runs.size());
      if (n < 2) {
        continue;
      }
      const double mean = sum / n;
      const double spread =
          std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean;
      if (spread > kSpread) {
        add(column.title,
            fmt::format("the {} runs on {} spread by {:.1f} % (standard "
                        "deviation over mean)",
                        cell.runs.size(),
                        place_of(devices),
                        100 * spread));
      }
    }
  }

  static double window_s(const records::RunRecord& run) {
    std::int64_t longest = 0;
    for (const records::RankSamples& rank : run.ranks) {
      longest = std::max(longest, rank.window_ns);
    }
    return static_cast<double>(longest) * 1e-9;
  }

  // What the source says of its own figures.
  void remarks(const FrameworkColumn& column) {
    std::set<std::string> remarked;
    for (const auto& [devices, cell] : column.cells) {
      for (const records::RunRecord* run : cell.runs) {
        const auto flags = run->adapter.find("flags");
        if (flags != run->adapter.end() &&
            remarked.insert(flags->second).second) {
          add(column.title,
              fmt::format("the source remarks on {}: {}",
                          place_of(devices),
                          flags->second));
        }
      }
    }
  }

  // "layout: NCHW (pytorch-ddp, paddle), NHWC (jax)"
  void recipes() {
    for (const char* name : kRecipe) {
      std::vector<std::pair<std::string, std::vector<std::string>>> values;
      for (const FrameworkColumn& column : table_.columns) {
        const auto fact = column.facts.find(name);
        if (fact == column.facts.end() || fact->second.empty()) {
          continue;
        }
        find_or_add(values, fact->second).push_back(column.title);
      }
      if (values.size() > 1) {
        std::vector<std::string> texts;
        for (const auto& [value, columns] : values) {
          texts.push_back(
              fmt::format("{} ({})", value, fmt::join(columns, ", ")));
        }
        add("",
            fmt::format(
                "the columns differ in {}: {}", name, fmt::join(texts, "; ")));
      }
    }
  }

  void machines() {
    std::set<std::string> names;
    for (const FrameworkColumn& column : table_.columns) {
      for (const auto& [devices, cell] : column.cells) {
        for (const records::RunRecord* run : cell.runs) {
          std::string name;
          for (const auto& host : run->environment.hosts) {
            name += host.host + records::fact_of(host.facts, "cpu_model");
          }
          names.insert(name);
        }
      }
    }
    if (names.size() > 1) {
      add("",
          fmt::format("its figures were measured on {} sets of machines",
                      names.size()));
    }
  }

  const FrameworkTable& table_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> findings(const FrameworkTable& table) {
  return Validator(table).run();
}

}  // namespace paceline::report
