// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/link_curves.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/same.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/records/json.h"
#include "paceline/report/text.h"

namespace paceline::report {
namespace {

constexpr std::size_t kFewestRates = 3;
constexpr std::size_t kFewestStrategies = 2;

// What makes two cases points of one comparison, but for the links' latencies.
std::string key_of(const CaseSummary& row) {
  using C = records::Configuration;
  return fmt::format("{} {} {}", records::name_of(row.source), row.experiment,
                     cases::key_but(row.configuration, {&C::strategy, &C::link, &C::stretch}));
}

void keep_names_apart(LinkCurves& curves) {
  std::map<std::string, int> lines;
  for (const LinkCurve& line : curves.lines) {
    ++lines[line.name];
  }
  for (LinkCurve& line : curves.lines) {
    if (lines[line.name] > 1) {
      line.name = line.strategy;
    }
  }
}

// The latencies that the links of each rate have, by the key of their cases.
class Latencies {
 public:
  void add(const std::string& key, const cluster::LinkSpec& link) {
    auto& of_rate = all_[key][gbit_per_s(link)];
    of_rate.insert(link.latency_ns);
    if (of_rate.size() > 1) {
      several_.insert(key);
    }
  }
  // The key, with the latency where links of one rate have several.
  std::string full_key(const std::string& key, const cluster::LinkSpec& link) const {
    return several_.contains(key) ? fmt::format("{} {}", key, link.latency_ns) : key;
  }

 private:
  std::map<std::string, std::map<double, std::set<std::int64_t>>> all_;
  std::set<std::string> several_;
};

void add_point(LinkCurve& line, const LinkPoint& point) {
  const auto place =
      std::ranges::lower_bound(line.points, point.gbit_per_s, {}, &LinkPoint::gbit_per_s);
  if (place == line.points.end() || place->gbit_per_s > point.gbit_per_s) {
    line.points.insert(place, point);
    return;
  }
  const auto trust = [](const LinkPoint& one) {
    return std::pair(one.valid(), one.row->configuration.stretch);
  };
  if (trust(point) > trust(*place)) {
    *place = point;
  }
}

void add_row(LinkCurves& curves, const CaseSummary& row, double gbit_per_s) {
  const std::string& strategy = row.configuration.strategy;
  auto line = std::ranges::find(curves.lines, strategy, &LinkCurve::strategy);
  if (line == curves.lines.end()) {
    const std::string& label = row.configuration.label;
    line = curves.lines.insert(line, {strategy, label.empty() ? strategy : label, {}});
  }
  add_point(*line, {gbit_per_s, &row});
}

const LinkCurve* fastest_at(const LinkCurves& curves, double rate) {
  const LinkCurve* best = nullptr;
  for (const LinkCurve& line : curves.lines) {
    const LinkPoint* point = line.at(rate);
    if (point != nullptr && (best == nullptr || point->step_s() < best->at(rate)->step_s())) {
      best = &line;
    }
  }
  return best;
}

// Whether a case that is INVALID at this rate was faster than the fastest: its link may have been
// slower than named, so that it may be the fastest.
bool is_doubted(const LinkCurves& curves, double rate) {
  const LinkCurve* best = fastest_at(curves, rate);
  return std::ranges::any_of(curves.lines, [&](const LinkCurve& line) {
    const auto point = std::ranges::find(line.points, rate, &LinkPoint::gbit_per_s);
    return point != line.points.end() && !point->valid() &&
           (best == nullptr || point->step_s() < best->at(rate)->step_s());
  });
}

std::optional<bool> lie_apart(const Crossover& crossover) {
  for (const double rate : {crossover.low, crossover.high}) {
    const LinkPoint* one = crossover.below->at(rate);
    const LinkPoint* other = crossover.above->at(rate);
    if (one == nullptr || other == nullptr) {
      return std::nullopt;
    }
    const auto& a = one->row->step_s->median.interval;
    const auto& b = other->row->step_s->median.interval;
    if (!a || !b) {
      return std::nullopt;
    }
    if (a->low <= b->high && b->low <= a->high) {
      return false;
    }
  }
  return true;
}

/// Two neighboring rates; `along` is 0 at the lower and 1 at the higher.
struct Gap {
  double low = 0;
  double high = 0;

