// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/case/field_table.h"
#include "paceline/case/field_words.h"

namespace paceline::cases {
namespace {

using S = Settings;

// clang-format off
constexpr auto kSettingsFields = std::to_array<Field>({
    {.name = "name", .metavar = "TEXT",
     .help = "name of the experiment in records and file names",
     .of = member<&S::name>(), .group = Group::kMeasuring},
    {.name = "about", .metavar = "TEXT",
     .help = "one sentence, shown by `paceline list`",
     .of = member<&S::about>(), .group = Group::kMeasuring},
    {.name = "protocol", .metavar = "NAME",
     .help = "which cases: `cases` as written; `ddp`: no ddp, 1M/1G, 1M/2G, "
             "1M/4G ... nM/kG as far as `ranks` goes, after a discarded "
             "warm-up; `dlperf`: 20 steps skipped, 100 timed, 7 runs, 1n1d to "
             "4n32d, and a row where a case cannot be",
     .of = member<&S::protocol>(), .group = Group::kMeasuring,
     .allowed = kProtocols},
    {.name = "runs", .metavar = "N",
     .help = "repetitions of all cases, each in fresh processes",
     .of = member<&S::runs>(), .group = Group::kMeasuring, .minimum = 1},
    {.name = "retries", .metavar = "N",
     .help = "how often a failed case is repeated before it is recorded as "
             "failed and the others go on",
     .of = member<&S::retries>(), .group = Group::kMeasuring, .minimum = 0},
    {.name = "virtual_time", .metavar = "CLUSTER.toml",
     .help = "with --data: train the ranks of this cluster here, all of them, "
             "and take the seconds to the target from the simulator",
     .of = member<&S::virtual_time>(), .group = Group::kTraining},
    {.name = "device_rate", .metavar = "X",
     .help = "with --virtual-time: samples/s of one device of the cluster "
             "alone; 0: as many as a rank computes here",
     .of = member<&S::device_rate>(), .group = Group::kTraining, .minimum = 0},
    {.name = "deadline", .metavar = "SECONDS",
     .help = "a program outside that takes longer for one case has failed",
     .of = member<&S::deadline>(), .group = Group::kOutside, .minimum = 1,
     .maximum = 604800},
    {.name = "records", .metavar = "FILE",
     .help = "JSON Lines file that every finished case is appended to; "
             "default results/<name>-<utc>.jsonl",
     .of = member<&S::records>(), .group = Group::kOutput},
    {.name = "logs", .metavar = "FOLDER",
     .help = "also write a log of every case there, in the lines of "
             "ddl-benchmarks",
     .of = member<&S::logs>(), .group = Group::kOutput},
    {.name = "json", .metavar = "FILE",
     .help = "also write the DDP benchmark's JSON object, for its diff.py",
     .of = member<&S::json>(), .group = Group::kOutput},
    {.name = "page", .metavar = "FILE",
     .help = "also write the page of `paceline report` when the run ends, "
             "early or not",
     .of = member<&S::page>(), .group = Group::kOutput},
    {.name = "trace", .metavar = "FILE",
     .help = "also write a Perfetto trace of all ranks",
     .of = member<&S::trace>(), .group = Group::kOutput,
     .legacy = "profiler timeline_filename"},
    {.name = "format", .metavar = "NAME",
     .help = "what is printed: table, ddp (the DDP benchmark's to the "
             "character), json, csv, markdown; `paceline list` has them all",
     .of = member<&S::format>(), .group = Group::kOutput},
    {.name = "timeout", .metavar = "SECONDS",
     .help = "a rank without a heartbeat for so long has failed",
     .of = member<&S::timeout>(), .group = Group::kLaunch, .minimum = 1,
     .maximum = 86400},
    {.name = "interface", .metavar = "NAME",
     .help = "network interface of the engine, as `ip link` names it",
     .of = member<&S::interface>(), .group = Group::kLaunch,
     .legacy = "network_interface"},
    {.name = "cluster", .metavar = "FILE",
     .help = "cluster file whose hosts the ranks are started on, this one "
             "here, the others over ssh",
     .of = member<&S::cluster>(), .group = Group::kLaunch},
    {.name = "hosts", .metavar = "a:4,b:4",
     .help = "hosts and their slots, in place of the cluster file's; this "
             "machine comes first",
     .of = member<&S::hosts>(), .group = Group::kLaunch, .letter = 'H'},
    {.name = "hostfile", .metavar = "FILE",
     .help = "the same from an MPI hostfile",
     .of = member<&S::hostfile>(), .group = Group::kLaunch},
    {.name = "ssh_command", .metavar = "TEXT",
     .help = "starts a command on another host, given the host's name and the "
             "command; default ssh -x -T -o BatchMode=yes",
     .of = member<&S::ssh_command>(), .group = Group::kLaunch},
    {.name = "rendezvous", .metavar = "WHERE",
     .help = "HOST:PORT or file:PATH where ranks meet; known under torchrun "
             "and srun; with -H an address of this machine",
     .of = member<&S::rendezvous>(), .group = Group::kLaunch,
     .legacy = "master_addr master_port"},
    {.name = "require_same_topology", .metavar = "",
     .help = "hosts that differ are an error, not a warning",
     .of = member<&S::require_same_topology>(), .group = Group::kLaunch},
    {.name = "dry_run", .metavar = "",
     .help = "print cases, plans and wire bytes; run nothing",
     .of = member<&S::dry_run>(), .group = Group::kLaunch, .in_file = false},
    {.name = "print_launch", .metavar = "NAME",
     .help = "print the line that starts this on a cluster; run nothing",
     .of = member<&S::print_launch>(), .group = Group::kLaunch,
     .allowed = kLaunchers, .in_file = false},
    {.name = "resume", .metavar = "",
     .help = "skip the cases that --records already holds",
     .of = member<&S::resume>(), .group = Group::kLaunch, .in_file = false},
    {.name = "yes", .metavar = "",
     .help = "start although the estimate is above 30 minutes",
     .of = member<&S::yes>(), .group = Group::kLaunch, .in_file = false},
});
// clang-format on

}  // namespace

std::span<const Field> settings_fields() { return kSettingsFields; }

}  // namespace paceline::cases
