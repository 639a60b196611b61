// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace paceline::comm {

/// This process's place among all that run the same command.
struct Place {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;
  std::string host;                 // as gethostname says
  std::string launcher = "single";  // paceline, torchrun, mpirun, srun, single
};

/// A joined world: the place and the store that all ranks share.
struct World {
  Place place;
  c10::intrusive_ptr<c10d::Store> store;
  std::vector<std::string> hosts;  // by rank
};

}  // namespace paceline::comm
