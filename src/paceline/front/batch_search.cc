// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/batch_search.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/base/program_place.h"
#include "paceline/base/spawn.h"
#include "paceline/base/text.h"
#include "paceline/case/command.h"
#include "paceline/launch/child_exit.h"
#include "paceline/launch/signals.h"
#include "paceline/records/store.h"

namespace paceline::front {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxBatchSize = 1 << 16;
constexpr std::chrono::minutes kDeadline{10};
// A run that was asked to end has this time to finish its step.
constexpr std::chrono::seconds kStopGrace{5};
// The end of the text BatchSearchResult::tried if no size was too large.
constexpr std::string_view kAtBound = ", the bound of the search";
// A search may use this fraction of the memory; the rest is for the system and other programs.
constexpr double kUsableMemoryFraction = 0.8;

// Words of a run that lacks memory: this program's own rejection (rank/estimate.cc), the status of
// an external program, and PyTorch's errors.
constexpr auto kNoMemoryMessages = std::to_array<const char*>(
    {"GB on this host, which has", "out-of-memory", "out of memory", "can't allocate memory",
     "could not create a memory object", "std::bad_alloc"});
// Text in PyTorch's error for a batch that batch norm rejects, by which it is recognized.
constexpr const char* kTooFew = "Expected more than 1 value per channel";
// Messages with which JAX and oneDNN, TensorFlow's library, fail under a memory limit.  Without a
// limit they may have another cause.
constexpr auto kMemoryLimitMessages = std::to_array<const char*>(
    {"YNNPACK operation failed", "could not create a primitive", "could not execute a primitive"});

bool says_any(const std::string& text, std::span<const char* const> words) {
  return std::ranges::any_of(words,
                             [&](const char* one) { return text.find(one) != std::string::npos; });
}

/// Limits the memory of the processes that are started during its lifetime.  Mapped files and
/// reserved addresses, of which PyTorch has many, do not count.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::optional<rlim_t> bytes) {
    getrlimit(RLIMIT_DATA, &before_);
    rlimit limit = before_;
    limit.rlim_cur = std::min(limit.rlim_cur, bytes.value_or(RLIM_INFINITY));
    setrlimit(RLIMIT_DATA, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_DATA, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

/// Returns the case that represents a search of the largest batch size. Cases that differ only in
/// batch size, ranks and numbers of steps share one search.
cases::Case search_case(cases::Case c) {
  c.batch_size = cases::kLargestBatch;
  c.ranks = 1;
  c.ranks_per_host.clear();
  c.warmup = 1;
  c.steps = 2;
  c.discard = false;
  return c;
}

/// Returns the command `paceline run` for the case with a batch size of `batch`.
Command run_of(cases::Case c, int batch, const std::string& records, const std::string& log) {
  c.batch_size = batch;
  Command command{.executable = program_path(),
                  .argv = cases::flags_of(c),
                  .environment = environment_with({}),
                  .log = log};
  command.argv.insert(command.argv.begin(),
                      {"paceline", "run", "--records=" + records, "--runs=1", "--yes"});
  return command;
}

/// Returns the last line of a log that is not blank; empty if there is none.
std::string last_line(const std::string& log) {
  const std::string text = read_text_if_readable(log).value_or("");
  const std::vector<std::string> lines = split_lines(trimmed(text));
  return lines.empty() ? "" : std::string(trimmed(lines.back()));
}

fs::path make_folder() {
  std::string path = fs::temp_directory_path() / "paceline-batch-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    throw WorldError(fmt::format("{}: {}", path, std::generic_category().message(errno)));
  }
  return path;
}

/// Runs one rank per batch size that the search tries, and keeps the records and output of these
/// runs in a temporary folder.
class Trials {
 public:
  explicit Trials(std::int64_t limit_bytes) : folder_(make_folder()), limit_bytes_(limit_bytes) {}
  ~Trials() {
    std::error_code unused;
    fs::remove_all(folder_, unused);
  }
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  TrialOutcome fits(const cases::Case& c, int batch) {
    const std::string records = folder_ / "trial.jsonl";
    fs::remove(records);
    fs::remove_all(folder_ / "trial.logs");
    fs::remove(log_);
    const MemoryLimit limit(c.device == "cpu" ? std::optional<rlim_t>(limit_bytes_) : std::nullopt);
    const launch::ChildExit end = launch::wait_for_child(spawn(run_of(c, batch, records, log_)),
                                                         signals_, kDeadline, kStopGrace);
    if (end.stop_signal != 0) {
      throw WorldError(fmt::format("batch_size max: stopped by signal {} while {} was tried",
                                   end.stop_signal, batch));
    }
    if (end.exit_code == 0 && !end.timed_out) {
      return TrialOutcome::kFits;
    }
    const std::string why =
        end.timed_out ? "it took 10 minutes" : trial_failure_reason(records, end.exit_code);
    if (says_any(why, kNoMemoryMessages) ||
        (c.device == "cpu" && says_any(why + output(), kMemoryLimitMessages))) {
      last_rejection_ = why;
      return TrialOutcome::kTooLarge;
    }
    if (why.find(kTooFew) != std::string::npos) {
      return TrialOutcome::kTooSmall;
    }
    throw UsageError(fmt::format(
        "batch_size max: {} with a batch of {} failed for another reason than memory: {}", c.label,
        batch, why));
  }

