// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/plan/optimizer.h"
#include "paceline/plan/program.h"

namespace paceline::plan {
namespace {

Elements round_up(Elements value, Elements multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

std::optional<BufferId> find_buffer(const Setup& setup, std::string_view name) {
  for (std::size_t i = 0; i < setup.buffers.size(); ++i) {
    if (setup.buffers[i].name == name) {
      return BufferId{static_cast<std::int32_t>(i)};
    }
  }
  return std::nullopt;
}

BufferId buffer_named(const Setup& setup, std::string_view name) {
  const auto found = find_buffer(setup, name);
  PACELINE_CHECK(found.has_value());
  return *found;
}

CommunicatorId communicator_named(const Setup& setup, std::string_view name) {
  const auto found = std::ranges::find(setup.communicators, name, &Communicator::name);
  PACELINE_CHECK(found != setup.communicators.end());
  return CommunicatorId{static_cast<std::int32_t>(found - setup.communicators.begin())};
}

Slice whole(const Setup& setup, BufferId buffer) {
  return {buffer, 0, setup.buffers[index_of(buffer)].elements};
}

Slice whole(const Setup& setup, std::string_view buffer) {
  return whole(setup, buffer_named(setup, buffer));
}

void check_shape(const PlanInput& input) {
  const ModelShape& model = input.model;
  const std::size_t count = model.parameters.size();
  if (count == 0) {
    throw UsageError(fmt::format("model '{}' has no parameters to train", model.name));
  }
  std::vector<bool> seen(count, false);
  for (const ParameterId id : model.ready_order) {
    if (index_of(id) >= count || seen[index_of(id)]) {
      throw UsageError(
          fmt::format("model '{}': the ready order names parameter {} twice, or it is not one of "
                      "the {} parameters",
                      model.name, index_of(id), count));
    }
    seen[index_of(id)] = true;
  }
  if (model.ready_order.size() != count) {
    throw UsageError(fmt::format("model '{}': the ready order has {} of {} parameters", model.name,
                                 model.ready_order.size(), count));
  }
  for (const ParameterShape& parameter : model.parameters) {
    if (index_of(parameter.module) >= model.modules.size()) {
      throw UsageError(fmt::format("model '{}': parameter '{}' belongs to module {} of {}",
                                   model.name, parameter.name, index_of(parameter.module),
                                   model.modules.size()));
    }
  }
  if (input.micro_batches < 1 || input.world < 1 || input.rank < 0 || input.rank >= input.world) {
    throw UsageError(fmt::format("rank {} of {} with {} micro-batches", input.rank, input.world,
                                 input.micro_batches));
  }
}

SetupBuilder::SetupBuilder(const PlanInput& input, const Groups& groups, Rank shards)
    : input_(input) {
  add_buffer({.name = std::string(kValues),
              .dtype = input.model.dtype,
              .initial = InitialValue::kParameters});
  add_buffer({.name = std::string(kGradients), .dtype = input.model.dtype});
  place(groups, shards);
  buckets_ = buckets_of(setup_, groups);
  add_optimizer();
  add_scales();
}

void SetupBuilder::place(const Groups& groups, Rank shards) {
  const BufferId values = buffer_named(setup_, kValues);
  const BufferId gradients = buffer_named(setup_, kGradients);
  const Elements aligned = kAlignmentBytes / size_of(input_.model.dtype);
  setup_.parameters.resize(input_.model.parameters.size());
  std::size_t placed = 0;
  Elements end = 0;
  for (const auto& group : groups) {
    const Elements group_begin = end;
    for (const ParameterId id : group) {
      const Elements count = input_.model.parameters[index_of(id)].elements;
      setup_.parameters[index_of(id)] = {.value = {values, end, count},
                                         .gradient = {gradients, end, count}};
      end = round_up(end + count, aligned);
      ++placed;
    }
    end = group_begin + round_up(end - group_begin, aligned * shards);
  }
  PACELINE_CHECK_EQ(placed, input_.model.parameters.size());
  setup_.buffers[index_of(values)].elements = end;
  setup_.buffers[index_of(gradients)].elements = end;
}

void SetupBuilder::add_optimizer() {
  for (const std::string_view name : state_names(input_.optimizer)) {
    add_buffer_like_values(name);
  }
  add_buffer({.name = std::string(kLearningRate), .dtype = DType::kF64, .elements = 1});
  if (optimizer_named(input_.optimizer.name).counts_steps) {
    add_buffer({.name = std::string(kStepCount), .elements = 1});
  }
}

void SetupBuilder::add_scales() {
  const bool clips = input_.clip_norm > 0;
  if (input_.loss_scaling) {
    add_buffer({.name = std::string(kLossScale), .elements = 1, .initial = InitialValue::kOne});
    add_buffer({.name = std::string(kGrowth), .dtype = DType::kI32, .elements = 1});
  }
  if (input_.loss_scaling || clips) {
    add_buffer({.name = std::string(kAppliedScale), .elements = 1});
    add_buffer({.name = std::string(kFoundInf), .elements = 1});
  }
  if (clips) {
    add_buffer({.name = std::string(kSquares), .dtype = DType::kF64, .elements = 1});
  }
}

BufferId SetupBuilder::add_buffer(Buffer buffer) {
  PACELINE_CHECK(!find_buffer(setup_, buffer.name).has_value());
  setup_.buffers.push_back(std::move(buffer));
  return BufferId{static_cast<std::int32_t>(setup_.buffers.size() - 1)};
}

BufferId SetupBuilder::add_buffer_like_values(std::string_view name, InitialValue initial,
                                              std::optional<DType> type) {
  const Slice values = whole(setup_, kValues);
  return add_buffer({.name = std::string(name),
                     .dtype = type.value_or(input_.model.dtype),
                     .elements = values.count,
                     .layout_source = values,
                     .initial = initial});
}

void SetupBuilder::share_gradient_memory(std::size_t slots) {
  Elements largest = 0;
  for (const Bucket& bucket : buckets_) {
    largest = std::max(largest, bucket.values.count);
  }
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const Elements begin = static_cast<Elements>(i % slots) * largest;
    for (const ParameterId id : buckets_[i].parameters) {
      ParameterPlacement& place = setup_.parameters[index_of(id)];
      place.gradient.begin = begin + place.value.begin - buckets_[i].values.begin;
    }
  }
  setup_.buffers[index_of(buffer_named(setup_, kGradients))].elements =
      largest * static_cast<Elements>(std::min(slots, buckets_.size()));
}

void SetupBuilder::shard_optimizer(Rank shards) {
  for (const std::string_view name : state_names(input_.optimizer)) {
    Buffer& state = setup_.buffers[index_of(buffer_named(setup_, name))];
    PACELINE_CHECK_EQ(state.elements % shards, 0);
    state.elements /= shards;
    state.layout_source.reset();
  }
}

CommunicatorId SetupBuilder::add_communicator(std::string name, Members members) {
  setup_.communicators.push_back({.name = std::move(name),
                                  .members = members,
                                  .order = order_,
                                  .credit_bytes = credit_bytes_});
  return CommunicatorId{static_cast<std::int32_t>(setup_.communicators.size() - 1)};
}

CommunicatorId SetupBuilder::add_world_communicator(std::string name) {
  return add_communicator(std::move(name), Members::spaced(0, input_.world));
}

CommunicatorId SetupBuilder::add_as_ready_communicator(std::string name) {
  const CommunicatorId added = add_world_communicator(std::move(name));
  setup_.communicators.back().order = IssueOrder::kAsReady;
  setup_.communicators.back().credit_bytes = Communicator{}.credit_bytes;
  return added;
}

void SetupBuilder::set_issue_policy(IssueOrder order, std::int64_t credit_bytes) {
  order_ = order;
  credit_bytes_ = credit_bytes;
}

Slice shard_of(const Slice& slice, Rank index, Rank shards) {
  PACELINE_CHECK_EQ(slice.count % shards, 0);
  const Elements count = slice.count / shards;
  return {slice.buffer, slice.begin + index * count, count};
}

std::vector<Bucket> buckets_of(const Setup& setup, const Groups& groups) {
  std::vector<Bucket> buckets;
  for (const auto& group : groups) {
    PACELINE_CHECK(!group.empty());
    const ParameterPlacement& first = setup.parameters[index_of(group.front())];
    buckets.push_back({group, first.value, first.gradient});
  }
  const Slice values = whole(setup, kValues);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Elements end = i + 1 < buckets.size() ? buckets[i + 1].values.begin : values.count;
    buckets[i].values.count = end - buckets[i].values.begin;
    buckets[i].gradients.count = buckets[i].values.count;
    PACELINE_CHECK(buckets[i].values.count >= 0);
  }
  return buckets;
}

}  // namespace paceline::plan
