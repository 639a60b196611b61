// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/mpi/process.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/base/hash.h"
#include "paceline/base/process.h"
#include "paceline/base/scheduling.h"
#include "paceline/engines/background.h"
#include "paceline/launch/detect_launch.h"

namespace paceline::engines::mpi {
namespace {

// How long MPI_Finalize may wait for the other ranks before this rank ends without it.
constexpr std::chrono::seconds kFinalizeTimeout{5};

#ifdef OPEN_MPI
constexpr bool kIsOpenMpi = true;
#else
constexpr bool kIsOpenMpi = false;
#endif

// Returns the number of the job's ranks on this host.
int ranks_here() {
  MPI_Comm here = MPI_COMM_NULL;
  int ranks = 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &ranks);
  MPI_Comm_free(&here);
  return ranks;
}

// Without PMIx, Open MPI would end a rank of srun inside MPI_Init with its own message.
void check_srun() {
  if (kIsOpenMpi && std::getenv("SLURM_PROCID") != nullptr && std::getenv("PMIX_RANK") == nullptr) {
    throw UsageError(
        "engine mpi: srun started this rank without PMIx, by which ranks of Open MPI find each "
        "other; start the job by srun --mpi=pmix");
  }
}

bool is_started_by_us() { return std::getenv(launch::kLaunchVariable) != nullptr; }

// Returns the number of this host's cores for the job.  Other launchers may bind each rank to cores
// of its own, so all cores of the host count; ranks started by this program may all use the same
// cores.
int cores_here() {
  return static_cast<int>(is_started_by_us() ? allowed_cpus().size()
                                             : std::thread::hardware_concurrency());
}

// An MPI rank spins while it waits, so ranks share a core badly, and under MPICH not at all.
void check_cores(int rank, int ranks, int cores) {
  if (!kIsOpenMpi && ranks > cores) {
    throw UsageError(
        fmt::format("engine mpi: {} ranks on {} cores of this host; MPICH needs a core for each",
                    ranks, cores));
  }
  if (ranks > cores && rank == 0) {
    fmt::print(stderr,
               "warning: engine mpi: {} ranks share {} cores of this host; they yield to each "
               "other, and messages take longer\n",
               ranks, cores);
  }
}

// If mpirun or srun has bound each rank to one core, the rank computes and communicates on that
// core alone.
void warn_if_bound(int rank, int ranks) {
  if (!is_started_by_us() && rank == 0 && ranks > 1 && allowed_cpus().size() == 1 &&
      std::thread::hardware_concurrency() > 1) {
    fmt::print(stderr,
               "warning: engine mpi: this rank is bound to one core, which its computation and its "
               "communication share; start mpirun with --bind-to none\n");
  }
}

int tag_of(std::string_view name) {
  return static_cast<int>(fnv1a_32(name) & 0x7FFFU);  // MPI allows tags up to at least 32767
}

int tag_bound_of(MPI_Comm handle) {
  int* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(handle, MPI_TAG_UB, reinterpret_cast<void*>(&value), &found);
  return found != 0 ? *value : 32767;
}

}  // namespace

Communicator::Communicator(MPI_Comm handle, std::string name)
    : handle_(handle), name_(std::move(name)), tag_bound_(tag_bound_of(handle)) {}

Communicator::~Communicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && !failed) {
    MPI_Comm_free(&handle_);
  }
}

// The object is never destroyed, because threads may be inside MPI until the program ends.
Process& Process::instance() {
  static auto* const process = new Process;
  return *process;
}

Process& Process::start(std::chrono::milliseconds timeout, const std::function<void()>& idle) {
  instance().initialize_once(timeout, idle);
  return instance();
}

void Process::initialize_once(std::chrono::milliseconds timeout,
                              const std::function<void()>& idle) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kNew) {
      state_ = State::kStarted;
      const ScopedScheduling of_progress(Scheduling::kShortSlice);
      thread_ = std::thread([this] { run_mpi_thread(); });
    }
  }
  get_within(initialized_, timeout, idle, "initializing MPI");
}

// Initializes and finalizes MPI on the same thread, as MPI requires.
void Process::run_mpi_thread() {
  try {
    initialize();
    ready_.set_value();
  } catch (...) {
    ready_.set_exception(std::current_exception());
  }
  progress_.run();
  if (!progress_.holds_memory()) {
    MPI_Finalize();
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kFinalized;
  }
  changed_.notify_all();
}

void Process::initialize() {
  check_srun();
  // Open MPI's waiting threads yield their core only with this setting.
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  // Open MPI's default algorithm for an in-place sum sends all bytes in each round.
  setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "rabenseifner", 0);
  const int cores = cores_here();
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (level < MPI_THREAD_MULTIPLE) {
    throw UsageError(
        fmt::format("engine mpi: this MPI grants thread level {}, and Paceline needs "
                    "MPI_THREAD_MULTIPLE ({}); build MPI with threads",
                    level, MPI_THREAD_MULTIPLE));
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &world_);
  const int ranks = ranks_here();
  check_cores(rank_, ranks, cores);
  warn_if_bound(rank_, ranks);
}

std::shared_ptr<Communicator> Process::connect(const std::vector<int>& members,
                                               const std::string& name,
                                               std::chrono::milliseconds timeout,
                                               const std::function<void()>& idle) {
  auto handle = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
  const auto what = fmt::format("connecting {} ranks by mpi as '{}'", members.size(), name);
  get_within(run_in_background([members, handle, what, tag = tag_of(name)] {
               MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
               check(MPI_Comm_group(MPI_COMM_WORLD, &world), what);
               check(
                   MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group),
                   what);
               check(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, handle.get()), what);
               check(MPI_Comm_set_errhandler(*handle, MPI_ERRORS_RETURN), what);
               MPI_Group_free(&group);
               MPI_Group_free(&world);
             }),
             timeout, idle, what);
  return std::make_shared<Communicator>(*handle, name);
}

void Process::finish() {
  if (!thread_.joinable()) {
    return;
  }
  progress_.stop();
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kFinalizeTimeout,
                           [this] { return state_ == State::kFinalized; })) {
      return;  // a peer has not left, and `thread_` waits for it inside MPI
    }
  }
  thread_.join();
}

}  // namespace paceline::engines::mpi
