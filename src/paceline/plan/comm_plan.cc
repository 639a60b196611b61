// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/comm_plan.h"
