// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The log of ddl-benchmarks, which is that of Horovod's synthetic benchmark,
/// line by line: for every run the rates of up to 10 iterations of equal
/// numbers of steps on rank 0, their mean, 1.96 population standard deviations,
/// and both times the number of ranks that train.  Networks that read text have
/// sentences instead of images.  Lines of cases that failed begin with '#'.
std::string render_ddl(std::span<const records::RunRecord> records);

/// For each case of two tries or more a line that begins with '#': the mean of
/// what its tries print as their totals, and its 95 % interval, by Student's t.
std::string ddl_tries(std::span<const records::RunRecord> records);

/// The records by the file of their case's log: the name that ddl-benchmarks
/// gives it, with the link in place of its `rdma` number.  Of cases that share
/// a name, the second is called -2, the third -3.
std::map<std::string, std::vector<records::RunRecord>> ddl_logs(
    std::span<const records::RunRecord> records);

/// Such a log of one case, with `title` and the case's command in its head.
std::string ddl_log(const std::string& title,
                    std::span<const records::RunRecord> runs);

}  // namespace paceline::report
