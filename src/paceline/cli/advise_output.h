// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/advise.h"
#include "paceline/predict/codec_advice.h"
#include "paceline/report/command_output.h"

// What `paceline advise` prints, without the command to go on with.

namespace paceline::cli {

/// Tables: the first `top` strategies (0: all) with what their marks mean and what cannot be; the
/// bucket size and partition that each should have; whether codecs pay whose coding times were
/// measured.  CSV: every strategy that can be.  JSON: every value of the tables.
report::CommandOutput advice_output(const predict::AdviceTable& table,
                                    const predict::CodecTable& codecs, int top);

}  // namespace paceline::cli
