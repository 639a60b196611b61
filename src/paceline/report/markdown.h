// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The tables with every interval as GitHub's Markdown, for issues and pull
/// requests: what the page's tables say, with the meaning of the columns and
/// the warnings below.
std::string render_markdown(std::span<const records::RunRecord> records);

/// `text` so that Markdown shows it as it is, in one line, in a table too.
std::string markdown_text(std::string_view text);

}  // namespace paceline::report