  bool spanned_by(const LinkCurve& line) const {
    return line.at(low) != nullptr && line.at(high) != nullptr;
  }
  double rate(double along) const { return low * std::pow(high / low, along); }
  // Where `other` begins to be faster than `now`; nothing where it does not.
  std::optional<double> overtaken(const LinkCurve& now, const LinkCurve& other) const {
    const double ahead = std::max(0.0, other.at(low)->step_s() - now.at(low)->step_s());
    const double behind = now.at(high)->step_s() - other.at(high)->step_s();
    return behind > 0 ? std::optional(ahead / (ahead + behind)) : std::nullopt;
  }
};

// The line that is the first to be faster than `now` in the gap, the steepest of those that are so
// at once.
std::pair<const LinkCurve*, double> next_fastest(const LinkCurves& curves, const Gap& gap,
                                                 const LinkCurve& now) {
  const LinkCurve* next = nullptr;
  double first = 0;
  for (const LinkCurve& line : curves.lines) {
    const auto along = gap.spanned_by(line) ? gap.overtaken(now, line) : std::nullopt;
    const auto end = [&](const LinkCurve& one) { return one.at(gap.high)->step_s(); };
    if (along && (next == nullptr || std::pair(*along, end(line)) < std::pair(first, end(*next)))) {
      next = &line;
      first = *along;
    }
  }
  return {next, first};
}

void add_crossovers(const LinkCurves& curves, const Gap& gap, std::vector<Crossover>& crossovers) {
  const LinkCurve* now = fastest_at(curves, gap.low);
  const LinkCurve* last = fastest_at(curves, gap.high);
  if (now == nullptr || last == nullptr || now == last) {
    return;
  }
  const auto add = [&](const LinkCurve* next, std::optional<double> rate) {
    Crossover& crossover =
        crossovers.emplace_back(Crossover{gap.low, gap.high, now, next, rate, {}});
    crossover.apart = lie_apart(crossover);
  };
  if (!gap.spanned_by(*now) || !gap.spanned_by(*last)) {
    add(last, std::nullopt);
    return;
  }
  // Every change is to a line that is faster at the end, so it comes to one.
  for (auto [next, along] = next_fastest(curves, gap, *now); next != nullptr;
       std::tie(next, along) = next_fastest(curves, gap, *now)) {
    add(next, gap.rate(along));
    now = next;
  }
}

std::string step_at(const LinkCurve& line, double rate, const ValueFormat& format) {
  const LinkPoint* point = line.at(rate);
  return point == nullptr ? std::string(kMissing) : format.show(point->step_s());
}

std::string yes_or_no(std::optional<bool> answer) {
  if (!answer) {
    return std::string(kMissing);
  }
  return *answer ? "yes" : "no";
}

}  // namespace

const LinkPoint* LinkCurve::at(double gbit_per_s) const {
  const auto place = std::ranges::find(points, gbit_per_s, &LinkPoint::gbit_per_s);
  return place != points.end() && place->valid() ? &*place : nullptr;
}

std::optional<cluster::LinkSpec> link_of(const records::Configuration& configuration) {
  if (configuration.link.empty()) {
    return std::nullopt;
  }
  try {
    return cluster::parse_link("link", configuration.link);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

double gbit_per_s(const cluster::LinkSpec& link) { return link.bytes_per_s * 8e-9; }

std::vector<LinkCurves> link_curves(const GroupSummary& group) {
  std::vector<std::pair<const CaseSummary*, cluster::LinkSpec>> cases;
  Latencies latencies;
  for (const CaseSummary& row : group.rows) {
    const auto link = link_of(row.configuration);
    if (!row.failed() && link) {
      cases.emplace_back(&row, *link);
      latencies.add(key_of(row), *link);
    }
  }
  std::vector<std::pair<std::string, LinkCurves>> groups;
  for (const auto& [row, link] : cases) {
    LinkCurves& curves = find_or_add(groups, latencies.full_key(key_of(*row), link));
    curves.first = curves.first == nullptr ? row : curves.first;
    curves.latencies_ns.insert(link.latency_ns);
    add_row(curves, *row, gbit_per_s(link));
  }
  std::vector<LinkCurves> result;
  for (auto& [key, curves] : groups) {
    std::set<double> rates;
    for (const LinkCurve& line : curves.lines) {
      for (const LinkPoint& point : line.points) {
        rates.insert(point.gbit_per_s);
      }
    }
    if (rates.size() >= kFewestRates && curves.lines.size() >= kFewestStrategies) {
      curves.rates.assign(rates.begin(), rates.end());
      keep_names_apart(curves);
      result.push_back(std::move(curves));
    }
  }
  return result;
}

std::vector<Crossover> crossovers_of(const LinkCurves& curves) {
  std::vector<Crossover> crossovers;
  // A rate without a valid case has no fastest strategy and is passed over.
  std::vector<double> rates;
  std::ranges::copy_if(curves.rates, std::back_inserter(rates),
                       [&](double r) { return fastest_at(curves, r) != nullptr; });
  for (std::size_t i = 1; i < rates.size(); ++i) {
    add_crossovers(curves, {rates[i - 1], rates[i]}, crossovers);
  }
  return crossovers;
}

std::string describe(const LinkCurves& curves) {
  const records::Configuration& c = curves.first->configuration;
  std::string text = fmt::format("{}, batch {} per rank, {} ranks", c.model, c.batch_size, c.ranks);
  if (curves.first->source != records::Source::kMeasured) {
    text += fmt::format(", {}", records::name_of(curves.first->source));
  }
  const auto us = [](std::int64_t ns) {
    return fmt::format("{:g}", static_cast<double>(ns) * 1e-3);
  };
  const auto& latencies = curves.latencies_ns;
  text += ", latency " + us(*latencies.begin());
  if (latencies.size() > 1) {
    text += " to " + us(*latencies.rbegin());
  }
  return printable(text + " us");
}

namespace {

std::string crossover_text(const LinkCurves& curves) {
  if (!crossovers_of(curves).empty()) {
    return "The table names where the fastest strategy changes: the two measured links between "
           "which it does, both strategies' median steps at the slower and the faster of them, and "
           "the rate at which the lines cross. That rate is interpolated, by straight lines over "
           "the logarithm of the rate through medians; nothing was measured there. Where the "
           "intervals are not apart at both links, the change may be noise.";
  }
  for (const double rate : curves.rates) {
    if (const LinkCurve* best = fastest_at(curves, rate)) {
      return printable(fmt::format(
          "There is no crossover: {} is the fastest at every link with a valid case.", best->name));
    }
  }
  return "No case is valid, so none is the fastest.";
}

}  // namespace

Table crossover_table(const LinkCurves& curves, const ValueFormat& format) {
  const std::string step = fmt::format("step time, {}", format.unit);
  Table table;
  table.title = "Where the fastest strategy changes: " + describe(curves);
  table.columns = {{.name = "between, Gbit/s", .align = Align::kLeft},
                   {"strategy", "fastest below"},
                   {step, "fastest below"},
                   {"strategy", "fastest above"},
                   {step, "fastest above"},
                   {"at about, Gbit/s", "lines cross"},
                   {"intervals apart"}};
  table.text = crossover_text(curves);
  const auto steps = [&](const LinkCurve& line, const Crossover& crossover) {
    return fmt::format("{}; {}", step_at(line, crossover.low, format),
                       step_at(line, crossover.high, format));
  };
  std::string last_doubted;
  for (const Crossover& crossover : crossovers_of(curves)) {
    const std::string between = fmt::format("{:.4g} and {:.4g}", crossover.low, crossover.high);
    if (is_doubted(curves, crossover.low) || is_doubted(curves, crossover.high)) {
      if (between != last_doubted) {
        const std::string none(kMissing);
        table.rows.push_back({.cells = {between, "not known: an INVALID case was faster", none,
                                        none, none, none, none}});
        last_doubted = between;
      }
      continue;
    }
    table.rows.push_back(
        {.cells = {between, printable(crossover.below->name), steps(*crossover.below, crossover),
                   printable(crossover.above->name), steps(*crossover.above, crossover),
                   crossover.gbit_per_s ? fmt::format("{:.3g}", *crossover.gbit_per_s)
                                        : std::string(kMissing),
                   yes_or_no(crossover.apart)}});
  }
  return table;
}

}  // namespace paceline::report
