// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/calibrate.h"
#include "paceline/predict/calibration_fit.h"

// What to know before the predictions of a calibrated job are believed, added
// to the warnings of its measured job.

namespace paceline::predict {

/// What the records do not tell.  `most_exposed` is the largest share of a
/// record's step that communication takes; 1 where none was fitted.
void warn_of_gaps(double most_exposed,
                  const CalibrationOptions& options,
                  Calibration& calibration);

/// What its fit shows: how well records are explained, and what they share.
void warn_of_fit(const Fitted& best, Calibration& calibration);

}  // namespace paceline::predict
