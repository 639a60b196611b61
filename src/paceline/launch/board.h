// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace paceline::launch {

/// A notice board that all ranks of a job, and who watches over them, see:
/// short texts under keys.  Calls may come from several threads; none waits
/// for a key to appear.  Throws WorldError where the board is gone.
class Board {
 public:
  virtual ~Board() = default;
  virtual void post(const std::string& key, const std::string& text) = 0;
  /// Leaves an earlier text alone; returns the text that is there now.
  virtual std::string post_first(const std::string& key,
                                 const std::string& text) = 0;
  virtual std::optional<std::string> read(const std::string& key) = 0;
};

}  // namespace paceline::launch
