// SPDX-License-Identifier: Apache-2.0
#include "paceline/model/layer.h"
#include "paceline/model/network.h"
