// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/survey_cell.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline::validate {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kMethods[] = {"BSP-A2A",
                                         "WFBP-A2A",
                                         "MG-WFBP",
                                         "ByteScheduler-A2A",
                                         "BSP-PS",
                                         "WFBP-PS",
                                         "ByteScheduler-PS"};
constexpr std::string_view kModels[] = {"ResNet-50", "BERT-Base", "BERT-Large"};
constexpr std::string_view kNetworks[] = {"10GbE", "100GbIB", "100GbE"};
constexpr std::string_view kDevices[] = {"4", "8", "16", "32"};

struct Piece {
  std::string_view what;
  Names known;
};

constexpr Piece kPieces[] = {{"method", kMethods},
                             {"model", kModels},
                             {"network", kNetworks},
                             {"number of devices", kDevices}};

}  // namespace

Names survey_networks() {
  return kNetworks;
}

SurveyCell survey_cell(const Cell& cell) {
  if (cell.key.size() != std::size(kPieces)) {
    throw UsageError(fmt::format(
        "cell '{}' of the survey is no method|model|network|devices", cell.id));
  }
  for (std::size_t i = 0; i < std::size(kPieces); ++i) {
    const auto& [what, known] = kPieces[i];
    if (std::ranges::find(known, cell.key[i]) == known.end()) {
      throw UsageError(fmt::format(
          "cell '{}' of the survey: {}",
          cell.id,
          unknown_name(what,
                       cell.key[i],
                       std::vector<std::string>(known.begin(), known.end()))));
    }
  }
  return {.method = cell.key[0],
          .model = cell.key[1],
          .network = cell.key[2],
          .gpus = std::stoi(cell.key[3])};
}

std::string_view simulated_as(std::string_view method) {
  return method == "ByteScheduler-PS" ? "WFBP-PS" : method;
}

bool ran_over_10gbe(const SurveyCell& cell) {
  return cell.network == "100GbE" && cell.gpus > 4 &&
         (cell.method == "BSP-PS" || cell.method == "WFBP-PS") &&
         cell.model != "BERT-Base";
}

Wire wire_of(const SurveyCell& cell) {
  if (cell.hosts() == 1) {
    return Wire::kNone;
  }
  if (cell.network == "10GbE" || ran_over_10gbe(cell)) {
    return Wire::kTcp10;
  }
  return cell.network == "100GbE" ? Wire::kTcp100 : Wire::kInfiniBand;
}

}  // namespace paceline::validate
