// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/network_interface.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::launch {
namespace {

TEST(Interface, loopback_exists_and_is_not_outward) {
  EXPECT_NO_THROW(require_interface("lo"));
  const auto outward = outward_interface();
  EXPECT_NE(outward, "lo");
  if (!outward.empty()) {
    EXPECT_NO_THROW(require_interface(outward));
  }
}

TEST(Interface, unknown_names_list_what_there_is) {
  try {
    require_interface("lo9");
    FAIL();
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("--interface lo9: "), 0U) << text;
    EXPECT_NE(text.find("it has "), std::string::npos) << text;
    EXPECT_NE(text.find("lo", text.find("it has ")), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace paceline::launch
