// SPDX-License-Identifier: Apache-2.0
// lookup_cost [ROWS] [IDS] [ROUNDS]: a server's lookup of embedding rows.
//
// The kernel `lookup` of the runtime and a plain gather in memory, PyTorch's
// index_select into a buffer that is there, take turns on one thread over the
// same random ids of one table.  Both move each row once out and once in.  No
// engine takes part.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/plan/ragged.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/runtime/ragged.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/embedding_job.h"

namespace {

using namespace paceline;  // NOLINT: a program of one file

template <class Work>
double seconds_of(const Work& work) {
  const std::int64_t began = steady_ns();
  work();
  return static_cast<double>(steady_ns() - began) * 1e-9;
}

at::Tensor ragged(std::int64_t elements, at::ScalarType type) {
  const auto size = static_cast<std::int64_t>(c10::elementSize(type));
  return at::zeros({plan::kLengthBytes / size + elements}, type);
}

void compare(std::int64_t rows, std::int64_t ids, int dim, int rounds) {
  const at::Tensor table = at::rand({rows, dim});
  const at::Tensor wanted = at::randint(rows, {ids}, at::kLong);
  const at::Tensor names = ragged(ids, at::kLong);
  runtime::set_length(names, ids);
  std::copy_n(wanted.const_data_ptr<std::int64_t>(),
              ids,
              runtime::elements_of<std::int64_t>(names));
  const at::Tensor found = ragged(ids * dim, at::kFloat);
  const std::vector<double> numbers =
      strategies::numbers_of({.rows = rows, .dim = dim}, 0);
  runtime::Call call;
  call.reads = {{table.view({-1})}, {names}};
  call.writes = {{found}};
  call.numbers = numbers;
  at::Tensor gathered = at::empty({ids, dim});
  std::vector<double> kernel, gather;
  for (int round = 0; round <= rounds; ++round) {
    const double kernel_s =
        seconds_of([&] { runtime::find_kernel("lookup").run({}, call); });
    const double gather_s =
        seconds_of([&] { at::index_select_out(gathered, table, 0, wanted); });
    if (round > 0) {  // the first touches the memory
      kernel.push_back(kernel_s);
      gather.push_back(gather_s);
    }
  }
  PACELINE_CHECK(found.narrow(0, found.numel() - ids * dim, ids * dim)
                     .equal(gathered.view({-1})));
  const double rate = static_cast<double>(ids) / stats::median(kernel);
  const double plain = static_cast<double>(ids) / stats::median(gather);
  fmt::print("{:>4}  {:>12.2f} {:>12.2f} {:>7.0f}\n",
             dim,
             rate * 1e-6,
             plain * 1e-6,
             100 * rate / plain);
}

}  // namespace

int main(int argc, char** argv) {
  const auto rows = argc > 1 ? std::atoll(argv[1]) : 100'000;
  const auto ids = argc > 2 ? std::atoll(argv[2]) : 4'096;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 201;
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);
  fmt::print(
      "{} ids of {} rows, fp32, one thread, medians of {} rounds in turn\n"
      "         lookup       gather   share\n"
      " dim   million/s    million/s       %\n",
      ids,
      rows,
      rounds);
  for (const int dim : {16, 64, 256}) {
    compare(rows, ids, dim, rounds);
  }
}
