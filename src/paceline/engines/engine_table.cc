// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/engine_table.h"

#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/engines/gloo/gloo_engine.h"
#include "paceline/engines/mpi/mpi_engine.h"
#include "paceline/engines/nccl/nccl_engine.h"

namespace paceline::engines {

const std::vector<EngineInfo>& engines() {
  static const std::vector<EngineInfo> table{
      {*plan::find_engine_traits("gloo"), true, &make_gloo_engine},
      {*plan::find_engine_traits("nccl"), nccl_is_built(), &make_nccl_engine},
      {*plan::find_engine_traits("mpi"), mpi_is_built(), &make_mpi_engine, mpirun_program()},
  };
  return table;
}

const EngineInfo& find_engine(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& info : engines()) {
    if (info.name == name) {
      return info;
    }
    known.push_back(info.name);
  }
  throw UsageError(fmt::format("--engine {}: unknown; known are {}", name, fmt::join(known, ", ")));
}

}  // namespace paceline::engines
