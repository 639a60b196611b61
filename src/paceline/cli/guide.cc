// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/guide.h"

namespace paceline::cli {

std::string guide() {
  return R"(Paceline measures, explains and predicts distributed data-parallel training.

  paceline run quick                       a first look at this machine, in two minutes
  paceline run --model resnet50 --ranks 2  one case: a network, a number of ranks
  paceline run ddp --dry-run               PyTorch's DDP benchmark: what would run
  paceline list                            strategies, models, engines, experiments, formats
  paceline run --help                      every flag
)";
}

}  // namespace paceline::cli
