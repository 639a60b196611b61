// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/describe.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/plan/access.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::plan {
namespace {

/// Returns the buffer whose tensor names describe ranges of `buffer`: the buffer whose layout it
/// has, or `buffer` itself.
BufferId naming_buffer_of(const Setup& setup, BufferId buffer) {
  const auto& other = setup.buffers[index_of(buffer)].layout_source;
  return other.has_value() && other->begin == 0 ? other->buffer : buffer;
}

/// A tensor's name, and the slice of the buffer that it occupies.
struct NamedSlice {
  std::string name;
  Slice tensor;
};

/// The tensor's name, with the range of its elements that lie in the slice if not all do, so that
/// pieces of a tensor have different names.
std::string tensor_part_text(const NamedSlice& named, const Slice& slice) {
  const Elements begin = std::max<Elements>(0, slice.begin - named.tensor.begin);
  const Elements end = std::min(named.tensor.count, slice.begin + slice.count - named.tensor.begin);
  return begin == 0 && end == named.tensor.count
             ? named.name
             : fmt::format("{}[{}..{})", named.name, begin, end);
}

struct Describer {
  const ModelShape& model;
  const Setup& setup;

  std::int64_t bytes(const Slice& slice) const {
    return slice.count * size_of(setup.buffers[index_of(slice.buffer)].dtype);
  }

  std::string slice(const Slice& what) const { return describe(what, model, setup); }

  std::string on(CommunicatorId id) const {
    const Communicator& communicator = setup.communicators[index_of(id)];
    return fmt::format("on {}, {} {}", communicator.name, communicator.members.size(),
                       communicator.members.size() == 1 ? "rank" : "ranks");
  }

  std::string micro(int number) const {
    return number == 0 ? "" : fmt::format(", micro-batch {}", number);
  }

  std::string operator()(const Forward& forward) const {
    return fmt::format("forward, {}{}", model.modules[index_of(forward.module)],
                       micro(forward.micro));
  }

  std::string operator()(const Backward& backward) const {
    return fmt::format("backward, {}{}", model.parameters[index_of(backward.parameter)].name,
                       micro(backward.micro));
  }

  std::string operator()(const Collective& collective) const {
    const std::int64_t payload = std::max(bytes(collective.in), bytes(collective.out));
    std::string what = slice(collective.in);
    if (collective.in != collective.out) {
      what += fmt::format(" > {}", slice(collective.out));
    }
    return fmt::format("{}, {}, {}, {}", name_of(collective.pattern), bytes_text(payload), what,
                       on(collective.on));
  }

  std::string operator()(const Exchange& exchange) const {
    std::vector<std::string> messages;
    for (const Message& send : exchange.sends) {
      messages.push_back(fmt::format("{} {} > rank {}", bytes_text(bytes(send.slice)),
                                     slice(send.slice), send.peer));
    }
    for (const Message& receive : exchange.receives) {
      messages.push_back(fmt::format("{} {} < rank {}", bytes_text(bytes(receive.slice)),
                                     slice(receive.slice), receive.peer));
    }
    return fmt::format("exchange, {}, {}", fmt::join(messages, ", "), on(exchange.on));
  }

  std::string operator()(const Kernel& kernel) const {
    if (kernel.writes.empty()) {
      return fmt::format("{}, writes nothing", kernel.name);
    }
    std::int64_t written = 0;
    for (const Access& access : kernel.writes) {
      written += bytes(access.slice);
    }
    const Slice& first = kernel.writes.front().slice;
    const std::size_t more = kernel.writes.size() - 1;
    return fmt::format("{}, {}, {}{}", kernel.name, bytes_text(written), slice(first),
                       more == 0 ? "" : fmt::format(" and {} more", more));
  }
};

/// Whether both ops are Forward, or both Backward, so that one line describes them together.
bool same_kind_of_model_work(const Op& left, const Op& right) {
  return left.work.index() == right.work.index() && (std::holds_alternative<Forward>(left.work) ||
                                                     std::holds_alternative<Backward>(left.work));
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) {
    return fmt::format("{} bytes", bytes);
  }
  constexpr std::array kUnits{"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string describe(const Slice& slice, const ModelShape& model, const Setup& setup) {
  const Slice named{naming_buffer_of(setup, slice.buffer), slice.begin, slice.count};
  std::optional<NamedSlice> first, last;
  for (std::size_t i = 0; i < setup.parameters.size(); ++i) {
    for (const Slice& tensor : {setup.parameters[i].value, setup.parameters[i].gradient}) {
      if (!overlap(named, tensor)) {
        continue;
      }
      const NamedSlice found{model.parameters[i].name, tensor};
      if (!first || tensor.begin < first->tensor.begin) {
        first = found;
      }
      if (!last || tensor.begin > last->tensor.begin) {
        last = found;
      }
    }
  }
  const Buffer& buffer = setup.buffers[index_of(slice.buffer)];
  if (!first) {
    const bool all = slice.begin == 0 && slice.count == buffer.elements;
    return all ? buffer.name
               : fmt::format("{}[{}..{})", buffer.name, slice.begin, slice.begin + slice.count);
  }
  return first->tensor == last->tensor
             ? fmt::format("{} {}", buffer.name, tensor_part_text(*first, named))
             : fmt::format("{} {} .. {}", buffer.name, tensor_part_text(*first, named),
                           tensor_part_text(*last, named));
}

std::string describe(const Op& op, const ModelShape& model, const Setup& setup) {
  std::string text = std::visit(Describer{model, setup}, op.work);
  if (!op.performer.empty()) {
    text += fmt::format(", by {}", op.performer);
  }
  return text;
}

std::string describe(const CommPlan& plan, const ModelShape& model, const Setup& setup) {
  std::string text;
  for (std::size_t i = 0; i < plan.ops.size();) {
    std::size_t end = i + 1;
    while (end < plan.ops.size() && same_kind_of_model_work(plan.ops[i], plan.ops[end])) {
      ++end;
    }
    const std::string first = describe(plan.ops[i], model, setup);
    if (end == i + 1) {
      text += fmt::format("{:>4}  {}\n", i, first);
    } else {
      const std::string last = describe(plan.ops[end - 1], model, setup);
      text += fmt::format("{:>4}  {} .. {} ({} ops)\n", i, first, last.substr(last.find(", ") + 2),
                          end - i);
    }
    i = end;
  }
  return text;
}

}  // namespace paceline::plan
