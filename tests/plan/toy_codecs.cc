// SPDX-License-Identifier: Apache-2.0
#include "plan/toy_codecs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>

namespace paceline::plan {
namespace {

using Results = std::vector<Values>;
using Reads = std::vector<Values>;

std::size_t number(const Kernel& work, std::size_t i) {
  return static_cast<std::size_t>(work.numbers[i]);
}

/// The element at a place that was sent; where it is none, since it was read too early, all become
/// wrong.
double& element(Values& values, double place) {
  if (place >= 0 && place < static_cast<double>(values.size())) {
    return values[static_cast<std::size_t>(place)];
  }
  std::ranges::fill(values, std::nan(""));
  return values.front();
}

Values added(const Values& a, const Values& b) {
  Values sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum[i] = a[i] + b[i];
  }
  return sum;
}

/// reads: gradients, residual.  The largest magnitudes first, of equals the first place.
Results topk(const Kernel& work, const Reads& reads) {
  Values left = added(reads[0], reads[1]);
  std::vector<std::size_t> order(left.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::fabs(left[a]) > std::fabs(left[b]); });
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
Results scatter(const Kernel& work, const Reads& reads) {
  Values sum(size(work.writes[0].slice.count), 0.0);
  for (std::size_t i = 0; !reads.empty() && i < reads[0].size(); ++i) {
    element(sum, reads[1][i]) += reads[0][i];
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

Results sign(const Values& values) {
  std::vector<bool> bits;
  for (const double value : values) {
    bits.push_back(value >= 0);
  }
  return {packed(bits)};
}

Results unsign(const Kernel& work, const Reads& reads) {
  Results out;
  for (std::size_t w = 0; w < work.writes.size(); ++w) {
    out.emplace_back();
    for (std::size_t i = 0; i < size(work.writes[w].slice.count); ++i) {
      out[w].push_back(bit_of(reads[w], i) ? 1 : -1);
    }
  }
  return out;
}

/// Every read holds one or more copies of what is written.
Results vote(const Kernel& work, const Reads& reads) {
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

/// reads: gradients, residual.  A scale is one number, in the first of its four bytes.
Results ef_sign(const Kernel& work, const Reads& reads) {
  Values left = added(reads[0], reads[1]);
  Values wire = sign(left).front();
  for (std::size_t t = 0; t < work.numbers.size(); t += 2) {
    const auto begin = number(work, t);
    const auto end = number(work, t + 1);
    double scale = 0;
    for (std::size_t i = begin; i < end; ++i) {
      scale += std::fabs(left[i]);
    }
    scale /= static_cast<double>(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      left[i] -= left[i] >= 0 ? scale : -scale;
    }
    wire.insert(wire.end(), {scale, 0, 0, 0});
  }
  return {wire, left};
}

/// reads: bits and scales of all ranks.
Results ef_sign_sum(const Kernel& work, const Reads& reads) {
  const std::size_t bytes = size(work.writes[0].slice.count) / 8;
  const std::size_t whole = bytes + 2 * work.numbers.size();
  Values sum(8 * bytes, 0.0);
  for (std::size_t begin = 0; begin < reads[0].size(); begin += whole) {
    const auto at = reads[0].begin() + static_cast<std::ptrdiff_t>(begin);
    const Values one(at, at + static_cast<std::ptrdiff_t>(whole));
    for (std::size_t t = 0; t < work.numbers.size(); t += 2) {
      for (auto i = number(work, t); i < number(work, t + 1); ++i) {
        sum[i] += bit_of(one, i) ? one[bytes + 2 * t] : -one[bytes + 2 * t];
      }
    }
  }
  return {sum};
}

Results sign8(const Reads& reads) {
  Values signs;
  for (const double value : reads[0]) {
    signs.push_back(value >= 0 ? 1 : -1);
  }
  return {signs};
}

Results unsign8(const Reads& reads) {
  Results out;
  for (const Values& read : reads) {
    out.push_back(sign8({read}).front());
  }
  return out;
}

/// reads: values and places of the lower rank, of the higher, own values and places, residual.
Results gtopk_merge(const Reads& reads) {
  std::map<double, double> sums;  // by place
  for (const std::size_t list : {0U, 2U}) {
    for (std::size_t i = 0; i < reads[list].size(); ++i) {
      sums[reads[list + 1][i]] += reads[list][i];
    }
  }
  std::vector<std::pair<double, double>> order(sums.begin(), sums.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return std::fabs(a.second) > std::fabs(b.second);
  });
  order.resize(reads[0].size());
  std::ranges::sort(order);
  Values values, places, own = reads[4], left = reads[6];
  for (const auto& [place, value] : order) {
    places.push_back(place);
    values.push_back(value);
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (std::ranges::find(places, reads[5][i]) == places.end()) {
      element(left, reads[5][i]) += own[i];
      own[i] = 0;
    }
  }
  return {values, places, own, left};
}

/// Every n/k-th place of the tensors; other ones in each draw, the same on all ranks.
Results random_k(const Kernel& work, const Reads& reads, Step draw) {
  Values left = added(reads[0], reads[1]);
  const std::size_t k = size(work.writes[0].slice.count);
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < work.numbers.size(); t += 2) {
    for (auto i = number(work, t); i < number(work, t + 1); ++i) {
      order.push_back(i);
    }
  }
  if (draw > 0) {
    std::ranges::shuffle(order, std::mt19937_64(static_cast<std::uint64_t>(draw)));
  }
  Values values, places;
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t place = order[i * order.size() / k];
    values.push_back(left[place]);
    places.push_back(static_cast<double>(place));
    left[place] = 0;
  }
  return {values, places, left};
}

/// The largest magnitude in place of the norm, values rounded to the nearest; a norm is one number,
/// in the first of its four bytes.
Results qsgd(const Kernel& work, const Reads& reads) {
  const Values& values = reads[0];
  Values codes, norms;
  for (std::size_t begin = 0; begin < values.size(); begin += number(work, 1)) {
    const std::size_t end = std::min(begin + number(work, 1), values.size());
    double norm = 0;
    for (std::size_t i = begin; i < end; ++i) {
      norm = std::max(norm, std::fabs(values[i]));
    }
    for (std::size_t i = begin; i < end; ++i) {
      codes.push_back(norm == 0 ? 0 : std::nearbyint(values[i] / norm * work.numbers[0]));
    }
    norms.insert(norms.end(), {norm, 0, 0, 0});
  }
  codes.insert(codes.end(), norms.begin(), norms.end());
  return {codes};
}

Results qsgd_sum(const Kernel& work, const Reads& reads) {
  const std::size_t n = size(work.writes[0].slice.count);
  const std::size_t block = number(work, 1);
  const std::size_t whole = n + (n + block - 1) / block * 4;
  Values sum(n, 0.0);
  for (std::size_t begin = 0; begin < reads[0].size(); begin += whole) {
    for (std::size_t i = 0; i < n; ++i) {
      sum[i] += reads[0][begin + i] / work.numbers[0] * reads[0][begin + n + i / block * 4];
    }
  }
  return {sum};
}

/// A tensor of a slice, and its factors.
struct Factored {
  std::size_t begin, rows, columns, rank, left, right;
};

std::vector<Factored> factored(const Kernel& work) {
  std::vector<Factored> all;
  std::size_t left = 0, right = 0;
  for (std::size_t i = 0; i + 3 < work.numbers.size(); i += 4) {
    const Factored one{number(work, i),
                       number(work, i + 1),
                       number(work, i + 2),
                       number(work, i + 3),
                       left,
                       right};
    all.push_back(one);
    left += one.rows * std::max(one.rank, std::size_t{1});
    right += one.columns * one.rank;
  }
  return all;
}

/// A Q that is zero starts with 1, 2, 3, ..., of which every third is negative from another one on
/// in each draw.
Results powersgd_left(const Kernel& work, const Reads& reads, Step draw) {
  Values p(size(work.writes[0].slice.count), 0.0), m = reads[1];
  Values q = reads.size() > 2 ? reads[2] : Values{};
  for (const Factored& f : factored(work)) {
    const auto begin = q.begin() + static_cast<std::ptrdiff_t>(f.right);
    const auto end = begin + static_cast<std::ptrdiff_t>(f.columns * f.rank);
    if (f.rank > 0 && std::count(begin, end, 0.0) == end - begin) {
      std::iota(begin, end, 1.0);
      for (auto at = begin; at != end; ++at) {
        *at *= draw > 0 && (at - begin + draw) % 3 == 0 ? -1 : 1;
      }
    }
    for (std::size_t r = 0; r < f.rows; ++r) {
      if (f.rank == 0) {
        p[f.left + r] = reads[0][f.begin + r];
        continue;
      }
      for (std::size_t c = 0; c < f.columns; ++c) {
        const std::size_t at = f.begin + r * f.columns + c;
        m[at] += reads[0][at];
        for (std::size_t k = 0; k < f.rank; ++k) {
          p[f.left + r * f.rank + k] += m[at] * q[f.right + c * f.rank + k];
        }
      }
    }
  }
  return reads.size() > 2 ? Results{p, m, q} : Results{p, m};
}

/// Gram-Schmidt; a column of zeros stays.
Results powersgd_right(const Kernel& work, const Reads& reads) {
  Values p = reads[0], q(size(work.writes[1].slice.count), 0.0);
  for (const Factored& f : factored(work)) {
    for (std::size_t k = 0; k < f.rank; ++k) {
      const auto at = [&](std::size_t r, std::size_t column) -> double& {
        return p[f.left + r * f.rank + column];
      };
      const auto dot = [&](std::size_t a, std::size_t b) {
        double sum = 0;
        for (std::size_t r = 0; r < f.rows; ++r) {
          sum += at(r, a) * at(r, b);
        }
        return sum;
      };
      for (std::size_t before = 0; before < k; ++before) {
        const double along = dot(before, k);
        for (std::size_t r = 0; r < f.rows; ++r) {
          at(r, k) -= along * at(r, before);
        }
      }
      const double norm = std::sqrt(dot(k, k));
      for (std::size_t r = 0; norm > 0 && r < f.rows; ++r) {
        at(r, k) /= norm;
      }
      for (std::size_t c = 0; c < f.columns; ++c) {
        for (std::size_t r = 0; r < f.rows; ++r) {
          q[f.right + c * f.rank + k] += reads[1][f.begin + r * f.columns + c] * at(r, k);
        }
      }
    }
  }
  return {p, q};
}

Results powersgd_outer(const Kernel& work, const Reads& reads) {
  const bool has_residual = work.writes.size() > 1;
  Values values(size(work.writes[0].slice.count), 0.0);
  Values m = has_residual ? reads.back() : Values(values.size());
  for (const Factored& f : factored(work)) {
    for (std::size_t r = 0; r < f.rows; ++r) {
      if (f.rank == 0) {
        values[f.begin + r] = reads[0][f.left + r];
        continue;
      }
      for (std::size_t c = 0; c < f.columns; ++c) {
        const std::size_t at = f.begin + r * f.columns + c;
        for (std::size_t k = 0; k < f.rank; ++k) {
          values[at] += reads[0][f.left + r * f.rank + k] * reads[1][f.right + c * f.rank + k];
        }
        m[at] -= values[at] / work.numbers.back();
      }
    }
  }
  return has_residual ? Results{values, m} : Results{values};
}

}  // namespace

