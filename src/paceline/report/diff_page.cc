// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "paceline/report/console.h"
#include "paceline/report/diff_conclusion.h"
#include "paceline/report/diff_formats.h"
#include "paceline/report/page.h"
#include "paceline/report/table_json.h"

namespace paceline::report {

std::string render_diff_page(const Diff& diff, const PageAssets& assets) {
  const Document document = diff_document(diff);
  return page_text(
      {.title = decision_text(diff),
       .text = console_text(document),
       .data = {{"facts", notes_json(document.header)}, {"diff", diff_json(diff, document)}}},
      assets);
}

std::string render_diff_page(const Diff& diff) { return render_diff_page(diff, page_assets()); }

}  // namespace paceline::report
