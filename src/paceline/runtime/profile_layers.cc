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

/// Marks the time at which each layer is entered.
class EntryTimes final : public networks::Gates {
 public:
  explicit EntryTimes(DeviceClock& clock) : clock_(clock) {}

  void enter(plan::ModuleId module) override {
    clock_.mark();
    entered_.push_back(module);
  }
  void leave(plan::ModuleId /*module*/) override {}
  bool gates_backward(plan::ModuleId /*module*/) const override {
    return false;
  }
  void enter_backward(plan::ModuleId /*module*/) override {}

  std::vector<plan::ModuleId> take() { return std::exchange(entered_, {}); }

 private:
  DeviceClock& clock_;
  std::vector<plan::ModuleId> entered_;
};

plan::Picoseconds median(std::vector<plan::Picoseconds> times) {
  const auto middle =
      times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// The times of all repeats, by layer.
using Times = std::vector<std::vector<plan::Picoseconds>>;

class Profiler {
 public:
  Profiler(TracedNetwork& traced, at::Device device)
      : traced_(traced),
        clock_(device),
        bound_gates_(traced.gated, entries_),
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
    const auto entered = entries_.take();
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
  // The time before the first layer counts as the first layer's.  A layer that
  // runs twice gets the sum.
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
  EntryTimes entries_{clock_};
  BoundGates bound_gates_;
  SavedBuffers saved_buffers_;
  Times forward_, backward_;
};

}  // namespace

plan::LayerProfile profile_layers(TracedNetwork& traced,
                                  const std::function<at::Tensor()>& loss,
                                  at::Device device,
                                  const ProfileOptions& options) {
  Profiler profiler(traced, device);
  for (int i = 0; i < options.warmup + options.repeats; ++i) {
    profiler.step(loss, i >= options.warmup);
  }
  return profiler.profile(options.origin);
}

}  // namespace paceline::runtime
