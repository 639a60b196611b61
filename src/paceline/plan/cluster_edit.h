// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/cluster.h"

namespace paceline::plan {

/// The text of a cluster file with `fits` in its link `link`, and every other
/// line as it was, comments too: fits of the same operation and ranks are
/// replaced, other ones stay.  `file` is what errors name.
///
/// Throws UsageError where the text is no cluster file, where it has no such
/// link, and where the fits of that link are not written as [[links.fits]].
std::string with_fits(std::string_view text,
                      std::string_view link,
                      const std::vector<LinkFit>& fits,
                      const std::string& file);

/// A `[[links]]` table as text, to be appended to a cluster file.
std::string link_text(const ClusterLink& link);

}  // namespace paceline::plan