  /// Returns why the run with the last rejected size failed.
  const std::string& last_rejection() const { return last_rejection_; }

 private:
  // Returns why a run failed: the error in its record, or else the last line of its output.
  std::string trial_failure_reason(const std::string& records, int exit_code) const {
    if (fs::exists(records)) {
      for (const records::RunRecord& record :
           records::read_records(records, records::BrokenTail::kSkip).records) {
        if (record.error) {
          return fmt::format("{}: {}", record.status, *record.error);
        }
      }
    }
    const std::string said = last_line(log_);
    return said.empty() ? fmt::format("ended with exit code {}", exit_code) : said;
  }

  // Returns what the ranks of the last run printed.
  std::string output() const {
    std::string all;
    std::error_code none;
    for (const auto& log : fs::directory_iterator(folder_ / "trial.logs", none)) {
      all += read_text_if_readable(log.path()).value_or("");
    }
    return all;
  }

  fs::path folder_;
  std::int64_t limit_bytes_;
  std::string log_ = folder_ / "log";
  launch::SupervisorSignals signals_;  // must exist before any thread of this process
  std::string last_rejection_;
};

/// Returns the results of searches in earlier records, by the key of searched().
std::map<std::string, BatchSearchResult> searched_before(const cases::Settings& settings) {
  std::map<std::string, BatchSearchResult> found;
  if (!settings.resume || !fs::exists(settings.records)) {
    return found;
  }
  const auto file = records::read_records(settings.records, records::BrokenTail::kSkip);
  for (const records::RunRecord& record : file.records) {
    const auto tried = record.adapter.find(cases::kBatchTried);
    if (tried != record.adapter.end()) {
      found[search_case(record.configuration).key()] = {.largest = record.configuration.batch_size,
                                                        .tried = tried->second};
    }
  }
  return found;
}

/// Returns " into 3.2 GB"; empty for a GPU, whose own memory is the limit.
std::string limit_text(const cases::Case& c, std::int64_t limit_bytes) {
  return c.device == "cpu" ? fmt::format(" into {:.1f} GB", static_cast<double>(limit_bytes) * 1e-9)
                           : "";
}

std::string_view words_of(TrialOutcome fit) {
  return fit == TrialOutcome::kFits       ? "fits"
         : fit == TrialOutcome::kTooLarge ? "does not"
                                          : "is too small";
}

}  // namespace

BatchSearchResult search_batch(int unit, int most, const std::function<TrialOutcome(int)>& fits) {
  BatchSearchResult search;
  const auto tries = [&](int size) {
    const TrialOutcome fit = fits(size);
    search.tried += fmt::format("{}{} {}", search.tried.empty() ? "" : ", ", size, words_of(fit));
    if (fit == TrialOutcome::kFits) {
      search.largest = size;
    } else if (fit == TrialOutcome::kTooLarge) {
      search.above = size;
    }
  };
  int size = unit;
  while (size <= most && search.above == 0) {
    tries(size);
    size *= 2;
  }
  if (search.above == 0) {
    search.tried += kAtBound;
    return search;
  }
  while (search.largest > 0 && search.above - search.largest > std::max(unit, search.largest / 8)) {
    const int middle = search.largest + (search.above - search.largest) / 2;
    tries(middle / unit * unit);
  }
  return search;
}

void resolve_largest_batches(cases::Experiment& experiment, const cases::Settings& settings) {
  const auto is_largest = [](const cases::Case& c) {
    return c.batch_size == cases::kLargestBatch && c.not_run.empty();
  };
  if (std::ranges::none_of(experiment.cases, is_largest)) {
    return;
  }
  std::map<std::string, BatchSearchResult> found = searched_before(settings);
  const auto limit =
      static_cast<std::int64_t>(kUsableMemoryFraction * static_cast<double>(usable_memory_bytes()) /
                                largest_world(experiment));
  Trials trials(limit);
  for (cases::Case& c : experiment.cases) {
    if (!is_largest(c)) {
      continue;
    }
    const cases::Case one = search_case(c);
    if (!found.contains(one.key())) {
      fmt::print(stderr, "{} {}: searching the largest batch\n", c.model, c.label);
      found[one.key()] = search_batch(c.accumulate, kMaxBatchSize, [&](int size) {
        const TrialOutcome fit = trials.fits(one, size);
        fmt::print(stderr, "  {} {}\n", size, words_of(fit));
        return fit;
      });
    }
    const BatchSearchResult& search = found.at(one.key());
    if (search.largest == 0) {
      throw UsageError(fmt::format(
          "batch_size max: {} {}: {}; tried: {}", c.model, c.label,
          search.above == 0 ? "every batch is too small"
                            : fmt::format("not even a batch of {} fits{}: {}", search.above,
                                          limit_text(c, limit), trials.last_rejection()),
          search.tried));
    }
    if (search.tried.ends_with(kAtBound)) {
      throw UsageError(
          fmt::format("batch_size max: {} {}: no limit was found: {} fits too, and the search "
                      "tries none above it; tried: {}",
                      c.model, c.label, search.largest, search.tried));
    }
    c.batch_size = search.largest;
    experiment.searches[c.key()] = search.tried;
  }
}

}  // namespace paceline::front
