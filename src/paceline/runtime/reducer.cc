// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/reducer.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <torch/types.h>

namespace paceline::runtime {

struct Reducer::State {
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<c10d::Logger> logger;
  bool delays_all_reduce = false;  // until the first backward pass has ended
};

Reducer::Reducer(const std::vector<at::Tensor>& parameters, const std::vector<std::string>& names,
                 engines::Channel& channel, const strategies::ReducerOptions& options)
    : state_(std::make_unique<State>()) {
  const auto group = channel.process_group();
  c10d::verify_params_across_processes(group, parameters, std::nullopt);
  const std::vector<bool> sparse(parameters.size(), false);
  auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
      parameters, {std::numeric_limits<std::size_t>::max()}, sparse);
  std::reverse(buckets.begin(), buckets.end());
  std::unordered_map<std::size_t, std::string> names_by_index;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names_by_index.emplace(i, names[i]);
  }
  state_->reducer = std::make_shared<c10d::Reducer>(
      parameters, buckets, group, sparse, options.caps.cap,
      /*find_unused_parameters=*/false, options.gradient_as_bucket_view, names_by_index,
      options.caps.first,
      /*skip_all_reduce_unused_params=*/false,
      /*use_python_reducer=*/false,
      /*bucket_bytes_cap_list=*/std::vector<std::int64_t>{});
  state_->logger = std::make_shared<c10d::Logger>(state_->reducer);
  state_->reducer->set_logger(state_->logger);
  state_->logger->set_construction_data_and_log("Network", {},
                                                /*output_device=*/-1,
                                                /*broadcast_buffers=*/false,
                                                /*has_sync_bn=*/false, options.static_graph);
  if (options.static_graph) {
    state_->reducer->set_static_graph();
    state_->logger->set_static_graph();
    state_->delays_all_reduce = true;
  }
}

Reducer::~Reducer() = default;

// If prepare_for_backward() was not called, the Reducer's hooks do nothing, so gradients add up.
// The Python wrapper's no_sync() relies on this, too.
void Reducer::before_forward(bool last_micro) {
  if (last_micro) {
    state_->logger->set_runtime_stats_and_log();
    state_->reducer->prepare_for_forward();
  }
  state_->reducer->rebuild_buckets();
}

void Reducer::before_backward(bool last_micro) {
  if (last_micro) {
    state_->reducer->prepare_for_backward({});
  }
}

// In its first iteration a static graph only counts how often each gradient arrives; the Python
// wrapper then reduces in a callback at the end of the backward pass.
void Reducer::after_backward() {
  if (std::exchange(state_->delays_all_reduce, false)) {
    state_->reducer->delay_all_reduce();
  }
}

std::vector<std::int64_t> Reducer::bucket_bytes() const {
  return state_->logger->get_bucket_sizes();
}

}  // namespace paceline::runtime
