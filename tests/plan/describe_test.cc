// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/describe.h"

#include <gtest/gtest.h>

namespace paceline::plan {
namespace {

/// Tensors a, b and c of 10, 20 and 30 elements, side by side, and 4 elements of padding.
struct Layout {
  ModelShape model;
  Setup setup;

  Layout() {
    Elements begin = 0;
    for (const auto& [name, elements] :
         std::vector<std::pair<const char*, Elements>>{{"a", 10}, {"b", 20}, {"c", 30}}) {
      model.parameters.push_back({.name = name, .sizes = {elements}, .elements = elements});
      const Slice at{BufferId{0}, begin, elements};
      setup.parameters.push_back({.value = at, .gradient = at});
      begin += elements;
    }
    setup.buffers.push_back({.name = "gradients", .elements = begin + 4});
  }

  std::string of(Elements begin, Elements count) const {
    return describe(Slice{BufferId{0}, begin, count}, model, setup);
  }
};

TEST(Describe, NamesTheTensorsThatASliceHolds) {
  const Layout layout;
  EXPECT_EQ(layout.of(10, 20), "gradients b");
  EXPECT_EQ(layout.of(0, 60), "gradients a .. c");
  EXPECT_EQ(layout.of(30, 34), "gradients c") << "and padding";
  EXPECT_EQ(layout.of(60, 4), "gradients[60..64)");
}

TEST(Describe, PiecesOfATensorHaveNamesOfTheirOwn) {
  const Layout layout;
  EXPECT_EQ(layout.of(10, 5), "gradients b[0..5)");
  EXPECT_EQ(layout.of(15, 15), "gradients b[5..20)");
  EXPECT_EQ(layout.of(5, 40), "gradients a[5..10) .. c[0..15)");
  EXPECT_EQ(layout.of(45, 19), "gradients c[15..30)");
}

}  // namespace
}  // namespace paceline::plan
