// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::cli {

/// Runs the whole program. Returns the exit code: 0 for success, 2 for a mistake of the user (one
/// sentence on stderr), 3 for a failure of ranks or of the machine, 130 after Ctrl-C.
int run_program(int argc, const char* const* argv);

}  // namespace paceline::cli
