// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::cli {

/// `paceline doctor`: looks at this machine and prints what it finds, each with what to change.
/// Returns 0 unless something is broken.
int run_doctor();

}  // namespace paceline::cli
