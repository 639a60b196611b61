// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/report/table.h"

namespace paceline::report {

/// The tables and notes as GitHub's Markdown, for issues and pull requests.
std::string markdown_text(const Document& document);

/// `text` so that Markdown shows it as it is, in one line, in a table too.
std::string markdown_escaped(std::string_view text);

/// The lines of `text` as they are, and a blank line below; empty for no text.
std::string markdown_paragraph(std::string_view text);

}  // namespace paceline::report
