// SPDX-License-Identifier: Apache-2.0
// average_cost [MELEMENTS] [ROUNDS]: the average with neighbors, x <- w0 x +
// w1 n1 + ..., over flat float32 buffers of so many million elements.
//
// The kernel `linear` of the runtime, which goes over memory once, and PyTorch's operations, which
// go over the sum with each neighbor, take turns on one thread.  Both are shown with the bytes that
// they have to move: (d + 2) S once, (3 d + 2) S with operations, d neighbors, S bytes of the
// parameters; and with the rate of a memcpy of S bytes, which moves 2 S.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/stats/quantile.h"

namespace {

using namespace paceline;  // NOLINT: a program of one file

template <class Work>
double seconds_of(const Work& work) {
  const std::int64_t began = steady_ns();
  work();
  return static_cast<double>(steady_ns() - began) * 1e-9;
}

void compare(std::int64_t elements, int neighbors, int rounds) {
  const at::Tensor values = at::ones({elements});
  runtime::Call call;
  call.reads.push_back({values});
  for (int n = 0; n < neighbors; ++n) {
    call.reads.push_back({at::full({elements}, 1.0 + n)});
  }
  call.writes.push_back({values});
  const std::vector<double> weights(static_cast<std::size_t>(neighbors) + 1, 1.0 / (neighbors + 1));
  call.numbers = weights;
  const auto& kernel = runtime::find_kernel("linear");
  const at::Tensor copy = at::empty({elements});
  const auto bytes = static_cast<double>(values.nbytes());
  std::vector<double> once, by_operations, copied;
  for (int round = 0; round <= rounds; ++round) {
    const double kernel_s = seconds_of([&] { kernel.run({}, call); });
    const double operations_s = seconds_of([&] {
      values.mul_(weights[0]);
      for (int n = 1; n <= neighbors; ++n) {
        values.add_(call.reads[static_cast<std::size_t>(n)].front(),
                    weights[static_cast<std::size_t>(n)]);
      }
    });
    const double copy_s = seconds_of(
        [&] { std::memcpy(copy.mutable_data_ptr(), values.const_data_ptr(), values.nbytes()); });
    if (round > 0) {  // the first touches the memory
      once.push_back(kernel_s);
      by_operations.push_back(operations_s);
      copied.push_back(copy_s);
    }
  }
  const double kernel_s = stats::median(once);
  const double operations_s = stats::median(by_operations);
  fmt::print("{:>9}  {:>8.2f} {:>8.2f}  {:>8.2f} {:>8.2f}  {:>6.2f}  {:>8.2f}\n", neighbors,
             kernel_s * 1e3, (neighbors + 2) * bytes / kernel_s * 1e-9, operations_s * 1e3,
             (3 * neighbors + 2) * bytes / operations_s * 1e-9, kernel_s / operations_s,
             2 * bytes / stats::median(copied) * 1e-9);
}

}  // namespace

int main(int argc, char** argv) {
  const double millions = argc > 1 ? std::atof(argv[1]) : 25.6;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);
  fmt::print(
      "{} million float32, one thread, medians of {} rounds in turn\n"
      "           one pass           operations                  memcpy\n"
      "neighbors        ms     GB/s        ms     GB/s   ratio      GB/s\n",
      millions, rounds);
  for (const int neighbors : {1, 2, 4, 8}) {
    compare(static_cast<std::int64_t>(millions * 1e6), neighbors, rounds);
  }
}
