// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/case.h"

namespace paceline::records {

using Configuration = cases::Case;

}  // namespace paceline::records
