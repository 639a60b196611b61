// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::cli {

/// The whole program.  Returns the exit code: 0, 2 for a mistake in what was asked (one sentence on
/// stderr), 3 for a world or machine that failed, 130 after Ctrl-C.
int run_program(int argc, const char* const* argv);

}  // namespace paceline::cli
