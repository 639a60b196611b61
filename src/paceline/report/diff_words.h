// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/report/diff.h"
#include "paceline/report/scale.h"

namespace paceline::report {

/// What stands below a comparison's table, the same in all forms for people:
/// a head word and a sentence each.
struct Note {
  std::string head;
  std::string sentence;
};

/// Differences of configuration and software, cases without a partner, what
/// the columns are, how sure they are, warnings, and the verdict.
std::vector<Note> notes_of(const Diff& diff);

/// The rows of one table: equal model and batch size.
struct DiffGroup {
  std::string model;
  int batch_size = 0;
  std::vector<const DiffRow*> rows;
};
std::vector<DiffGroup> group_rows(const Diff& diff);

/// Unit and decimals of the times of a group, four figures of the smallest.
Scale time_scale(const DiffGroup& group);

/// "-2.1 [-2.4, -1.8]", in percent.
std::string change_in_words(const DiffRow& row);
/// "0.031", "< 0.001"; "-" where there is none.
std::string p_in_words(const std::optional<double>& p);

}  // namespace paceline::report
