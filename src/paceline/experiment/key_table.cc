// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "paceline/experiment/key.h"
#include "paceline/experiment/key_words.h"
#include "paceline/plan/optimizer.h"

namespace paceline::experiment {
namespace {

using C = records::Configuration;
using S = Settings;

// clang-format off
constexpr auto kKeys = std::to_array<Key>({
    // The whole experiment.
    {.name = "name", .metavar = "TEXT",
     .help = "name of the experiment in records and file names",
     .field = &S::name, .group = Group::kMeasuring},
    {.name = "about", .metavar = "TEXT",
     .help = "one sentence, shown by `paceline list`",
     .field = &S::about, .group = Group::kMeasuring},
    {.name = "protocol", .metavar = "NAME",
     .help = "which cases: `cases` as written; `ddp`: no ddp, 1M/1G, 1M/2G, "
             "1M/4G ... nM/kG as far as `ranks` goes, after a discarded "
             "warm-up; `dlperf`: 20 steps skipped, 100 timed, 7 runs, 1n1d to "
             "4n32d, and a row where a case cannot be",
     .field = &S::protocol, .group = Group::kMeasuring, .allowed = kProtocols},
    {.name = "runs", .metavar = "N",
     .help = "repetitions of all cases, each in fresh processes",
     .field = &S::runs, .group = Group::kMeasuring, .minimum = 1},
    {.name = "retries", .metavar = "N",
     .help = "how often a failed case is repeated before it is recorded as "
             "failed and the others go on",
     .field = &S::retries, .group = Group::kMeasuring, .minimum = 0},
    // A case.
    {.name = "label", .metavar = "TEXT",
     .help = "name of the row; the strategy where not given",
     .field = &C::label, .group = Group::kMeasuring},
    {.name = "model", .metavar = "NAME",
     .help = "network to train; `paceline list` has them all; "
             "MODULE:FACTORY: your own in Python (docs/your-model.md)",
     .field = &C::model, .group = Group::kModel},
    {.name = "batch_size", .metavar = "N",
     .help = "samples per rank and step, all micro-batches together; max: the "
             "most that memory holds, searched for",
     .field = &C::batch_size, .group = Group::kModel, .minimum = 1,
     .words = "max"},
    {.name = "image_size", .metavar = "PIXELS",
     .help = "side of the input; 0: the model's own",
     .field = &C::image_size, .group = Group::kModel, .minimum = 0},
    {.name = "classes", .metavar = "N",
     .help = "outputs of the last layer; 0: the model's own",
     .field = &C::classes, .group = Group::kModel, .minimum = 0},
    {.name = "sequence_length", .metavar = "TOKENS",
     .help = "tokens of a sequence; 0: the model's own",
     .field = &C::sequence_length, .group = Group::kModel, .minimum = 0},
    {.name = "compat_zeros", .metavar = "",
     .help = "all labels of a text are 0 and no word is masked, as in "
             "ddl-benchmarks",
     .field = &C::compat_zeros, .group = Group::kModel},
    {.name = "trainers", .metavar = "N",
     .help = "ranks that train a model with embedding tables; servers and the "
             "master are ranks beside, where there are servers",
     .field = &C::trainers, .group = Group::kEmbeddings, .minimum = 1},
    {.name = "servers", .metavar = "N",
     .help = "ranks that serve embedding tables, as many as these are; 0: the "
             "trainers hold a table each and exchange rows all-to-all",
     .field = &C::servers, .group = Group::kEmbeddings, .minimum = 0},
    {.name = "embeddings", .metavar = "N",
     .help = "rows of each table, one for each id",
     .field = &C::embeddings, .group = Group::kEmbeddings, .minimum = 1},
    {.name = "embedding_dim", .metavar = "N", .help = "numbers of a row",
     .field = &C::embedding_dim, .group = Group::kEmbeddings, .minimum = 1},
    {.name = "placement", .metavar = "NAME",
     .help = "where rows lie: whole tables in turn, rows by a hash or by "
             "ranges of ids, or all rows on every server",
     .field = &C::placement, .group = Group::kEmbeddings,
     .allowed = kPlacements},
    {.name = "pooling", .metavar = "NAME",
     .help = "what a bag makes of its rows",
     .field = &C::pooling, .group = Group::kEmbeddings, .allowed = kPoolings},
    {.name = "row_optimizer", .metavar = "NAME",
     .help = "update rule of embedding rows, with the optimizer's learning rate",
     .field = &C::row_optimizer, .group = Group::kEmbeddings,
     .allowed = kRowOptimizers},
    {.name = "row_dtype", .metavar = "TYPE",
     .help = "type of embedding rows where they lie and cross; their gradients "
             "are fp32", .field = &C::row_dtype, .group = Group::kEmbeddings,
     .allowed = kRowDtypes},
    {.name = "row_gradients", .metavar = "NAME",
     .help = "sparse: servers update the rows that were looked up; dense: all "
             "their rows, to the same values, as the original",
     .field = &C::row_gradients, .group = Group::kEmbeddings,
     .allowed = kRowGradients},
    {.name = "lookup", .metavar = "NAME",
     .help = "ask all servers at once, or one after the other as the original",
     .field = &C::lookup, .group = Group::kEmbeddings, .allowed = kLookups},
    {.name = "zipf", .metavar = "X",
     .help = "exponent of the law by which ids are drawn; 0: all alike",
     .field = &C::zipf, .group = Group::kEmbeddings, .minimum = 0,
     .maximum = 10},
    {.name = "staleness", .metavar = "N",
     .help = "newest steps whose row updates a lookup may miss; 0: none, and "
             "updates are of a step's mean; 64: no lookup waits for an update "
             "(Hogwild), as the original",
     .field = &C::staleness, .group = Group::kEmbeddings, .minimum = 0,
     .maximum = 64},
    {.name = "compat_relu", .metavar = "",
     .help = "one ReLU in the dense part, as the original, not one a layer",
     .field = &C::compat_relu, .group = Group::kEmbeddings},
    {.name = "sparse_engine", .metavar = "NAME",
     .help = "what carries embedding rows, beside the dense part on `engine`; "
             "left out: the same",
     .field = &C::sparse_engine, .group = Group::kEmbeddings,
     .allowed = kSparseEngines},
    {.name = "dtype", .metavar = "TYPE",
     .help = "fp32, bf16, or amp (cuda: fp16 with loss scaling; cpu: bf16 "
             "autocast)",
     .field = &C::dtype, .group = Group::kModel, .allowed = kDtypes},
    {.name = "channels_last", .metavar = "",
     .help = "keep images and convolution weights in NHWC order",
     .field = &C::channels_last, .group = Group::kModel},
    {.name = "device", .metavar = "NAME",
     .help = "what computes; auto: cuda where a GPU is visible, else cpu",
     .field = &C::device, .group = Group::kMachine, .allowed = kDevices,
     .fallback = "auto"},
    {.name = "engine", .metavar = "NAME",
     .help = "what moves the bytes; auto: nccl between GPUs where it was "
             "built, else gloo",
     .field = &C::engine, .group = Group::kMachine, .allowed = kEngines,
     .fallback = "auto"},
    {.name = "threads", .metavar = "N",
     .help = "compute threads per rank; 0: cores / ranks of the largest case, "
             "the one-rank baseline too",
     .field = &C::threads, .group = Group::kMachine, .minimum = 0},
    {.name = "warmup", .metavar = "N",
     .help = "iterations before the measured ones, discarded; left out, whole "
             "periods of a strategy whose steps differ",
     .field = &C::warmup, .group = Group::kMeasuring, .minimum = 0},
    {.name = "steps", .metavar = "N",
     .help = "measured iterations; left out, whole periods of a strategy whose "
             "steps differ",
     .field = &C::steps, .group = Group::kMeasuring, .minimum = 1},
    {.name = "sync_each_step", .metavar = "",
     .help = "synchronize the device after every step, not once a window (the "
             "original does)",
     .field = &C::sync_each_step, .group = Group::kMeasuring},
    {.name = "discard", .metavar = "", .help = "run the case, keep nothing of it",
     .field = &C::discard, .group = Group::kMeasuring},
    {.name = "seed", .metavar = "N", .help = "of weights and synthetic data",
     .field = &C::seed, .group = Group::kTraining, .minimum = 0},
    {.name = "start", .metavar = "NAME",
     .help = "weights to begin with: random, or formula: the same bits in "
             "every framework, and no dropout",
     .field = &C::start, .group = Group::kTraining, .allowed = kStarts},
    {.name = "accumulate", .metavar = "N",
     .help = "micro-batches per step; batch_size is divided among them",
     .field = &C::accumulate, .group = Group::kTraining, .minimum = 1},
    {.name = "compat_accumulate", .metavar = "",
     .help = "never zero the gradients, as the original DDP benchmark",
     .field = &C::compat_accumulate, .group = Group::kTraining},
    {.name = "optimizer", .metavar = "NAME",
     .help = "update rule, with torch.optim's definition and constants; "
             "bert-adamw: adamw with epsilon 1e-6 and without weight decay of "
             "biases and normalizations",
     .field = &C::optimizer, .group = Group::kTraining,
     .allowed = plan::kOptimizerNames},
    {.name = "learning_rate", .metavar = "X", .help = "of the optimizer",
     .field = &C::learning_rate, .group = Group::kTraining, .minimum = 0,
     .also = "--lr"},
    {.name = "lr_warmup", .metavar = "STEPS",
     .help = "steps in which the rate grows in a line from learning_rate / "
             "STEPS to learning_rate",
     .field = &C::lr_warmup, .group = Group::kTraining, .minimum = 0},
    {.name = "lr_decay", .metavar = "X@N+N",
     .help = "multiply the rate by X at each of these steps: 0.1@200+300",
     .field = &C::lr_decay, .group = Group::kTraining},
    {.name = "average_buffers", .metavar = "STEPS",
     .help = "average the statistics of batch norm over all ranks after every "
             "so many steps; 0: never",
     .field = &C::average_buffers, .group = Group::kTraining, .minimum = 0,
     .maximum = 500},
    {.name = "clip_norm", .metavar = "X",
     .help = "largest L2 norm of all gradients together, to which longer ones "
             "are scaled; 0: any",
     .field = &C::clip_norm, .group = Group::kTraining, .minimum = 0},
    {.name = "data", .metavar = "NAME",
     .help = "train on real or made data and evaluate: digits, teacher, "
             "least-squares, mnist:DIR, cifar10:DIR; or time with the images "
             "of a file, mmap:FILE; else one synthetic batch",
     .field = &C::data, .group = Group::kTraining},
    {.name = "split", .metavar = "HOW",
     .help = "of the data among ranks: even, or dirichlet:ALPHA, the more "
             "uneven the smaller ALPHA",
     .field = &C::split, .group = Group::kTraining},
    {.name = "target", .metavar = "X",
     .help = "accuracy (0.95), or loss above the least of a regression, of "
             "which the report says when it was reached; 0: none",
     .field = &C::target, .group = Group::kTraining, .minimum = 0},
    {.name = "evaluate_every", .metavar = "N",
     .help = "with --data: steps from one evaluation to the next",
     .field = &C::evaluate_every, .group = Group::kTraining, .minimum = 1},
    {.name = "virtual_time", .metavar = "CLUSTER.toml",
     .help = "with --data: train the ranks of this cluster here, all of them, "
             "and take the seconds to the target from the simulator",
     .field = &S::virtual_time, .group = Group::kTraining},
    {.name = "device_rate", .metavar = "X",
     .help = "with --virtual-time: samples/s of one device of the cluster "
             "alone; 0: as many as a rank computes here",
     .field = &S::device_rate, .group = Group::kTraining, .minimum = 0},
    {.name = "momentum", .metavar = "X", .help = "of sgd", .field = &C::momentum,
     .group = Group::kTraining, .minimum = 0, .maximum = 1},
    {.name = "weight_decay", .metavar = "X", .help = "of the optimizer",
     .field = &C::weight_decay, .group = Group::kTraining, .minimum = 0},
    {.name = "replay", .metavar = "FILE",
     .help = "sleep through the layers of this profile instead of computing; "
             "communication is real",
     .field = &C::replay, .group = Group::kMachine},
    {.name = "link", .metavar = "RATE,LATENCY",
     .help = "hold every operation until such a link would have delivered it: "
             "1Gbit,50us", .field = &C::link, .group = Group::kMachine},
    {.name = "stretch", .metavar = "X",
     .help = "run replay and link so many times slower, and divide all times "
             "by it",
     .field = &C::stretch, .group = Group::kMachine, .minimum = 1,
     .maximum = 10000},
    {.name = "bucket_mb", .metavar = "MIB",
     .help = "cap of a gradient bucket in MiB, as PyTorch counts",
     .field = &C::bucket_mb, .group = Group::kExchange, .minimum = 0.001},
    {.name = "ranks", .metavar = "N",
     .help = "processes that train together, one device each",
     .field = &C::ranks, .group = Group::kExchange, .minimum = 1,
     .words = kRankWords, .fallback = "world"},
    {.name = "ranks_per_host", .metavar = "N+N",
     .help = "ranks on each host; left out: as they are started",
     .field = &C::ranks_per_host, .group = Group::kExchange, .minimum = 1,
     .also = "--local-size"},
    {.name = "strategy", .metavar = "TEXT",
     .help = "SCHEDULE+EXCHANGE+CODEC+UPDATE with options name:key=value, or "
             "none, ddp, python-ddp",
     .field = &C::strategy, .group = Group::kExchange},
    // Programs outside.
    {.name = "framework", .metavar = "NAME|FILE",
     .help = "adapter that trains in Paceline's place: a name of "
             "`paceline list frameworks`, or a Python file; paceline: none",
     .field = &C::framework, .group = Group::kOutside},
    {.name = "compiled", .metavar = "",
     .help = "let the framework's compiler make the step (torch.compile, XLA)",
     .field = &C::compiled, .group = Group::kOutside},
    {.name = "python", .metavar = "FILE",
     .help = "interpreter of the adapter, of another installation than its own",
     .field = &C::python, .group = Group::kOutside},
    {.name = "command", .metavar = "TEXT",
     .help = "the user's own training, which says how long its steps take "
             "(docs/adapters.md); {ranks}, {batch} and more are filled in",
     .field = &C::command, .group = Group::kOutside},
    {.name = "launcher", .metavar = "NAME",
     .help = "who starts the ranks of --command: `command` itself, or "
             "Paceline, which starts it for each rank; default command",
     .field = &C::launcher, .group = Group::kOutside, .allowed = kStarters},
    {.name = "reader", .metavar = "NAME",
     .help = "whose lines the steps in the output of --command are; left out: "
             "found by itself where a line is of one of them",
     .field = &C::reader, .group = Group::kOutside, .allowed = kReaders},
    {.name = "step_regex", .metavar = "REGEX",
     .help = "finds the steps in the output of --command: its group is a "
             "step's time; without a group the line ends a step",
     .field = &C::step_regex, .group = Group::kOutside},
    {.name = "step_unit", .metavar = "UNIT",
     .help = "of what --step-regex finds; default s",
     .field = &C::step_unit, .group = Group::kOutside, .allowed = kStepUnits},
    {.name = "rate_scope", .metavar = "NAME",
     .help = "whose samples/s or tokens/s --step-regex finds; default global",
     .field = &C::rate_scope, .group = Group::kOutside, .allowed = kRateScopes},
    {.name = "steps_per_line", .metavar = "N",
     .help = "steps that a line of the output of --command stands for; its "
             "number is that of one of them",
     .field = &C::steps_per_line, .group = Group::kOutside, .minimum = 1,
     .maximum = 1000000},
    {.name = "env", .metavar = "NAME=VALUE",
     .help = "environment variable of the case; several values sweep. A file "
             "writes env.NAME", .field = &C::env, .group = Group::kOutside},
    {.name = "deadline", .metavar = "SECONDS",
     .help = "a program outside that takes longer for one case has failed",
     .field = &S::deadline, .group = Group::kOutside, .minimum = 1,
     .maximum = 604800},
    // Output.
    {.name = "records", .metavar = "FILE",
     .help = "JSON Lines file that every finished case is appended to; "
             "default results/<name>-<utc>.jsonl",
     .field = &S::records, .group = Group::kOutput},
    {.name = "logs", .metavar = "FOLDER",
     .help = "also write a log of every case there, in the lines of "
             "ddl-benchmarks", .field = &S::logs, .group = Group::kOutput},
    {.name = "json", .metavar = "FILE",
     .help = "also write the DDP benchmark's JSON object, for its diff.py",
     .field = &S::json, .group = Group::kOutput},
    {.name = "page", .metavar = "FILE",
     .help = "also write the page of `paceline report` when the run ends, "
             "early or not", .field = &S::page, .group = Group::kOutput},
    {.name = "trace", .metavar = "FILE",
     .help = "also write a Perfetto trace of all ranks",
     .field = &S::trace, .group = Group::kOutput},
    {.name = "format", .metavar = "NAME",
     .help = "what is printed: table, ddp (the DDP benchmark's to the "
             "character), json, csv, markdown; `paceline list` has them all",
     .field = &S::format, .group = Group::kOutput},
    // Launch.
    {.name = "timeout", .metavar = "SECONDS",
     .help = "a rank without a heartbeat for so long has failed",
     .field = &S::timeout, .group = Group::kLaunch, .minimum = 1,
     .maximum = 86400},
    {.name = "interface", .metavar = "NAME",
     .help = "network interface of the engine, as `ip link` names it",
     .field = &S::interface, .group = Group::kLaunch},
    {.name = "cluster", .metavar = "FILE",
     .help = "cluster file whose hosts the ranks are started on, this one "
             "here, the others over ssh",
     .field = &S::cluster, .group = Group::kLaunch},
    {.name = "hosts", .metavar = "a:4,b:4",
     .help = "hosts and their slots, in place of the cluster file's; this "
             "machine comes first",
     .field = &S::hosts, .group = Group::kLaunch, .letter = 'H'},
    {.name = "hostfile", .metavar = "FILE",
     .help = "the same from an MPI hostfile",
     .field = &S::hostfile, .group = Group::kLaunch},
    {.name = "ssh_command", .metavar = "TEXT",
     .help = "starts a command on another host, given the host's name and the "
             "command; default ssh -x -T -o BatchMode=yes",
     .field = &S::ssh_command, .group = Group::kLaunch},
    {.name = "rendezvous", .metavar = "WHERE",
     .help = "HOST:PORT or file:PATH where ranks meet; known under torchrun "
             "and srun; with -H an address of this machine",
     .field = &S::rendezvous, .group = Group::kLaunch},
    {.name = "require_same_topology", .metavar = "",
     .help = "hosts that differ are an error, not a warning",
     .field = &S::require_same_topology, .group = Group::kLaunch},
    {.name = "dry_run", .metavar = "",
     .help = "print cases, plans and wire bytes; run nothing",
     .field = &S::dry_run, .group = Group::kLaunch, .in_file = false},
    {.name = "print_launch", .metavar = "NAME",
     .help = "print the line that starts this on a cluster; run nothing",
     .field = &S::print_launch, .group = Group::kLaunch,
     .allowed = kLaunchers, .in_file = false},
    {.name = "resume", .metavar = "",
     .help = "skip the cases that --records already holds",
     .field = &S::resume, .group = Group::kLaunch, .in_file = false},
    {.name = "yes", .metavar = "",
     .help = "start although the estimate is above 30 minutes",
     .field = &S::yes, .group = Group::kLaunch, .in_file = false},
});
// clang-format on
}  // namespace

std::span<const Key> keys() {
  return kKeys;
}

}  // namespace paceline::experiment
