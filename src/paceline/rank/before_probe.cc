// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/before_probe.h"

#include <algorithm>

#include "paceline/base/clock.h"
#include "paceline/base/random.h"
#include "paceline/case/outside.h"
#include "paceline/case/tables.h"
#include "paceline/plan/networks/network_shape.h"

namespace paceline::rank {
namespace {

// The side in pixels of the images for which the stored network shapes hold.
constexpr double kSideOfShapes = 224;

// The fraction of the bytes read and written by a convolution that stays for backward.  Inputs are
// kept, but several convolutions may share one; outputs are kept if a normalization reads them.
constexpr double kKept = 0.75;
constexpr double kKeptOfInputs = 0.5;  // applies if no normalization reads the output

double kept_bytes(const plan::NetworkShape& shape) {
  double bytes = 0;
  for (std::size_t i = 0; i < shape.work.size(); ++i) {
    if (shape.work[i].kind == plan::LayerKind::kConvolution) {
      const bool normalized =
          i + 1 < shape.work.size() && shape.work[i + 1].kind == plan::LayerKind::kNormalization;
      bytes += shape.work[i].bytes * (normalized ? kKept : kKeptOfInputs);
    }
  }
  return bytes;
}

bool has_shape(const cases::Case& c) {
  const auto names = plan::network_names();
  return c.device == "cpu" && c.replay.empty() && !c.has_tables() && !cases::is_outside(c) &&
         std::ranges::find(names, c.model) != names.end();
}

// Returns the seconds that drawing one number takes.
double seconds_a_number() {
  constexpr int kNumbers = 1 << 16;
  Random random(1);
  double sum = 0;
  const Stopwatch watch;
  for (int i = 0; i < kNumbers; ++i) {
    sum += random.normal();
  }
  const double seconds = to_seconds(watch.elapsed());
  // The result depends on the sum, so that the compiler cannot remove the loop.
  return sum == sum ? seconds / kNumbers : 0;
}

}  // namespace

std::int64_t least_memory_of(const cases::Case& c) {
  if (!has_shape(c)) {
    return 0;
  }
  const plan::NetworkShape shape = plan::network_shape(c.model);
  const double of_fp32 = c.dtype == "fp32" ? 1 : 0.5;
  const double side = c.image_size == 0 ? 1 : c.image_size / kSideOfShapes;
  const int samples = c.batch_size / std::max(1, c.accumulate);
  const int copies = 2 + cases::optimizer_of(c).state_buffers;
  return static_cast<std::int64_t>(of_fp32 * (static_cast<double>(shape.model.bytes()) * copies +
                                              kept_bytes(shape) * side * side * samples));
}

double draw_seconds(const cases::Case& c, int cores) {
  const auto job = cases::embedding_job_of(c);
  if (!job || c.strategy == "none") {
    return 0;
  }
  const strategies::TableMap map(*job);
  const plan::Rank holders = job->colocated ? job->trainers : job->servers;
  double most = 0;
  double all = 0;
  for (plan::Rank server = 0; server < holders; ++server) {
    const auto numbers = static_cast<double>(map.rows_of(server) * job->dim);
    most = std::max(most, numbers / std::max(1, c.threads));
    all += numbers;
  }
  return seconds_a_number() * std::max(most, all / std::max(1, cores));
}

}  // namespace paceline::rank
