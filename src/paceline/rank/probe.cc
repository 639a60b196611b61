// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/probe.h"

#include <new>
#include <optional>
#include <regex>
#include <string>

#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/rank/rank_group.h"
#include "paceline/rank/trainer.h"

namespace paceline::rank {
namespace {

// If the first step takes longer, no second step is timed, because one-off work is then a small
// part of the first step.
constexpr double kSecondStepBelowSeconds = 5;

Probe probe(const engines::World& world, const cases::Case& configuration,
            const CaseOptions& options) {
  const Stopwatch setup;
  const auto seconds = [](const Stopwatch& watch) { return to_seconds(watch.elapsed()); };
  const auto engine = engines::make_engine(configuration.engine);
  const RankGroup group =
      make_rank_group(world, configuration, *engine, options.name, options.interface);
  Trainer trainer(configuration, group, {.dispatcher = {.timeout = options.limits.timeout}});
  Probe probe{.preparation_s = seconds(setup)};
  const auto step = [&] {
    const Stopwatch watch;
    trainer.step();
    trainer.drain();
    return seconds(watch);
  };
  probe.first_step_s = step();
  probe.step_s = probe.first_step_s < kSecondStepBelowSeconds ? step() : probe.first_step_s;
  probe.memory_bytes = peak_memory_bytes().value_or(0);
  probe.shape = trainer.input().model;
  for (const plan::Buffer& buffer : trainer.setup().buffers) {
    probe.state_bytes += buffer.elements * plan::size_of(buffer.dtype);
  }
  return probe;
}

// Returns the number in "... you tried to allocate 123 bytes" of torch's allocator, or nothing for
// any other error.
std::optional<std::int64_t> rejected_bytes(const std::string& message) {
  static const std::regex tried("tried to allocate ([0-9]{1,18}) bytes");
  std::smatch match;
  if (!std::regex_search(message, match, tried)) {
    return std::nullopt;
  }
  return std::stoll(match[1]);
}

}  // namespace

Probe probe_case(const engines::World& world, cases::Case configuration,
                 const CaseOptions& options) {
  configuration.ranks = 1;
  configuration.strategy = "none";
  reset_peak_memory();
  const auto too_large = [](std::int64_t rejected) {
    return Probe{.memory_bytes = peak_memory_bytes().value_or(0) + rejected, .fits = false};
  };
  try {
    return probe(world, configuration, options);
  } catch (const UsageError& error) {
    return {.rejection = error.what()};
  } catch (const std::bad_alloc&) {
    return too_large(0);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    if (const auto bytes = rejected_bytes(message)) {
      return too_large(*bytes);
    }
    if (configuration.device != "cpu") {
      throw;  // a device may have failed for all later cases too
    }
    return {.rejection = message.substr(0, message.find('\n'))};
  }
}

}  // namespace paceline::rank
