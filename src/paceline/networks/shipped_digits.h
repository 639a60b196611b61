// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace paceline::networks::shipped {

/// data/digits.txt, part of the program.
extern const std::string_view kDigits;

}  // namespace paceline::networks::shipped
