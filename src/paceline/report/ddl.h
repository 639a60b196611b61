// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "paceline/records/run_record.h"

namespace paceline::report {

/// The log of ddl-benchmarks, which is that of Horovod's synthetic benchmark, line by line: for
/// every run the rates of up to 10 iterations of equal numbers of steps on rank 0, their mean, 1.96
/// population standard deviations, and both times the number of ranks that train.  Networks that
/// read text have sentences instead of images.  Lines of cases that failed begin with '#'.
std::string render_ddl(std::span<const records::RunRecord> records);

/// For each case of two tries or more a line that begins with '#': the mean of what its tries print
/// as their totals, and its 95 % interval, by Student's t.
std::string ddl_tries(std::span<const records::RunRecord> records);

/// How the files of all cases' logs are called.
inline constexpr std::string_view kDdlLogBegin = "rdma-";
inline constexpr std::string_view kDdlLogEnd = ".log";

/// Gives each case's log its name: the one that ddl-benchmarks' benchmarks.py gives it and its
/// plots.py reads.  Its `rdma` is 0 for an emulated link of 10 Gbit/s and 1 for one of 100 Gbit/s;
/// a link of another rate stands there as text, and "none" where none is emulated.  A strategy that
/// it has not is called by our text.  Of cases that share a name, the second is called -2, the
/// third -3.
class DdlLogNames {
 public:
  const std::string& of(const records::Configuration& configuration);

 private:
  std::map<std::string, std::string> of_key_;
  std::set<std::string> taken_;
};

/// What the head of a log says beside its case's command.
struct DdlLogHead {
  std::string title;
  std::string records;  // the file that the log is written from
};

/// Such a log of one case.
std::string ddl_log(const DdlLogHead& head, std::span<const records::RunRecord> runs);

/// The record file that the head of such a log names; empty where it names none.
std::string records_of_ddl_log(std::string_view log);

}  // namespace paceline::report
