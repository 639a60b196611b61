// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/machine.h"

#include <gtest/gtest.h>

namespace paceline::cases {
namespace {

TEST(NativeBf16, IsAWordOfItsOwn) {
  EXPECT_FALSE(has_native_bf16("processor\t: 0\nflags\t\t: fpu avx avx2 fma\n"));
  EXPECT_FALSE(has_native_bf16("flags\t\t: avx512_bf16x my_bf16\n"));
  EXPECT_FALSE(has_native_bf16(""));
  EXPECT_TRUE(has_native_bf16("flags\t\t: avx2 avx512f avx512_bf16\n"));
  EXPECT_TRUE(has_native_bf16("flags\t\t: amx_bf16 avx512f\n"));
  EXPECT_TRUE(has_native_bf16("Features\t: fp asimd sve bf16 i8mm\n"));
}

}  // namespace
}  // namespace paceline::cases
