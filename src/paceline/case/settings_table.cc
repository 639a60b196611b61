// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/case/field_table.h"
#include "paceline/case/field_words.h"

namespace paceline::cases {
namespace {

using S = Settings;

// clang-format off
constexpr auto kSettingsFields = std::to_array<Field>({
    {.name = "name", .metavar = "TEXT", .of = member<&S::name>(),
     .help = "name of the experiment in records and file names"},
    {.name = "about", .metavar = "TEXT", .of = member<&S::about>(),
     .help = "one sentence, shown by `paceline list`"},
    {.name = "protocol", .metavar = "NAME", .of = member<&S::protocol>(), .allowed = kProtocols,
     .help = "which cases: `cases` as written; `ddp`: no ddp, 1M/1G, 1M/2G, 1M/4G ... nM/kG as far "
     "as `ranks` goes, after a discarded warm-up; `dlperf`: 20 steps skipped, 100 timed, 7 runs, "
     "1n1d to 4n32d, and a row where a case cannot be"},
    {.name = "runs", .metavar = "N", .of = member<&S::runs>(), .minimum = 1,
     .help = "repetitions of all cases, each in fresh processes"},
    {.name = "retries", .metavar = "N", .of = member<&S::retries>(), .minimum = 0,
     .help = "how often a failed case is repeated before it is recorded as failed and the others "
     "go on"},
    {.name = "virtual_time", .metavar = "CLUSTER.toml", .of = member<&S::virtual_time>(),
     .help = "with --data: train the ranks of this cluster here, all of them, and take the seconds "
     "to the target from the simulator"},
    {.name = "device_rate", .metavar = "X", .of = member<&S::device_rate>(), .minimum = 0,
     .help = "with --virtual-time: samples/s of one device of the cluster alone; 0: as many as a "
     "rank computes here"},
    {.name = "deadline", .metavar = "SECONDS", .of = member<&S::deadline>(), .minimum = 1,
     .maximum = 604800, .help = "an external program that takes longer for one case has failed"},
    {.name = "records", .metavar = "FILE", .of = member<&S::records>(),
     .help = "JSON Lines file that every finished case is appended to; default "
     "results/<name>-<utc>.jsonl"},
    {.name = "logs", .metavar = "FOLDER", .of = member<&S::logs>(),
     .help = "also write a log of every case there, in the lines of ddl-benchmarks"},
    {.name = "json", .metavar = "FILE", .of = member<&S::json>(),
     .help = "also write the DDP benchmark's JSON object, for its diff.py"},
    {.name = "page", .metavar = "FILE", .of = member<&S::page>(),
     .help = "also write the page of `paceline report` when the run ends, early or not"},
    {.name = "trace", .metavar = "FILE", .of = member<&S::trace>(),
     .legacy = "profiler timeline_filename", .help = "also write a Perfetto trace of all ranks"},
    {.name = "format", .metavar = "NAME", .of = member<&S::format>(),
     .help = "what is printed: table, ddp (the DDP benchmark's to the character), json, csv, "
     "markdown; `paceline list` has them all"},
    {.name = "timeout", .metavar = "SECONDS", .of = member<&S::timeout>(), .minimum = 1,
     .maximum = 86400, .help = "a rank without a heartbeat for so long has failed"},
    {.name = "interface", .metavar = "NAME", .of = member<&S::interface>(),
     .legacy = "network_interface",
     .help = "network interface of the engine, as `ip link` names it"},
    {.name = "cluster", .metavar = "FILE", .of = member<&S::cluster>(),
     .help = "cluster file whose hosts the ranks are started on, this one here, the others over "
     "ssh"},
    {.name = "hosts", .metavar = "a:4,b:4", .of = member<&S::hosts>(), .letter = 'H',
     .help = "hosts and their slots, in place of the cluster file's; this machine comes first"},
    {.name = "hostfile", .metavar = "FILE", .of = member<&S::hostfile>(),
     .help = "the same from an MPI hostfile"},
    {.name = "ssh_command", .metavar = "TEXT", .of = member<&S::ssh_command>(),
     .help = "starts a command on another host, given the host's name and the command; default ssh "
     "-x -T -o BatchMode=yes"},
    {.name = "rendezvous", .metavar = "WHERE", .of = member<&S::rendezvous>(),
     .legacy = "master_addr master_port",
     .help = "HOST:PORT or file:PATH where ranks meet; known under torchrun and srun; with -H an "
     "address of this machine"},
    {.name = "require_same_topology", .of = member<&S::require_same_topology>(),
     .help = "hosts that differ are an error, not a warning"},
    {.name = "dry_run", .of = member<&S::dry_run>(), .in_file = false,
     .help = "print cases, plans and wire bytes; run nothing"},
    {.name = "print_launch", .metavar = "NAME", .of = member<&S::print_launch>(),
     .allowed = kLaunchers, .in_file = false,
     .help = "print the line that starts this on a cluster; run nothing"},
    {.name = "resume", .of = member<&S::resume>(), .in_file = false,
     .help = "skip the cases that --records already holds"},
    {.name = "yes", .of = member<&S::yes>(), .in_file = false,
     .help = "start although the estimate is above 30 minutes"},
});
// clang-format on

}  // namespace

std::span<const Field> settings_fields() { return kSettingsFields; }

}  // namespace paceline::cases
