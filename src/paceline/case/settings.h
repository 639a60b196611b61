// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "paceline/base/clock.h"

namespace paceline::cases {

/// What holds for a whole run of an experiment, beside its cases.
struct Settings {
  std::string name;                // empty: the file's stem, or "command line"
  std::string about;               // one sentence, for `paceline list`
  std::string protocol = "cases";  // cases, ddp
  int runs = 1;                    // repetitions, each in fresh processes
  int retries = 0;                 // of a failed case, before the next ones
  std::string records;             // empty: results/<name>-<utc>.jsonl
  std::string logs;                // folder of one log a case; empty: none
  std::string json;                // empty: not written
  std::string page;                // empty: not written
  std::string trace;               // empty: not written
  std::string virtual_time;        // a cluster file; empty: real times alone
  double device_rate = 0;          // samples/s of a device there; 0: as here
  std::string format = "table";    // a name of report::formats()
  bool dry_run = false;
  bool resume = false;
  bool yes = false;
  bool require_same_topology = false;
  double timeout = 60;       // seconds since a rank's last heartbeat
  double deadline = 3600;    // seconds of a program outside, for one case
  std::string interface;     // empty: chosen
  std::string rendezvous;    // HOST:PORT, file:PATH; empty: chosen
  std::string cluster;       // a cluster file; empty: this machine
  std::string hosts;         // "a:4,b:4" in place of its hosts
  std::string hostfile;      // hosts and slots as an MPI hostfile
  std::string ssh_command;   // starts ranks on other hosts; empty: ssh
  std::string print_launch;  // slurm, mpirun, torchrun; empty: run

  std::chrono::milliseconds timeout_ms() const { return to_milliseconds(timeout); }
};

}  // namespace paceline::cases
