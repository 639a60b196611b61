// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/guide.h"

namespace paceline::cli {

std::string guide() {
  return R"(Paceline measures, explains and predicts distributed data-parallel training.

  paceline doctor                        is this machine fit to measure on?
  paceline run quick                     a first look at it, in two minutes
  paceline report RECORDS -o page.html   what was measured, as one page to share
  paceline diff BASE TEST                did a change help, and how sure is that?
  paceline comm                          what does this machine's engine cost, by size?
  paceline list                          strategies, models, engines, experiments, formats

`paceline COMMAND --help` has every flag.
)";
}

}  // namespace paceline::cli
