// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/predicted.h"

#include <string_view>

#include <fmt/format.h>

namespace paceline::records {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

std::string interval_words(const ErrorBar& bar) {
  return fmt::format("{}[{:.3f}, {:.3f}] ms",
                     bar.share ? fmt::format("±{:.1f} %: ", *bar.share * 100) : "",
                     ms(bar.low_ns.value_or(0)), ms(bar.high_ns.value_or(0)));
}

}  // namespace

std::string words_of(const StepBound& bound) {
  const std::string_view when = bound.wire_ns == 0   ? ""
                                : bound.crosses_step ? ", which may run under the next step"
                                                     : ", which starts with the first gradient";
  return fmt::format("{:.3f} ms{}: compute {:.3f} ms, wire {:.3f} ms{}", ms(bound.step_ns),
                     bound.algorithm.empty() ? "" : " with algorithm " + bound.algorithm,
                     ms(bound.compute_ns), ms(bound.wire_ns), when);
}

std::string sharper_bound_text(const StepBound& bound) {
  return bound.sharper_ns ? fmt::format(
                                "{:.3f} ms: each gradient crosses after it is ready and before the "
                                "forward that waits for it",
                                ms(*bound.sharper_ns))
                          : "";
}

std::string words_of(const ErrorBar& bar) {
  if (!bar.known()) {
    return "no error bar: " + bar.why;
  }
  if (!bar.validated) {
    return fmt::format("not validated: {} is {}", error_basis_text(bar), interval_words(bar));
  }
  if (bar.cells == 0) {
    return fmt::format("{:.0f} % interval of the step {}, from {}", bar.level * 100,
                       interval_words(bar), bar.how);
  }
  return fmt::format("error bar {}; {}", interval_words(bar), error_basis_text(bar));
}

std::string error_basis_text(const ErrorBar& bar) {
  if (!bar.known()) {
    return "not known: " + bar.why;
  }
  if (!bar.validated) {
    return fmt::format("no published table tells of {}; the largest error known of any strategy",
                       bar.why);
  }
  if (bar.cells == 0) {
    return fmt::format("{:.0f} % interval, from {}", bar.level * 100, bar.how);
  }
  return fmt::format("{:.0f} of 10 published cells are within ({}, {} cells)", bar.level * 10,
                     bar.how, bar.cells);
}

}  // namespace paceline::records
