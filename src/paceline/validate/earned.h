// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

#include "paceline/validate/protocols.h"

namespace paceline::validate {

/// Errors of cross-validations, by table and by what they left out.
using LeftOut = std::map<std::pair<Table, std::string>, Errors>;

/// The text of sim/examined.inc, from which `paceline predict` and `advise`
/// take their error bars: mean and 90th percentile of the absolute errors of
/// each family of strategies on cells that the fit had not seen, or those of
/// `predict` with the files of clusters/ (presets.h), whichever has the larger
/// percentile, and the same of the ratio of two strategies on one job.  Throws
/// UsageError where a family has no cell of either.
std::string earned_rows(const LeftOut& left_out, const Errors& presets);

}  // namespace paceline::validate
