// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/doctor.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/report/text.h"

namespace paceline::cli {
namespace {

std::string_view word_of(Health health) {
  switch (health) {
    case Health::kGood:
      return "ok";
    case Health::kAdvice:
      return "advice";
    case Health::kBroken:
      break;
  }
  return "BROKEN";
}

long count(const std::vector<Finding>& findings, Health health) {
  return std::count_if(findings.begin(), findings.end(),
                       [health](const Finding& finding) { return finding.health == health; });
}

}  // namespace

std::string doctor_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string head = fmt::format("{:<8}{:<15}", word_of(finding.health), finding.name);
    text += report::hanging(head, report::printable(finding.seen));
    if (!finding.advice.empty()) {
      text +=
          report::hanging(std::string(head.size(), ' ') + "-> ", report::printable(finding.advice));
    }
  }
  const long broken = count(findings, Health::kBroken);
  const long advice = count(findings, Health::kAdvice);
  return text + (broken == 0 && advice == 0
                     ? "\nNothing to change.\n"
                     : fmt::format("\n{} broken, {} with advice.\n", broken, advice));
}

int run_doctor() {
  std::vector<Finding> all;
  for (auto* check : {&check_machine, &check_software}) {
    for (Finding& finding : check()) {
      all.push_back(std::move(finding));
    }
  }
  fmt::print("{}", doctor_text(all));
  return count(all, Health::kBroken) > 0 ? kWorldErrorStatus : 0;
}

}  // namespace paceline::cli
