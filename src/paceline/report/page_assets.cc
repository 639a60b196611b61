// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/page.h"
#include "paceline/report/page/embedded.h"

namespace paceline::report {

PageAssets page_assets() {
  return {.style = embedded::kStyle,
          .scripts = {embedded::kD3,
                      embedded::kPlot,
                      embedded::kCharts,
                      embedded::kScript},
          .licences = {embedded::kD3Licence, embedded::kPlotLicence}};
}

}  // namespace paceline::report
