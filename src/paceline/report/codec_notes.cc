// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "paceline/case/same.h"
#include "paceline/report/cases.h"
#include "paceline/report/link_curves.h"
#include "paceline/report/summary_notes.h"
#include "paceline/report/text.h"
#include "paceline/report/value_format.h"
#include "paceline/strategies/strategy.h"

namespace paceline::report {
namespace {

struct Plain {
  std::string strategy;  // without its codec
  bool coded = false;    // it has one
};

std::optional<Plain> plain_of(const records::Configuration& c) {
  const auto spec = known_strategy(c);
  return spec ? std::optional(Plain{
                    spec->without_codec().text(),
                    spec->codec.row != nullptr && spec->codec.row != &strategies::codecs().front()})
              : std::nullopt;
}

// The row that differs from this one in the codec alone.
const CaseSummary* plain_case(const std::vector<CaseSummary>& cases, const CaseSummary& one,
                              const std::string& strategy) {
  const auto found = std::ranges::find_if(cases, [&](const CaseSummary& other) {
    const auto plain = plain_of(other.configuration);
    return plain && !plain->coded && plain->strategy == strategy &&
           cases::same_but(one.configuration, other.configuration,
                           {&records::Configuration::strategy});
  });
  return found == cases.end() ? nullptr : &*found;
}

// Bits/s, as link rates are said.
std::string link_rate_text(double bits_per_s) {
  return bits_per_s >= 1e9 ? fmt::format("{:.3g} Gbit/s", bits_per_s * 1e-9)
                           : fmt::format("{:.3g} Mbit/s", bits_per_s * 1e-6);
}

// Per rank and step, as measured where it was.
std::optional<std::int64_t> sent_bytes(const CaseSummary& one) {
  return one.wire_bytes_per_step ? one.wire_bytes_per_step : one.planned_wire_bytes_per_step;
}

// Where the case's link lies against this rate; empty where it has none.
std::string at_the_link(const CaseSummary& one, double break_even) {
  const auto link = link_of(one.configuration);
  if (!link || !one.valid()) {
    return "";
  }
  const double rate = gbit_per_s(*link) * 1e9;
  return fmt::format(", {} the link's {}: it {} here, overlap not counted",
                     rate < break_even ? "above" : "not above", link_rate_text(rate),
                     rate < break_even ? "pays" : "does not pay");
}

std::string coding_text(const CaseSummary& one) {
  const records::Coding& coding = *one.coding;
  const auto sent = sent_bytes(one);
  std::string text =
      fmt::format("coding {:.3g} ms a step", static_cast<double>(coding.ns_per_step) * 1e-6);
  if (!sent) {
    return text;
  }
  text += fmt::format(", {} sent in place of {}; ", format_bytes(*sent),
                      format_bytes(coding.plain_bytes_per_step));
  const std::optional<double> rate = break_even_bits_per_s(one);
  if (!rate) {
    return text + "it saves no bytes among so many ranks";
  }
  return text + (std::isinf(*rate)
                     ? "it saves time on every link"
                     : "break-even bandwidth " + link_rate_text(*rate) + at_the_link(one, *rate));
}

// Both median steps, overlap included; empty where one is missing.
std::string steps_text(const CaseSummary& one, const CaseSummary* plain) {
  if (one.failed() || plain == nullptr || plain->failed()) {
    return "";
  }
  const double with = one.step_s->median.value;
  const double without = plain->step_s->median.value;
  const ValueFormat time = time_format(std::min(with, without));
  return fmt::format("; step {} {}, without the codec {} {}", time.show(with), time.unit,
                     time.show(without), time.unit);
}

}  // namespace

std::optional<double> break_even_bits_per_s(const CaseSummary& one) {
  const auto sent = sent_bytes(one);
  if (!one.coding || !sent || one.coding->plain_bytes_per_step <= *sent) {
    return std::nullopt;
  }
  if (one.coding->ns_per_step == 0) {
    return std::numeric_limits<double>::infinity();
  }
  return 8e9 * static_cast<double>(one.coding->plain_bytes_per_step - *sent) /
         static_cast<double>(one.coding->ns_per_step);
}

std::vector<std::string> codec_notes(const std::vector<CaseSummary>& cases) {
  std::vector<std::string> notes;
  for (const CaseSummary& one : cases) {
    const auto plain_strategy = plain_of(one.configuration);
    if (!one.coding || !plain_strategy) {
      continue;
    }
    const CaseSummary* plain = plain_case(cases, one, plain_strategy->strategy);
    std::string text =
        fmt::format("'{}': {}{}", one.label, coding_text(one), steps_text(one, plain));
    if (one.last_loss) {
      text += fmt::format("; last loss {:.4g}", *one.last_loss);
      if (plain != nullptr && plain->last_loss) {
        text += fmt::format(", without the codec {:.4g}", *plain->last_loss);
      }
    }
    notes.push_back(printable(text));
  }
  return notes;
}

}  // namespace paceline::report
