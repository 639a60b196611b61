// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/profile_layers.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "paceline/runtime/device_clock.h"
#include "paceline/runtime/hooks.h"

namespace paceline::runtime {
namespace {

plan::Picoseconds median(std::vector<plan::Picoseconds> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// times[layer] has the time of each repeat.
using Times = std::vector<std::vector<plan::Picoseconds>>;

class Profiler {
 public:
  Profiler(TracedNetwork& traced, at::Device device)
      : traced_(traced),
        clock_(device),
        watch_([this](plan::ModuleId module) {
          clock_.mark();
          entered_.push_back(module);
        }),
        bound_gates_(traced.gated, watch_),
        saved_buffers_(*traced.network),
        forward_(traced.shape.modules.size()),
        backward_(traced.shape.parameters.size()) {}

  void step(const std::function<at::Tensor()>& loss, bool counts) {
    std::vector<plan::ParameterId> ready;
    const GradientHooks hooks(traced_.parameters, [&](plan::ParameterId p) {
      clock_.mark();
      ready.push_back(p);
    });
    clock_.mark();
    const at::Tensor value = loss();
    clock_.mark();
    value.backward();
    for (const at::Tensor& parameter : traced_.parameters) {
      parameter.mutable_grad().reset();
    }
    const auto entered = std::exchange(entered_, {});
    const auto marks = clock_.take();
    if (counts) {
      add_times(entered, ready, marks);
    }
  }

  plan::LayerProfile profile(const std::string& origin) const {
    plan::LayerProfile result{.origin = origin, .forward = {}, .backward = {}};
    for (const auto& times : forward_) {
      result.forward.push_back(median(times));
    }
    for (const auto& times : backward_) {
      result.backward.push_back(median(times));
    }
    return result;
  }

 private:
  // Adds the times of one repeat. The time before the first layer counts as part of the first
  // layer. A layer that runs twice gets the sum of both times.
  void add_times(const std::vector<plan::ModuleId>& entered,
                 const std::vector<plan::ParameterId>& ready,
                 const std::vector<std::int64_t>& marks) {
    std::vector<plan::Picoseconds> forward(forward_.size(), 0);
    std::vector<plan::Picoseconds> backward(backward_.size(), 0);
    const auto between = [&](std::size_t first) {
      return (marks[first + 1] - marks[first]) * 1'000;
    };
    forward.front() += between(0);
    for (std::size_t i = 0; i < entered.size(); ++i) {
      forward[plan::index_of(entered[i])] += between(i + 1);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      backward[plan::index_of(ready[i])] += between(entered.size() + 1 + i);
    }
    for (std::size_t m = 0; m < forward.size(); ++m) {
      forward_[m].push_back(forward[m]);
    }
    for (std::size_t p = 0; p < backward.size(); ++p) {
      backward_[p].push_back(backward[p]);
    }
  }

  TracedNetwork& traced_;
  DeviceClock clock_;
  std::vector<plan::ModuleId> entered_;
  EntryWatch watch_;
  BoundGates bound_gates_;
  SavedBuffers saved_buffers_;
  Times forward_, backward_;
};

}  // namespace

plan::LayerProfile profile_layers(TracedNetwork& traced, const std::function<at::Tensor()>& loss,
                                  at::Device device, const ProfileOptions& options) {
  Profiler profiler(traced, device);
  for (int i = 0; i < options.warmup + options.repeats; ++i) {
    profiler.step(loss, i >= options.warmup);
  }
  return profiler.profile(options.origin);
}

}  // namespace paceline::runtime
