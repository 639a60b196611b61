// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/members.h"

#include "paceline/base/error.h"

namespace paceline::plan {

Members::Members(std::initializer_list<Rank> ranks) {
  if (ranks.size() == 0) {
    return;
  }
  const Rank* rank = ranks.begin();
  *this =
      spaced(rank[0], static_cast<Rank>(ranks.size()), ranks.size() > 1 ? rank[1] - rank[0] : 1);
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    PACELINE_CHECK_EQ((*this)[place], rank[place]);
  }
}

Members Members::spaced(Rank first, Rank count, Rank stride) {
  PACELINE_CHECK(count >= 0 && stride > 0);
  Members members;
  members.first_ = first;
  members.count_ = count;
  members.stride_ = stride;
  return members;
}

std::optional<std::size_t> Members::index_of_rank(Rank rank) const {
  const Rank distance = rank - first_;
  if (distance < 0 || distance % stride_ != 0 || distance / stride_ >= count_) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(distance / stride_);
}

}  // namespace paceline::plan
