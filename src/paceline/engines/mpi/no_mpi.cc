// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/error.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/mpi/mpi_engine.h"

namespace paceline::engines {

std::unique_ptr<Engine> make_mpi_engine() {
  throw UsageError(
      "--engine mpi: this program was built without MPI; `make mpi` installs Open MPI and builds "
      "with it");
}

bool mpi_is_built() { return false; }

void leave_mpi() {}

std::string_view mpirun_program() { return {}; }

}  // namespace paceline::engines
