// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

namespace paceline::engines {

class Engine;

/// MPI, as the machine has it: tensors of the CPU.  Every rank of the job must have been started by
/// MPI's launcher, or by launch_job with its mpirun.
std::unique_ptr<Engine> make_mpi_engine();

/// Whether MPI was found when this program was configured.
bool mpi_is_built();

/// Before this process ends: lets the other ranks go (MPI_Finalize).
void leave_mpi();

/// The mpirun that belongs to it: a path, or a name to look up in PATH.
std::string_view mpirun_program();

}  // namespace paceline::engines
