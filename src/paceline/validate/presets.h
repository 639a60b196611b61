// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "paceline/predict/predict_request.h"
#include "paceline/validate/protocols.h"

// `paceline predict` itself put to the question: a cell's job on the cluster
// file that describes its machines, with nothing but the flags that a user has.

namespace paceline::validate {

/// What a user would ask for the cell: empty where no file of `clusters`
/// describes its machines, where it ran on one host, and for percentiles, of
/// which `predict` says nothing.  `alone` is the published rate of one device
/// for models of which the file has none.
std::optional<predict::PredictRequest> preset_request(
    const Cell& cell,
    const std::vector<Cell>& cells,
    const std::filesystem::path& clusters);

/// Percent by which predict() exceeds the published number, of those of
/// `chosen` for which there is a request.
Errors preset_errors(const std::vector<Cell>& cells,
                     std::span<const Cell* const> chosen,
                     const std::filesystem::path& clusters);

}  // namespace paceline::validate
