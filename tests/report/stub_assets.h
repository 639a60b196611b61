// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/report/page.h"

namespace paceline::report {

/// A page's parts without the libraries, so that it can be read.
inline PageAssets stub_assets() {
  PageAssets assets = page_assets();
  assets.style = "/* style */\n";
  assets.scripts = {"/* script */\n"};
  assets.licences = {"licence <of> others\n"};
  return assets;
}

}  // namespace paceline::report
