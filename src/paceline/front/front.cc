// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/front.h"

#include "paceline/rank/case_record.h"

namespace paceline::front {

void Front::begin(launch::KeyValueStore& /*store*/, int run) {
  run_ = run;
  records_read_ = 0;
}

void Front::take(launch::KeyValueStore& store) {
  const std::size_t before = records_read_;
  while (const auto line = rank::finished_record_line(store, run_, records_read_)) {
    ++records_read_;
    target_.append(*line);
    keep(*line);
  }
  if (records_read_ > before) {
    show_rows();
  }
}

}  // namespace paceline::front
