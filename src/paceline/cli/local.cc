// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/local.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/bench/estimate.h"
#include "paceline/cli/results.h"
#include "paceline/comm/local_launch.h"

namespace paceline::cli {
namespace {

/// A text that our children read as a file, and that is gone with us.
class SharedText {
 public:
  explicit SharedText(const std::string& text)
      : file_(memfd_create("paceline-order", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, text.data(), text.size()) !=
                         static_cast<ssize_t>(text.size())) {
      throw WorldError(fmt::format("cannot hand the order to the ranks: {}",
                                   std::strerror(errno)));
    }
  }
  ~SharedText() { close(file_); }
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  std::string path() const {
    return fmt::format("/proc/{}/fd/{}", getpid(), file_);
  }

 private:
  int file_;
};

/// The estimate of the first repetition, which the later ones take over.
using EstimateNote = std::optional<std::string>;

launch::Outcome run_repetition(const experiment::Order& order,
                               const std::vector<std::string>& command_line,
                               EstimateNote& estimate,
                               Results& results) {
  const SharedText text(experiment::to_text(order));
  comm::LocalLaunch local;
  local.ranks = experiment::largest_world(order.experiment);
  local.argv = {"paceline"};
  local.argv.insert(local.argv.end(), command_line.begin(), command_line.end());
  local.argv.insert(local.argv.end(), {"--order", text.path()});
  local.patience.heartbeat = std::chrono::milliseconds(
      static_cast<std::int64_t>(order.settings.timeout * 1000));
  local.patience.meanwhile = [&] { results.show_rows(order.experiment); };
  local.prepare = [&estimate](launch::Board& board) {
    if (estimate) {
      board.post(bench::kEstimateNote, *estimate);
    }
  };
  local.conclude = [&estimate](launch::Board& board) {
    estimate = board.read(bench::kEstimateNote);
  };
  return comm::launch_local(local);
}

// What to say of a run that did not come to its end; empty where it did.
std::string ending_of(const launch::Outcome& outcome) {
  if (outcome.stop_signal != 0 && outcome.message.empty()) {
    return fmt::format("paceline: {} ended the run: ",
                       signal_name(outcome.stop_signal));
  }
  return outcome.message.empty()
             ? ""
             : fmt::format("paceline: {}\n", outcome.message);
}

}  // namespace

int run_local(experiment::Order order,
              const std::vector<std::string>& command_line) {
  Results results(order.settings);
  if (results.say_if_complete(order.experiment)) {
    results.show(order.experiment);
    return 0;
  }
  launch::Outcome outcome;
  EstimateNote estimate;
  for (; order.run < order.experiment.runs; ++order.run) {
    outcome = run_repetition(order, command_line, estimate, results);
    if (outcome.exit_code != 0 || outcome.stop_signal != 0) {
      break;
    }
  }
  if (!outcome.message.empty() &&
      results.tally(order.experiment).finished == 0) {
    fmt::print(stderr, "paceline: {}\n", outcome.message);
  } else {
    results.show(order.experiment, ending_of(outcome));
  }
  return outcome.stop_signal != 0 ? 128 + outcome.stop_signal
                                  : outcome.exit_code;
}

}  // namespace paceline::cli
