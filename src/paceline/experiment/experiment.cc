// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/experiment.h"