std::optional<std::vector<Values>> toy_codec(const Kernel& work, const std::vector<Values>& reads,
                                             Step draw) {
  if (work.name == "powersgd_left") {
    return powersgd_left(work, reads, draw);
  }
  if (work.name == "random_k") {
    return random_k(work, reads, draw);
  }
  using Code = Results (*)(const Kernel&, const Reads&);
  static const std::map<std::string_view, Code> codes{
      {"topk", topk},
      {"scatter", scatter},
      {"sign", [](const Kernel&, const Reads& r) { return sign(r[0]); }},
      {"unsign", unsign},
      {"vote", vote},
      {"sign8", [](const Kernel&, const Reads& r) { return sign8(r); }},
      {"unsign8", [](const Kernel&, const Reads& r) { return unsign8(r); }},
      {"ef_sign", ef_sign},
      {"ef_sign_sum", ef_sign_sum},
      {"gtopk_merge", [](const Kernel&, const Reads& r) { return gtopk_merge(r); }},
      {"qsgd", qsgd},
      {"qsgd_sum", qsgd_sum},
      {"powersgd_right", powersgd_right},
      {"powersgd_outer", powersgd_outer}};
  const auto found = codes.find(work.name);
  if (found == codes.end()) {
    return std::nullopt;
  }
  return found->second(work, reads);
}

}  // namespace paceline::plan
