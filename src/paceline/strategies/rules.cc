// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rules.h"

#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/strategies/error_feedback.h"

namespace paceline::strategies {

void PlanWriter::start(const Bucket& bucket, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.start(bucket, program_);
  program_.set_priority(first, priority);
}

void PlanWriter::finish(const Bucket& bucket, std::int32_t priority) {
  if (program_.input().clip_norm > 0 && update_.updates_in_finish()) {
    delayed_updates_.push_back({bucket, priority, true});
  } else {
    finish_now(bucket, priority);
  }
}

void PlanWriter::apply(const Bucket& bucket, std::int32_t priority) {
  if (program_.input().loss_scaling || program_.input().clip_norm > 0) {
    delayed_updates_.push_back({bucket, priority});
  } else {
    apply_now(bucket, priority);
  }
}

void PlanWriter::finish_now(const Bucket& bucket, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.finish(bucket, program_);
  program_.set_priority(first, priority);
}

void PlanWriter::apply_now(const Bucket& bucket, std::int32_t priority) {
  const OpIndex first = program_.size();
  update_.apply(bucket, program_);
  program_.set_priority(first, priority);
}

void PlanWriter::synchronize() {
  for (const Bucket& bucket : buckets()) {
    start(bucket);
    finish(bucket);
    apply(bucket);
  }
}

void PlanWriter::apply_delayed_updates() {
  program_.check_gradients();
  if (program_.input().clip_norm > 0) {
    std::vector<Bucket> finishing;
    for (const DelayedUpdate& one : delayed_updates_) {
      if (one.finishes) {
        finishing.push_back(one.bucket);
      }
    }
    update_.clip(finishing, program_);
  }
  for (const auto& [bucket, priority, finishes] : delayed_updates_) {
    if (finishes) {
      finish_now(bucket, priority);
    } else {
      apply_now(bucket, priority);
    }
  }
}

std::vector<Slice> tensors_in(const Slice& slice, const Program& program) {
  std::vector<Slice> tensors;
  for (const ParameterId id : program.buckets()[program.bucket_at(slice.begin)].parameters) {
    const Slice& tensor = program.setup().parameters[index_of(id)].value;
    const Elements begin = std::max(slice.begin, tensor.begin);
    const Elements end = std::min(slice.begin + slice.count, tensor.begin + tensor.count);
    if (begin < end) {
      tensors.push_back({slice.buffer, begin, end - begin});
    }
  }
  return tensors;
}

std::vector<double> tensor_borders_in(const Slice& slice, const Program& program) {
  std::vector<double> borders;
  for (const Slice& tensor : tensors_in(slice, program)) {
    const Elements begin = tensor.begin - slice.begin;
    borders.push_back(static_cast<double>(begin));
    borders.push_back(static_cast<double>(begin + tensor.count));
  }
  return borders;
}

Slice same_range_in(std::string_view buffer, const Slice& slice, const Program& program) {
  return {buffer_named(program.setup(), buffer), slice.begin, slice.count};
}

Slice gathered_slice_in(std::string_view buffer, const Slice& mine, const Program& program) {
  const auto all = find_buffer(program.setup(), buffer);
  const Elements world = program.input().world;
  return all ? Slice{*all, world * mine.begin, world * mine.count} : Slice{};
}

std::vector<Bucket> buckets_in(const Bucket& bucket, const Program& program) {
  std::vector<Bucket> found;
  for (const Bucket& one : program.buckets()) {
    if (one.values.begin >= bucket.values.begin &&
        one.values.begin + one.values.count <= bucket.values.begin + bucket.values.count) {
      found.push_back(one);
    }
  }
  return found;
}

void CodecRule::decode(const Slice& slice, Program& program) const {
  std::vector<Slice> forms;
  for (const WireSlice& wire_slice : wire_slices(slice, rounds(program.input()) - 1, program)) {
    const bool gathered = wire_slice.format.combination == Combination::kGather;
    forms.push_back(gathered ? wire_slice.all : wire_slice.mine);
  }
  decode_from(forms, slice, program);
}

void CodecRule::forget(const Slice& slice, Program& program) const {
  forget_residual(slice, program);
}

void CodecRule::decode_from(const std::vector<Slice>&, const Slice&, Program&) const {
  PACELINE_CHECK(false);
}

void StrategyProgram::prepare_exchange(const Slice& values) {
  if (input().world > 1) {
    transfer_.exchange.prepare(values, *this);
  }
}

void StrategyProgram::start_exchange(const Slice& slice) {
  const auto& [exchange, codec] = transfer_;
  const int rounds = codec.rounds(input());
  for (int round = 0; input().world > 1 && round < rounds; ++round) {
    if (trains()) {
      codec.encode(slice, round, *this);
    }
    const auto wire_slices = codec.wire_slices(slice, round, *this);
    for (const WireSlice& wire_slice : wire_slices) {
      exchange.start(wire_slice, *this);
    }
    for (const WireSlice& wire_slice : wire_slices) {
      if (round + 1 < rounds) {
        exchange.finish(wire_slice, *this);
      }
    }
  }
}

void StrategyProgram::finish_exchange(const Slice& slice) {
  const auto& [exchange, codec] = transfer_;
  if (input().world == 1) {
    return;
  }
  const int last = codec.rounds(input()) - 1;
  for (const WireSlice& wire_slice : codec.wire_slices(slice, last, *this)) {
    exchange.finish(wire_slice, *this);
  }
  if (trains()) {
    codec.decode(slice, *this);
  }
}

void StrategyProgram::finish_average(const Slice& slice) {
  finish_exchange(slice);
  if (divisor() != 1 && trains()) {
    kernel("copy", {{slice}}, {{slice}}, {1 / divisor()});
  }
}

double StrategyProgram::divisor() const {
  return transfer_.codec.format(input()).summed || input().world == 1 ? exchange_traits().divisor
                                                                      : 1;
}

}  // namespace paceline::strategies
