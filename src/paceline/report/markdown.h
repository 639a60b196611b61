// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/report/table.h"

namespace paceline::report {

/// Renders the tables and notes as GitHub's Markdown, for issues and pull requests.
std::string markdown_text(const Document& document);

/// Escapes `text` so that Markdown shows it unchanged, in one line, also inside a table.
std::string markdown_escaped(std::string_view text);

/// Returns the lines of `text` as a paragraph that keeps its line breaks; empty for an empty text.
std::string markdown_paragraph(std::string_view text);

}  // namespace paceline::report
