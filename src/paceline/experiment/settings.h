// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/settings.h"

namespace paceline::experiment {

using cases::Settings;

}  // namespace paceline::experiment
