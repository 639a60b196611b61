// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/learn.h"
#include "paceline/predict/learn_fit.h"

// What to know before a learned job's predictions are believed, added to the
// warnings of its family.

namespace paceline::predict {

/// What the records do not tell.  `most_exposed` is the largest share of a
/// record's step that communication takes; 1 where none was fitted.
void warn_of_gaps(double most_exposed,
                  const LearnOptions& options,
                  Learned& learned);

/// What its fit shows: how well records are explained, and what they share.
void warn_of_fit(const Fitted& best, Learned& learned);

}  // namespace paceline::predict
