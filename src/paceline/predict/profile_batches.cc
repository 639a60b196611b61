// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/profile_batches.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/profile.h"

namespace paceline::predict {
namespace {

bool same(const plan::ParameterShape& a, const plan::ParameterShape& b) {
  return a.name == b.name && a.sizes == b.sizes && a.module == b.module;
}

/// Returns why the two profiles are not of one job at two batches; empty if they are.
std::string difference_of(const cluster::ProfiledModel& a, const cluster::ProfiledModel& b) {
  const auto differ = [](const char* what, const auto& one, const auto& other) {
    return fmt::format("{} is {} in one and {} in the other", what, one, other);
  };
  if (a.model.name != b.model.name) {
    return differ("the network", a.model.name, b.model.name);
  }
  if (a.model.modules != b.model.modules ||
      !std::ranges::equal(a.model.parameters, b.model.parameters, same)) {
    return "their modules or parameters differ";
  }
  if (a.model.dtype != b.model.dtype) {
    return differ("the number type", cluster::word_of(a.model.dtype),
                  cluster::word_of(b.model.dtype));
  }
  if (a.device != b.device) {
    return differ("the device", a.device, b.device);
  }
  return a.batch_size == b.batch_size ? fmt::format("both are of a batch of {}", a.batch_size) : "";
}

/// Returns a warning if the batch is outside of `least` to `most`; nothing for a batch between
/// them.
std::optional<records::Warning> warning_of(int least, int most, int batch_size) {
  if (batch_size >= least && batch_size <= most) {
    return std::nullopt;
  }
  const bool larger = batch_size > most;
  const int nearest = larger ? most : least;
  return records::Warning{
      .code = "batch-outside-profiles",
      .seen = fmt::format("a micro-batch of {} is {:.3g} times the {} profiled one, {}", batch_size,
                          static_cast<double>(batch_size) / nearest,
                          larger ? "largest" : "smallest", nearest),
      .why = "layer times continue the lines through those of the two profiles",
      .advice = "profile this batch"};
}

}  // namespace

ProfileOfBatch profile_of_batch(const ProfileOfFile& one, const ProfileOfFile& other,
                                int batch_size) {
  if (const std::string why = difference_of(one.profiled, other.profiled); !why.empty()) {
    throw UsageError(
        fmt::format("profiles {} and {}: {}; two of one network at two batches are "
                    "wanted",
                    one.file, other.file, why));
  }
  const bool ascending = one.profiled.batch_size < other.profiled.batch_size;
  const cluster::ProfiledModel& least = (ascending ? one : other).profiled;
  const cluster::ProfiledModel& most = (ascending ? other : one).profiled;
  const bool near_least = batch_size - least.batch_size <= most.batch_size - batch_size;
  const cluster::ProfiledModel& near = near_least ? least : most;
  const cluster::ProfiledModel& far = near_least ? most : least;
  const auto on_lines = [&](const std::vector<plan::Picoseconds>& of_least,
                            const std::vector<plan::Picoseconds>& of_most) {
    std::vector<plan::Picoseconds> times;
    for (std::size_t i = 0; i < of_least.size(); ++i) {
      times.push_back(std::llround(
          interpolated_time({least.batch_size, static_cast<double>(of_least[i])},
                            {most.batch_size, static_cast<double>(of_most[i])}, batch_size)));
    }
    return times;
  };
  ProfileOfBatch out{.profiled = near};
  out.profiled.batch_size = batch_size;
  out.profiled.memory.reset();
  out.profiled.update = near.update ? near.update : far.update;
  out.profiled.profile = {
      .origin = fmt::format("{} and {}", least.profile.origin, most.profile.origin),
      .forward = on_lines(least.profile.forward, most.profile.forward),
      .backward = on_lines(least.profile.backward, most.profile.backward)};
  out.warning = warning_of(least.batch_size, most.batch_size, batch_size);
  return out;
}

}  // namespace paceline::predict
