// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/advise.h"
#include "paceline/predict/codec_advice.h"
#include "paceline/report/command_output.h"

// What `paceline advise` prints, except for the command line that it suggests.

namespace paceline::cli {

/// The output of `paceline advise`. The tables show the first `top` strategies (0: all) and those
/// that cannot be used, the best bucket size and partition of each strategy, and whether codecs
/// with measured coding times shorten the step. CSV has every strategy that can be used, JSON every
/// value of the tables.
report::CommandOutput advice_output(const predict::AdviceTable& table,
                                    const predict::CodecTable& codecs, int top);

}  // namespace paceline::cli
