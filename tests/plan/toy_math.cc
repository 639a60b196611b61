// SPDX-License-Identifier: Apache-2.0
#include "plan/toy_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "paceline/plan/program.h"

namespace paceline::plan {
namespace {

std::size_t size(Elements elements) {
  return static_cast<std::size_t>(elements);
}

/// reads: values, gradients, states, learning rate, [step count], [applied
/// scale, found_inf].
std::vector<Values> update(const Kernel& work,
                           const std::vector<Values>& reads) {
  std::vector<Values> out(
      reads.begin(),
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

/// reads: found_inf, loss scale, growth.  The interval is 2, so that a few
/// steps see the scale grow.
std::vector<Values> rescale(const Kernel& work,
                            const std::vector<Values>& reads) {
  const double scale = reads[1].front();
  if (reads[0].front() == 1) {
    return {{scale * work.numbers[1]}, {0}, {scale}};
  }
  const bool grows = reads[2].front() == 1;
  return {
      {grows ? scale * work.numbers[0] : scale}, {grows ? 0.0 : 1.0}, {scale}};
}

/// Keeps 8 significant bits, as bf16 does.
double rounded(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

/// reads: gradients, residual.  The largest magnitudes first, of equals the
/// first place.
std::vector<Values> topk(const Kernel& work, const std::vector<Values>& reads) {
  Values left(reads[0].size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = reads[0][i] + reads[1][i];
  }
  std::vector<std::size_t> order(left.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::fabs(left[a]) > std::fabs(left[b]);
  });
  order.resize(size(work.writes[0].slice.count));
  std::ranges::sort(order);
  Values values, places;
  for (const std::size_t place : order) {
    values.push_back(left[place]);
    places.push_back(static_cast<double>(place));
    left[place] = 0;
  }
  return {values, places, left};
}

/// reads: values, places, or nothing.
std::vector<Values> scatter(const Kernel& work,
                            const std::vector<Values>& reads) {
  Values sum(size(work.writes[0].slice.count), 0.0);
  for (std::size_t i = 0; !reads.empty() && i < reads[0].size(); ++i) {
    sum[static_cast<std::size_t>(reads[1][i])] += reads[0][i];
  }
  return {sum};
}

/// A toy byte is a number from 0 to 255.
bool bit_of(const Values& bytes, std::size_t i) {
  return std::fmod(std::floor(bytes[i / 8] / std::exp2(i % 8)), 2) == 1;
}

Values packed(const std::vector<bool>& bits) {
  Values bytes((bits.size() + 7) / 8, 0.0);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bytes[i / 8] += bits[i] ? std::exp2(i % 8) : 0;
  }
  return bytes;
}

std::vector<Values> sign(const Values& values) {
  std::vector<bool> bits;
  for (const double value : values) {
    bits.push_back(value >= 0);
  }
  return {packed(bits)};
}

std::vector<Values> unsign(const Kernel& work,
                           const std::vector<Values>& reads) {
  std::vector<Values> out;
  for (std::size_t w = 0; w < work.writes.size(); ++w) {
    out.emplace_back();
    for (std::size_t i = 0; i < size(work.writes[w].slice.count); ++i) {
      out[w].push_back(bit_of(reads[w], i) ? 1 : -1);
    }
  }
  return out;
}

/// Every read holds one or more copies of what is written.
std::vector<Values> vote(const Kernel& work, const std::vector<Values>& reads) {
  const std::size_t bytes = size(work.writes[0].slice.count);
  std::vector<int> sums(8 * bytes, 0);
  for (const Values& read : reads) {
    for (std::size_t i = 0; i < 8 * read.size(); ++i) {
      sums[i % sums.size()] += bit_of(read, i) ? 1 : -1;
    }
  }
  std::vector<bool> majority;
  for (const int sum : sums) {
    majority.push_back(sum >= 0);
  }
  return {packed(majority)};
}

/// reads: anchor, momentum, sum.
std::vector<Values> nesterov(const Kernel& work,
                             const std::vector<Values>& reads) {
  Values anchor = reads[0], momentum = reads[1];
  for (std::size_t i = 0; i < anchor.size(); ++i) {
    const double mean = reads[2][i] / work.numbers[2];
    momentum[i] = work.numbers[1] * momentum[i] + mean;
    anchor[i] -= work.numbers[0] * (mean + work.numbers[1] * momentum[i]);
  }
  return {anchor, momentum};
}

/// reads: anchor, momentum, values, learning rate.
std::vector<Values> slow_momentum(const Kernel& work,
                                  const std::vector<Values>& reads) {
  Values anchor = reads[0], momentum = reads[1];
  const double rate = reads[3][0];
  for (std::size_t i = 0; i < anchor.size(); ++i) {
    momentum[i] =
        work.numbers[1] * momentum[i] + (anchor[i] - reads[2][i]) / rate;
    anchor[i] -= work.numbers[0] * rate * momentum[i];
  }
  return {anchor, momentum};
}

}  // namespace

ToyMemory::ToyMemory(const PlanWorld& world) {
  for (Rank rank = 0; rank < world.ranks(); ++rank) {
    const Setup& setup = world.setup(rank);
    buffers_.emplace_back();
    for (const Buffer& buffer : setup.buffers) {
      const double start = buffer.initial == Initial::kOne ? 1
                           : buffer.name == kLearningRate  ? 0.25
                                                           : 0;
      buffers_.back().emplace_back(size(buffer.elements), start);
    }
    int number = 0;
    for (const Placement& placement : setup.parameters) {
      Values values(size(placement.value.count));
      for (double& value : values) {
        value = (37 * ++number) % 19;
      }
      write(rank, placement.value, values);
      for (std::size_t b = 0; b < setup.buffers.size(); ++b) {
        const Buffer& buffer = setup.buffers[b];
        if (buffer.initial == Initial::kParameters && buffer.stands_for) {
          Slice twin = placement.value;
          twin.buffer = BufferId{static_cast<std::int32_t>(b)};
          write(rank, twin, values);
        }
      }
    }
  }
}

Values ToyMemory::read(Rank rank, const Slice& slice) const {
  const Values& buffer =
      buffers_[static_cast<std::size_t>(rank)][index_of(slice.buffer)];
  const auto begin = buffer.begin() + slice.begin;
  return {begin, begin + slice.count};
}

void ToyMemory::write(Rank rank, const Slice& slice, const Values& values) {
  PACELINE_CHECK_EQ(values.size(), size(slice.count));
  std::ranges::copy(
      values,
      buffers_[static_cast<std::size_t>(rank)][index_of(slice.buffer)].begin() +
          slice.begin);
}

void ToyMemory::poison(Rank rank, const Slice& slice) {
  write(rank, slice, Values(size(slice.count), std::nan("")));
}

Values toy_gradient(Rank rank,
                    Step step,
                    const Backward& work,
                    const Values& value) {
  Values gradient(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto place = static_cast<double>((index_of(work.parameter) + i) % 5);
    gradient[i] = static_cast<double>(rank + 1) * (place + 1) +
                  static_cast<double>(3 * step + 7 * work.micro) +
                  std::fmod(std::fabs(value[i]), 7.0) - 12;
  }
  return gradient;
}

std::vector<Values> toy_kernel(const Kernel& work,
                               const std::vector<Values>& reads) {
  if (work.name == "update") {
    return update(work, reads);
  }
  if (work.name == "check") {
    return check(reads);
  }
  if (work.name == "rescale") {
    return rescale(work, reads);
  }
  if (work.name == "topk") {
    return topk(work, reads);
  }
  if (work.name == "scatter") {
    return scatter(work, reads);
  }
  if (work.name == "sign") {
    return sign(reads[0]);
  }
  if (work.name == "unsign") {
    return unsign(work, reads);
  }
  if (work.name == "vote") {
    return vote(work, reads);
  }
  if (work.name == "nesterov") {
    return nesterov(work, reads);
  }
  if (work.name == "slow_momentum") {
    return slow_momentum(work, reads);
  }
  std::vector<Values> out;
  for (std::size_t w = 0; w < work.writes.size(); ++w) {
    out.emplace_back(size(work.writes[w].slice.count), 0.0);
    for (std::size_t i = 0; i < out[w].size(); ++i) {
      if (work.name == "count") {
        out[w][i] = reads[w][i] + (reads.size() > 1 ? 1 - reads[1][0] : 1);
      } else if (work.name == "copy" || work.name == "view") {
        out[w][i] = work.numbers[0] * reads[w][i];
      } else if (work.name == "cast") {
        out[w][i] = rounded(reads[w][i]);
      } else {
        PACELINE_CHECK(work.name == "linear");
        for (std::size_t r = 0; r < reads.size(); ++r) {
          out[w][i] += work.numbers[r] * reads[r][i];
        }
      }
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
    all = inputs[*on.members.place_of(first.root)];
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
    const auto begin = first.pattern == Pattern::kReduceScatter
                           ? static_cast<Elements>(m) * count
                           : 0;
    out.emplace_back(all.begin() + begin, all.begin() + begin + count);
  }
  return out;
}

}  // namespace paceline::plan
