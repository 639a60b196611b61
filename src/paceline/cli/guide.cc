// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/guide.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::cli {
namespace {

struct Next {
  std::string_view command;
  std::string_view words{};  // after the command
  std::string_view answers;
};

constexpr auto kNext = std::to_array<Next>({
    {"doctor", "", "is this machine fit to measure on?"},
    {"run", "quick", "a first look at it, in about two minutes"},
    {"report",
     "RECORDS -o page.html",
     "what was measured, as one page to share"},
    {"diff", "BASE TEST", "did a change help, and how sure is that?"},
    {"list",
     "",
     "strategies, models, optimizers, engines, experiments, formats"},
});

}  // namespace

std::string guide(std::span<const std::string> commands) {
  std::string text =
      "Paceline measures, explains and predicts distributed data-parallel "
      "training.\n\n";
  for (const Next& next : kNext) {
    text += fmt::format("  {:<38} {}\n",
                        fmt::format("paceline {} {}", next.command, next.words),
                        next.answers);
  }
  std::vector<std::string> others;
  std::copy_if(commands.begin(),
               commands.end(),
               std::back_inserter(others),
               [](const std::string& name) {
                 return std::none_of(
                     kNext.begin(), kNext.end(), [&](const Next& next) {
                       return next.command == name;
                     });
               });
  std::sort(others.begin(), others.end());
  return text +
         fmt::format(
             "\nFurther commands: {}.\n`paceline --help` says what each is "
             "for, `paceline COMMAND --help` has every flag.\n",
             fmt::join(others, ", "));
}

}  // namespace paceline::cli
