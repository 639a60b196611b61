// SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include <cstdint>
#include <vector>

#include "collectives.h"
#include "paceline/base/clock.h"
#include "paceline/rank/window.h"
#include "paceline/runtime/device_clock.h"

namespace paceline::extension {
namespace {

class PythonJob final : public rank::TimedJob {
 public:
  PythonJob(const py::object& job, at::Device device)
      : step_(job.attr("step")), drain_(job.attr("drain")), clock_(device) {}

  rank::StepTimes step() override {
    rank::StepTimes times{.began_ns = steady_ns()};
    step_();
    times.ended_ns = steady_ns();
    return times;
  }
  void drain() override { drain_(); }
  void mark() override { clock_.mark(); }
  std::vector<std::int64_t> take_marks() override { return clock_.take(); }

 private:
  py::object step_, drain_;
  runtime::DeviceClock clock_;
};

}  // namespace

py::dict wire_bytes_of(const Model& model, int steps) {
  const records::WireBytes wire = model.trainer().wire(steps);
  py::dict said;
  said["measured_bytes_per_step"] = wire.measured_per_step;
  said["planned_bytes_per_step"] = wire.planned_per_step;
  said["calls_per_step"] = wire.calls_per_step;
  said["bytes_by_pattern"] = wire.by_pattern;
  return said;
}

py::dict timed_in_turn(Job& job, at::Device device, int steps, const py::object& with,
                       const py::object& without) {
  PythonJob communicating(with, device);
  PythonJob alone(without, device);
  records::RankSamples samples;
  rank::measure_pairs(
      communicating, &alone,
      {.layout = rank::pair_layout(steps),
       .barrier = [&] { all_reduce(job, at::zeros({1}, at::device(device)), "sum"); }},
      samples);
  py::dict said;
  said["paired_step_ns"] = samples.paired_step_ns;
  said["compute_only_step_ns"] = samples.compute_only_step_ns;
  said["pair_of_step"] = samples.pair_of_step;
  return said;
}

}  // namespace paceline::extension
