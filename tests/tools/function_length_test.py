# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/lint/function_length.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/lint"))

from function_length import functions  # noqa: E402

SOURCE = r'''
namespace a {
struct Point {
  int x = 0, y = 0;
  bool operator==(const Point& other) const {
    return x == other.x;
  }
};
constexpr auto kTable = make({{1, 2}, {3, 4}});
const Point kOrigin{
    0,
    0};
Thing::Thing(int a)
    : a_(a), b_(R"(a brace { and a
quote ")") {
  for (int i = 0; i < a; ++i) {
    call([&] {
      print("}");  // }
    });
  }
}
template <class T>
auto last(T& all) -> T::value_type {
  return '}' == 0 ? 1'000 : all.back();
}
}  // namespace a
'''


class FunctionLength(unittest.TestCase):
    def test_finds_bodies_alone_and_whole(self):
        self.assertEqual(list(functions(SOURCE)),
                         [("operator==", 5, 2), ("Thing::Thing", 15, 6), ("last", 23, 2)])


unittest.main()
