// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>

namespace paceline::plan {

using Rank = std::int32_t;

/// The ranks of a group, which is empty or has ranks at equal distances.  Three numbers describe
/// it, so a group of a million ranks needs no more memory than a group of two.
class Members {
 public:
  class Iterator {
   public:
    using value_type = Rank;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const Rank*;
    using reference = Rank;

    Iterator() = default;
    Iterator(Rank rank, Rank stride) : rank_(rank), stride_(stride) {}

    Rank operator*() const { return rank_; }
    Iterator& operator++() {
      rank_ += stride_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Rank rank_ = 0, stride_ = 1;
  };

  Members() = default;
  /// Makes a group of `ranks`, which must be ascending and at equal distances.
  Members(std::initializer_list<Rank> ranks);
  /// The group of the `count` ranks first, first + stride, ...
  static Members spaced(Rank first, Rank count, Rank stride = 1);

  std::size_t size() const { return static_cast<std::size_t>(count_); }
  bool empty() const { return count_ == 0; }
  Rank front() const { return first_; }
  Rank back() const { return (*this)[size() - 1]; }
  Rank operator[](std::size_t place) const { return first_ + static_cast<Rank>(place) * stride_; }
  Iterator begin() const { return {first_, stride_}; }
  Iterator end() const { return {(*this)[size()], stride_}; }

  /// The index of the rank among the members; nullopt if it is not a member.
  std::optional<std::size_t> index_of_rank(Rank rank) const;
  bool contains(Rank rank) const { return index_of_rank(rank).has_value(); }

  friend bool operator==(const Members&, const Members&) = default;

 private:
  Rank first_ = 0, count_ = 0, stride_ = 1;
};

}  // namespace paceline::plan
