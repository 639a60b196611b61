// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

namespace paceline::engines {

class Engine;

/// Makes the engine MPI, with the MPI library of the machine, for CPU tensors.  Every rank of the
/// job must have been started by MPI's launcher, or by launch_job with its mpirun.
std::unique_ptr<Engine> make_mpi_engine();

/// Whether MPI was found when this program was configured.
bool mpi_is_built();

/// Must be called before this process ends: lets the other ranks finish (MPI_Finalize).
void leave_mpi();

/// Returns the mpirun of this MPI library: a path, or a name to look up in PATH.
std::string_view mpirun_program();

}  // namespace paceline::engines
