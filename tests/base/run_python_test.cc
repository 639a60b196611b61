// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/run_python.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

// More than a pipe holds, to and from the module.
TEST(RunPython, GivesAndTakesTexts) {
  const std::string text = "\"" + std::string(1'000'000, 'x') + "\"\n";
  const PythonOutput output = run_python("json.tool", {"--compact"}, text);
  EXPECT_EQ(output.exit_code, 0) << output.errors;
  EXPECT_EQ(output.text, text);
}

TEST(RunPython, SaysHowAModuleEnded) {
  const PythonOutput output = run_python("json.tool", {}, "{");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.text, "");
  EXPECT_NE(last_error_line(output).find("Expecting"), std::string::npos);
  EXPECT_EQ(last_error_line({}), "nothing said");
}

}  // namespace
}  // namespace paceline
