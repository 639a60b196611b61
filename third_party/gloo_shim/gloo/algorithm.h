// SPDX-License-Identifier: Apache-2.0
#pragma once
// Included by ProcessGroupGloo.hpp, which uses no name of it.
