// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/report/bases.h"
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

/// "1M/2G (model resnet50, batch 32, 2 ranks, ddp)".
std::string words_of(const Case& one);
/// Those of the first three cases, and how many more there are.
std::string words_of(const std::vector<Case>& cases);

/// The rows of one table: equal model and batch size.
struct DiffGroup {
  std::string model;
  int batch_size = 0;
  std::vector<const DiffRow*> rows;
};
std::vector<DiffGroup> group_rows(const Diff& diff);

/// The kinds of the intervals that the rows show.
Bases bases_of(const Diff& diff);

/// Unit and decimals of the times of a group, four figures of the smallest;
/// `mark` follows intervals from the steps inside the runs (Bases::mark).
Scale time_scale(const DiffGroup& group, std::string_view mark);

/// "-2.1 [-2.4, -1.8]", in percent, with that mark.
std::string change_in_words(const DiffRow& row, std::string_view mark);
/// "0.031", "< 0.001"; "-" where there is none.
std::string p_in_words(const std::optional<double>& p);

}  // namespace paceline::report
