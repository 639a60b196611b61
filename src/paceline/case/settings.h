// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "paceline/base/clock.h"

namespace paceline::cases {

/// The settings of a whole run of an experiment; each of its cases has settings of its own.
struct Settings {
  std::string name;                // empty: the file's stem, or "command-line"
  std::string about;               // one sentence, for `paceline list`
  std::string protocol = "cases";  // cases, ddp, dlperf
  int runs = 1;                    // repetitions, each in fresh processes
  int retries = 0;                 // repetitions of a failed case, before the next case
  std::string records;             // path of the records; empty: results/<name>-<utc>.jsonl
  std::string logs;                // folder for one log per case; empty: no logs
  std::string json;                // path of the JSON output; empty: none
  std::string page;                // path of the HTML page; empty: none
  std::string trace;               // path of the Perfetto trace; empty: none
  std::string virtual_time;        // cluster file to simulate; empty: real times alone
  double device_rate = 0;          // samples/s of a simulated device; 0: as measured here
  std::string format = "table";    // a name of report::formats()
  bool dry_run = false;
  bool resume = false;
  bool yes = false;
  bool require_same_topology = false;
  double timeout = 60;       // seconds without a heartbeat after which a rank has failed
  double deadline = 3600;    // seconds that an external program may take per case
  std::string interface;     // network interface; empty: chosen automatically
  std::string rendezvous;    // HOST:PORT, file:PATH; empty: chosen automatically
  std::string cluster;       // cluster file with the hosts; empty: this machine
  std::string hosts;         // "a:4,b:4", in place of the cluster file's hosts
  std::string hostfile;      // path of an MPI hostfile with hosts and slots
  std::string ssh_command;   // starts commands on other hosts; empty: ssh
  std::string print_launch;  // slurm, mpirun, torchrun; empty: run the experiment

  std::chrono::milliseconds timeout_ms() const { return to_milliseconds(timeout); }
};

}  // namespace paceline::cases
