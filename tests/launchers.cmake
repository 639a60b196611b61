# SPDX-License-Identifier: Apache-2.0
# Other launchers, where this machine has them, as the beginning of a command
# line that a number of ranks and a program complete.

# torchrun of the very wheel...
get_filename_component(torch_prefix "${TORCH}/../../../.." ABSOLUTE)
find_program(PACELINE_TORCH_PYTHON NAMES python3 HINTS "${torch_prefix}/bin")
if(PACELINE_TORCH_PYTHON)
  execute_process(
    COMMAND "${PACELINE_TORCH_PYTHON}" -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(python_torch STREQUAL TORCH)
    set(PACELINE_TORCHRUN "${PACELINE_TORCH_PYTHON} -m torch.distributed.run --standalone --no-python --nproc-per-node")
  endif()
endif()

# ... Open MPI's mpirun ...
find_program(PACELINE_MPIRUN_PROGRAM NAMES mpirun.openmpi)
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(PACELINE_MPIRUN_PROGRAM)
  set(PACELINE_MPIRUN "${PACELINE_MPIRUN_PROGRAM} --oversubscribe --bind-to none")
  if(user EQUAL 0)
    string(APPEND PACELINE_MPIRUN " --allow-run-as-root")
  endif()
  string(APPEND PACELINE_MPIRUN " -np")
endif()

# ... an sshd, which wants its full path ...
find_program(PACELINE_SSHD_PROGRAM NAMES sshd PATHS /usr/sbin)
find_program(PACELINE_SSH NAMES ssh)
if(PACELINE_SSHD_PROGRAM AND PACELINE_SSH)
  set(PACELINE_SSHD "${PACELINE_SSHD_PROGRAM}")
endif()

# ... and a real Slurm, whose daemons only root can start.
find_program(PACELINE_SLURMD NAMES slurmd PATHS /usr/sbin)
find_program(PACELINE_SLURMCTLD NAMES slurmctld PATHS /usr/sbin)
find_program(PACELINE_MUNGED NAMES munged PATHS /usr/sbin)
if(PACELINE_SLURMD AND PACELINE_SLURMCTLD AND PACELINE_MUNGED AND user EQUAL 0)
  set(PACELINE_SRUN "${CMAKE_SOURCE_DIR}/tests/engines/with_slurm.sh srun --kill-on-bad-exit=1 -n")
  find_file(PACELINE_SLURM_PMIX mpi_pmix.so
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib64 /usr/lib PATH_SUFFIXES slurm-wlm slurm)
  if(PACELINE_SLURM_PMIX)
    string(REPLACE " srun " " srun --mpi=pmix " PACELINE_SRUN_WITH_PMIX "${PACELINE_SRUN}")
  endif()
endif()
