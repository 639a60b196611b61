// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::cli {

/// `paceline doctor`: examines this machine and prints its findings, each with advice on what to
/// change. Returns 0 unless something is broken.
int run_doctor();

}  // namespace paceline::cli
