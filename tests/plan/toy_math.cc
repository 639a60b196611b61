// SPDX-License-Identifier: Apache-2.0
#include "plan/toy_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "paceline/plan/program.h"
#include "plan/toy_codecs.h"

namespace paceline::plan {
namespace {

/// reads: values, gradients, states, learning rate, [step count], [applied scale, found_inf].
std::vector<Values> update(const Kernel& work, const std::vector<Values>& reads) {
  std::vector<Values> out(reads.begin(),
                          reads.begin() + static_cast<std::ptrdiff_t>(work.writes.size()));
  const std::size_t more = reads.size() - out.size() - 1;
  const bool scaled = more >= 2;
  if (scaled && reads.back().front() == 1) {
    return out;
  }
  const double rate = reads[out.size()].front();
  const double count = more % 2 == 1 ? reads[out.size() + 1].front() : 1;
  const double scale = scaled ? reads[reads.size() - 2].front() : 1;
  for (std::size_t i = 0; i < out[0].size(); ++i) {
    const double gradient = reads[1][i] / (work.numbers[0] * scale);
    double step = gradient;
    for (std::size_t s = 2; s < out.size(); ++s) {
      out[s][i] = reads[s][i] * 0.5 + gradient;
      step = out[s][i] / count;
    }
    out[0][i] = reads[0][i] - rate * step;
    out[1][i] = gradient;
  }
  return out;
}

/// Toy gradients are always finite: every third sum counts as an overflow.
std::vector<Values> check(const std::vector<Values>& reads) {
  const Values& gradients = reads[0];
  const double sum = std::accumulate(gradients.begin(), gradients.end(), 0.0);
  return {gradients, {std::fmod(std::floor(sum), 3.0) == 0 ? 1.0 : 0.0}};
}

/// reads: found_inf, loss scale, growth.  The interval is 2, so that a few steps see the scale
/// grow.
std::vector<Values> rescale(const Kernel& work, const std::vector<Values>& reads) {
  const double scale = reads[1].front();
  if (reads[0].front() == 1) {
    return {{scale * work.numbers[1]}, {0}, {scale}};
  }
  const bool grows = reads[2].front() == 1;
  return {{grows ? scale * work.numbers[0] : scale}, {grows ? 0.0 : 1.0}, {scale}};
}

/// Keeps 8 significant bits, as bf16 does.
double rounded(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

/// reads: anchor, momentum, sum.
std::vector<Values> nesterov(const Kernel& work, const std::vector<Values>& reads) {
  Values anchor = reads[0], momentum = reads[1];
  for (std::size_t i = 0; i < anchor.size(); ++i) {
    const double mean = reads[2][i] / work.numbers[2];
    momentum[i] = work.numbers[1] * momentum[i] + mean;
    anchor[i] -= work.numbers[0] * (mean + work.numbers[1] * momentum[i]);
  }
  return {anchor, momentum};
}

/// reads: anchor, momentum, values, learning rate.
std::vector<Values> slow_momentum(const Kernel& work, const std::vector<Values>& reads) {
  Values anchor = reads[0], momentum = reads[1];
  const double rate = reads[3][0];
  for (std::size_t i = 0; i < anchor.size(); ++i) {
    momentum[i] = work.numbers[1] * momentum[i] + (anchor[i] - reads[2][i]) / rate;
    anchor[i] -= work.numbers[0] * rate * momentum[i];
  }
  return {anchor, momentum};
}

/// Kernels of embedding tables: something of all that they read, where any of it counts.
std::vector<Values> mixed(const Kernel& work, const std::vector<Values>& reads) {
  std::vector<Values> out;
  for (const Access& access : work.writes) {
    out.emplace_back(size(access.slice.count), 1.0);
    for (std::size_t i = 0; i < out.back().size(); ++i) {
      for (std::size_t r = 0; r < reads.size(); ++r) {
        const Values& read = reads[r];
        const double value = read.empty() ? 0 : read[i % read.size()];
        out.back()[i] += static_cast<double>(r + out.size()) * value;
      }
      out.back()[i] = std::fmod(out.back()[i], 1021.0);
    }
  }
  return out;
}

bool is_of_tables(std::string_view kernel) {
  return kernel == "draw_rows" || kernel == "deduplicate" || kernel == "lookup" ||
         kernel == "pool" || kernel == "pool_gradient" || kernel == "update_rows" ||
         kernel == "update_all_rows";
}

std::vector<Values> square_sum(const std::vector<Values>& reads) {
  double sum = 0;
  for (const Values& read : reads) {
    for (const double value : read) {
      sum += value * value;
    }
  }
  return {{sum}};
}

/// numbers: largest norm, divisor, copies.
std::vector<Values> clip(const Kernel& work, const std::vector<Values>& reads) {
  const double scale = reads.size() > 1 ? reads[1].front() : 1;
  const double norm = std::sqrt(reads[0].front() / work.numbers[2]) / (work.numbers[1] * scale);
  return {{scale * std::max(1.0, (norm + 1e-6) / work.numbers[0])}};
}

/// Element i of write w of a kernel that computes each by itself.
using Element = double (*)(const Kernel& work, const std::vector<Values>& reads, std::size_t w,
                           std::size_t i);

Element element_of(std::string_view kernel) {
  if (kernel == "count") {
    return [](const Kernel&, const auto& reads, auto w, auto i) {
      return reads[w][i] + (reads.size() > 1 ? 1 - reads[1][0] : 1);
    };
  }
  if (kernel == "copy" || kernel == "view") {
    return [](const Kernel& work, const auto& reads, auto w, auto i) {
      return work.numbers[0] * reads[w][i];
    };
  }
  if (kernel == "multiply") {
    return [](const Kernel&, const auto& reads, auto, auto i) { return reads[0][i] * reads[1][0]; };
  }
  if (kernel == "divide") {
    return [](const Kernel&, const auto& reads, auto, auto i) { return reads[0][i] / reads[1][0]; };
  }
  if (kernel == "cast") {
    return [](const Kernel&, const auto& reads, auto w, auto i) { return rounded(reads[w][i]); };
  }
  PACELINE_CHECK(kernel == "linear");
  return [](const Kernel& work, const auto& reads, auto, auto i) {
    double sum = 0;
    for (std::size_t r = 0; r < reads.size(); ++r) {
      sum += work.numbers[r] * reads[r][i];
    }
    return sum;
  };
}

}  // namespace

ToyMemory::ToyMemory(const PlanWorld& world) {
  for (Rank rank = 0; rank < world.ranks(); ++rank) {
    const Setup& setup = world.setup(rank);
    buffers_.emplace_back();
    for (const Buffer& buffer : setup.buffers) {
      const double start = buffer.initial == InitialValue::kOne ? 1
                           : buffer.name == kLearningRate       ? 0.25
                                                                : 0;
      buffers_.back().emplace_back(size(buffer.elements), start);
    }
    int number = 0;
    for (const ParameterPlacement& placement : setup.parameters) {
      Values values(size(placement.value.count));
      for (double& value : values) {
        value = (37 * ++number) % 19;
      }
      write(rank, placement.value, values);
      for (std::size_t b = 0; b < setup.buffers.size(); ++b) {
        const Buffer& buffer = setup.buffers[b];
        if (buffer.initial == InitialValue::kParameters && buffer.layout_source) {
          Slice twin = placement.value;
          twin.buffer = BufferId{static_cast<std::int32_t>(b)};
          write(rank, twin, values);
        }
      }
    }
  }
}

Values ToyMemory::read(Rank rank, const Slice& slice) const {
  const Values& buffer = buffers_[static_cast<std::size_t>(rank)][index_of(slice.buffer)];
  const auto begin = buffer.begin() + slice.begin;
  return {begin, begin + slice.count};
}

void ToyMemory::write(Rank rank, const Slice& slice, const Values& values) {
  PACELINE_CHECK_EQ(values.size(), size(slice.count));
  std::ranges::copy(
      values,
      buffers_[static_cast<std::size_t>(rank)][index_of(slice.buffer)].begin() + slice.begin);
}

void ToyMemory::poison(Rank rank, const Slice& slice) {
  write(rank, slice, Values(size(slice.count), std::nan("")));
}

Values toy_gradient(Rank rank, Step step, const Backward& work, const Values& value) {
  Values gradient(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto place = static_cast<double>((index_of(work.parameter) + i) % 5);
    gradient[i] = static_cast<double>(rank + 1) * (place + 1) +
                  static_cast<double>(3 * step + 7 * work.micro) +
                  std::fmod(std::fabs(value[i]), 7.0) - 12;
  }
  return gradient;
}

std::vector<Values> toy_kernel(const Kernel& work, const std::vector<Values>& reads, Step draw) {
  if (work.name == "update") {
    return update(work, reads);
  }
  if (work.name == "check") {
    return check(reads);
  }
  if (work.name == "rescale") {
    return rescale(work, reads);
  }
  if (work.name == "square_sum") {
    return square_sum(reads);
  }
  if (work.name == "clip") {
    return clip(work, reads);
  }
  if (work.name == "nesterov") {
    return nesterov(work, reads);
  }
  if (work.name == "slow_momentum") {
    return slow_momentum(work, reads);
  }
  if (const auto coded = toy_codec(work, reads, draw)) {
    return *coded;
  }
  if (is_of_tables(work.name)) {
    return mixed(work, reads);
  }
  const Element element = element_of(work.name);
  std::vector<Values> out;
  for (std::size_t w = 0; w < work.writes.size(); ++w) {
    out.emplace_back(size(work.writes[w].slice.count), 0.0);
    for (std::size_t i = 0; i < out[w].size(); ++i) {
      out[w][i] = element(work, reads, w, i);
    }
  }
  return out;
}

std::vector<Values> toy_collective(const Communicator& on,
                                   const std::vector<const Collective*>& parts,
                                   const std::vector<Values>& inputs) {
  const Collective& first = *parts.front();
  Values all;  // reduced, gathered or the root's
  if (first.pattern == Pattern::kAllGather) {
    for (const Values& input : inputs) {
      all.insert(all.end(), input.begin(), input.end());
    }
  } else if (first.pattern == Pattern::kBroadcast) {
    all = inputs[*on.members.index_of_rank(first.root)];
  } else {
    all.assign(inputs.front().size(), 0.0);
    for (const Values& input : inputs) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] += input[i];
      }
    }
    if (first.reduce == Reduce::kMean) {
      for (double& value : all) {
        value /= static_cast<double>(inputs.size());
      }
    }
  }
  std::vector<Values> out;
  for (std::size_t m = 0; m < parts.size(); ++m) {
    const auto count = parts[m]->out.count;
    const auto begin =
        first.pattern == Pattern::kReduceScatter ? static_cast<Elements>(m) * count : 0;
    out.emplace_back(all.begin() + begin, all.begin() + begin + count);
  }
  return out;
}

}  // namespace paceline::plan
