// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "paceline/cluster/cluster.h"
#include "paceline/cluster/toml_section.h"

namespace paceline::cluster {

inline constexpr std::array<Word<LinkScope>, 2> kScopes{
    {{"hosts", LinkScope::kHosts}, {"devices", LinkScope::kDevices}}};
inline constexpr std::array<Word<LinkSharing>, 3> kSharings{
    {{"host", LinkSharing::kHost}, {"device", LinkSharing::kDevice}, {"all", LinkSharing::kAll}}};
inline constexpr std::array<Word<bool>, 2> kDuplexes{{{"full", true}, {"half", false}}};

}  // namespace paceline::cluster
