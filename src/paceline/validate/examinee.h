// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "paceline/validate/ddp.h"
#include "paceline/validate/decentralized.h"
#include "paceline/validate/frameworks.h"
#include "paceline/validate/survey.h"

namespace paceline::validate {

/// The models of all tables behind one question.
class Examinee {
 public:
  Examinee(const std::vector<Cell>& cells,
           const std::filesystem::path& reference)
      : frameworks_(cells, reference), ddp_(cells) {}

  double samples_per_s(const Cell& cell, const Constants& constants);

 private:
  SurveyModel survey_;
  FrameworkModel frameworks_;
  DdpModel ddp_;
  DecentralizedModel decentralized_;
};

/// Whether a published number is an input of the models, and so never scored.
bool is_input(const Cell& cell);

/// Whether the row is named, never fitted to and scored apart: it contradicts
/// physics (ran_over_10gbe()), something else than data parallelism seems to
/// limit it (FrameworkModel::is_abnormal()), or it is of another set-up.
bool is_set_apart(const Cell& cell);

/// Whether the cell's prediction changes with the constant.
bool depends_on(const Cell& cell, Constant constant);

/// Whether fits hear the cell on the constant: it depends on it, and is not so
/// scattered that it would bend what others tell.  ByteScheduler on a ring,
/// whose repeats differ by 4 to 10 %, and servers, whose repeats differ by up
/// to 15 %, are heard on their own constants alone.
bool is_heard_on(const Cell& cell, Constant constant);

}  // namespace paceline::validate
