// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/python_report.h"

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/run_python.h"
#include "paceline/report/comparison_data.h"
#include "paceline/report/formats.h"

namespace paceline::report {

std::string python_report(const std::string& name, const std::vector<std::string>& arguments,
                          const Json& input) {
  const PythonOutput output =
      run_python("paceline.reports." + name, arguments, json_text(input, -1));
  if (output.exit_code != 0) {
    throw WorldError(
        fmt::format("the report {} ended with {}: {}", name, output.exit_code, last_words(output)));
  }
  return output.text;
}

std::string render_dlperf(std::span<const records::RunRecord> records) {
  return python_report("dlperf", {}, comparison_data(records));
}

}  // namespace paceline::report
