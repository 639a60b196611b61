// SPDX-License-Identifier: Apache-2.0
// The tables behind case/field.h. To add a field, add a member to a part of the case or to the
// settings, and a row to its table.
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "paceline/case/field.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/plan/optimizer.h"
#include "paceline/strategies/embedding_job.h"

namespace paceline::cases {
namespace {

using C = Case;
using S = Settings;

// The allowed words of keys that have a fixed set of values.
constexpr auto kProtocols = std::to_array<std::string_view>({"cases", "ddp", "dlperf"});
constexpr auto kDevices = std::to_array<std::string_view>({"auto", "cpu", "cuda"});
constexpr auto kEngines = [] {
  std::array<std::string_view, plan::kEngines.size() + 1> names{"auto"};
  std::ranges::transform(plan::kEngines, names.begin() + 1, &plan::EngineTraits::name);
  return names;
}();
constexpr auto kDtypes = std::to_array<std::string_view>({"fp32", "bf16", "amp"});
constexpr auto kPoolings = std::to_array<std::string_view>({"sum", "mean"});
constexpr auto kRowDtypes = std::to_array<std::string_view>({"fp32", "bf16"});
constexpr auto kPrintedLaunchers = std::to_array<std::string_view>({"slurm", "mpirun", "torchrun"});
constexpr auto kWeightInits = std::to_array<std::string_view>({"random", "formula"});
constexpr auto kCommandLaunchers = std::to_array<std::string_view>({"command", "ranks"});
constexpr auto kReaders = std::to_array<std::string_view>({"megatron", "torchtitan", "hf-trainer"});
constexpr auto kStepUnits =
    std::to_array<std::string_view>({"s", "ms", "us", "ns", "steps/s", "samples/s", "tokens/s"});
constexpr auto kRateScopes = std::to_array<std::string_view>({"device", "node", "global"});

constexpr std::string_view kRankWords =
    "world (all ranks that were started together, else 1), max (one for each core or GPU), auto "
    "(1, 2, 4, ... max), max:8, auto:8 (at most 8), dlperf (1, all of a host, of 2 and of 4 hosts)";

// clang-format off
constexpr auto kCaseFields = std::to_array<Field>({
    {.name = "label", .metavar = "TEXT", .of = member<&C::label>(), .in_key = false,
     .json = {.place = 1, .form = JsonForm::kAlways},
     .help = "name of the row; the strategy where not given"},
    {.name = "model", .metavar = "NAME", .of = member<&C::model>(),
     .json = {.place = 2, .form = JsonForm::kStated}, .legacy = "dnn",
     .help = "network to train; `paceline list` has them all; MODULE:FACTORY: your own in Python "
     "(docs/your-model.md)"},
    {.name = "batch_size", .metavar = "N", .of = member<&C::batch_size>(), .minimum = 1,
     .json = {.place = 3, .form = JsonForm::kStated, .minimum = 1}, .words = "max", .legacy = "bs",
     .help = "samples per rank and step, all micro-batches together; max: the most that memory "
     "holds, searched for"},
    {.name = "image_size", .metavar = "PIXELS", .of = member<&C::image_size>(), .minimum = 0,
     .json = {.place = 4, .form = JsonForm::kOrNull}, .help = "side of the input; 0: the model's own"},
    {.name = "classes", .metavar = "N", .of = member<&C::classes>(), .minimum = 0,
     .json = {.place = 5, .form = JsonForm::kOrNull}, .legacy = "num_classes",
     .help = "outputs of the last layer; 0: the model's own"},
    {.name = "sequence_length", .metavar = "TOKENS", .of = member<&C::sequence_length>(),
     .minimum = 0, .json = {.place = 6}, .legacy = "sentence_len senlen",
     .help = "tokens of a sequence; 0: the model's own"},
    {.name = "as_original", .of = member<&C::as_original>(), .json = {.place = 7},
     .legacy = "compat_zeros compat_relu compat_accumulate row_gradients lookup",
     .help = "the job behaves as its original did: labels of a text are 0 and no word is masked, "
     "gradients of a network that reads images are never zeroed, and hybrid has one ReLU, asks one "
     "server after the other and updates all rows of its tables"},
    {.name = "trainers", .metavar = "N", .of = member<&C::trainers>(), .minimum = 1,
     .json = {.place = 27}, .legacy = "number_trainers",
     .help = "ranks that train a model with embedding tables; servers and the master are ranks "
     "beside, where there are servers"},
    {.name = "servers", .metavar = "N", .of = member<&C::servers>(), .minimum = 0,
     .json = {.place = 28}, .legacy = "number_ps",
     .help = "ranks that serve embedding tables, as many as these are; 0: the trainers hold a "
     "table each and exchange rows all-to-all"},
    {.name = "embeddings", .metavar = "N", .of = member<&C::embeddings>(), .minimum = 1,
     .json = {.place = 29}, .legacy = "number_embeddings",
     .help = "rows of each table, one for each id"},
    {.name = "embedding_dim", .metavar = "N", .of = member<&C::embedding_dim>(), .minimum = 1,
     .json = {.place = 30}, .help = "numbers of a row"},
    {.name = "placement", .metavar = "NAME", .of = member<&C::placement>(), .allowed = strategies::kTablePlacements,
     .json = {.place = 31},
     .help = "where rows lie: whole tables in turn, rows by a hash or by ranges of ids, or all "
     "rows on every server"},
    {.name = "pooling", .metavar = "NAME", .of = member<&C::pooling>(), .allowed = kPoolings,
     .json = {.place = 32}, .help = "what a bag makes of its rows"},
    {.name = "row_optimizer", .metavar = "NAME", .of = member<&C::row_optimizer>(),
     .allowed = strategies::kRowRules, .json = {.place = 33},
     .help = "update rule of embedding rows, with the optimizer's learning rate"},
    {.name = "row_dtype", .metavar = "TYPE", .of = member<&C::row_dtype>(), .allowed = kRowDtypes,
     .json = {.place = 34},
     .help = "type of embedding rows where they lie and cross; their gradients are fp32"},
    {.name = "zipf", .metavar = "X", .of = member<&C::zipf>(), .minimum = 0, .maximum = 10,
     .json = {.place = 37}, .help = "exponent of the law by which ids are drawn; 0: all alike"},
    {.name = "staleness", .metavar = "N", .of = member<&C::staleness>(), .minimum = 0,
     .maximum = 64, .json = {.place = 38},
     .help = "newest steps whose row updates a lookup may miss; 0: none, and updates are of a "
     "step's mean; 64: no lookup waits for an update (Hogwild), as the original"},
    {.name = "dtype", .metavar = "TYPE", .of = member<&C::dtype>(), .allowed = kDtypes,
     .json = {.place = 14, .form = JsonForm::kStated}, .legacy = "amp use_amp",
     .help = "fp32, bf16, or amp (cuda: fp16 with loss scaling; cpu: bf16 autocast)"},
    {.name = "channels_last", .of = member<&C::channels_last>(),
     .json = {.place = 15, .form = JsonForm::kStated},
     .help = "keep images and convolution weights in NHWC order"},
    {.name = "device", .metavar = "NAME", .of = member<&C::device>(), .allowed = kDevices,
     .fallback = "auto", .json = {.place = 13, .form = JsonForm::kStated}, .legacy = "no_cuda",
     .help = "what computes; auto: cuda where a GPU is visible, else cpu"},
    {.name = "engine", .metavar = "NAME", .of = member<&C::engine>(), .allowed = kEngines,
     .fallback = "auto", .json = {.place = 12, .form = JsonForm::kStated},
     .legacy = "distributed_backend sparse_engine",
     .help = "what moves the bytes; auto: nccl between GPUs where it was built, else gloo"},
    {.name = "threads", .metavar = "N", .of = member<&C::threads>(), .minimum = 0,
     .json = {.place = 16, .form = JsonForm::kOrNull},
     .help = "compute threads per rank; 0: cores / ranks of the largest case, the one-rank "
     "baseline too"},
    {.name = "warmup", .metavar = "N", .of = member<&C::warmup>(), .minimum = 0,
     .json = {.place = 17, .form = JsonForm::kStated, .name = "warmup_steps"},
     .legacy = "warmup_cycles num_warmup_batches",
     .help = "iterations before the measured ones, discarded; left out, whole periods of a "
     "strategy whose steps differ"},
    {.name = "steps", .metavar = "N", .of = member<&C::steps>(), .minimum = 1,
     .json = {.place = 18, .form = JsonForm::kStated}, .legacy = "num_iters num_batches_per_iter",
     .help = "measured iterations; left out, whole periods of a strategy whose steps differ"},
    {.name = "sync_each_step", .of = member<&C::sync_each_step>(),
     .json = {.place = 21, .form = JsonForm::kStated},
     .help = "synchronize the device after every step, not once a window (the original does)"},
    {.name = "discard", .of = member<&C::discard>(), .in_key = false,
     .json = {.place = 99, .form = JsonForm::kAlways}, .help = "run the case, keep nothing of it"},
    {.name = "seed", .metavar = "N", .of = member<&C::seed>(), .minimum = 0,
     .json = {.place = 22, .form = JsonForm::kStated}, .help = "of weights and synthetic data"},
    {.name = "start", .metavar = "NAME", .of = member<&C::start>(), .allowed = kWeightInits,
     .json = {.place = 44},
     .help = "weights to begin with: random, or formula: the same bits in every framework, and no "
     "dropout"},
    {.name = "accumulate", .metavar = "N", .of = member<&C::accumulate>(), .minimum = 1,
     .json = {.place = 19, .form = JsonForm::kStated, .minimum = 1, .unstated = 1},
     .help = "micro-batches per step; batch_size is divided among them"},
    {.name = "optimizer", .metavar = "NAME", .of = member<&C::optimizer>(),
     .allowed = plan::kOptimizerNames, .json = {.place = 23, .form = JsonForm::kStated},
     .help = "update rule, with torch.optim's definition and constants; bert-adamw: adamw with "
     "epsilon 1e-6 and without weight decay of biases and normalizations; lamb, lars: "
     "docs/strategies.md"},
    {.name = "learning_rate", .metavar = "X", .of = member<&C::learning_rate>(), .minimum = 0,
     .also = "--lr", .json = {.place = 24, .form = JsonForm::kStated}, .help = "of the optimizer"},
    {.name = "lr_warmup", .metavar = "STEPS", .of = member<&C::lr_warmup>(), .minimum = 0,
     .json = {.place = 63},
     .help = "steps in which the rate grows in a line from learning_rate / STEPS to learning_rate"},
    {.name = "lr_decay", .metavar = "X@N+N", .of = member<&C::lr_decay>(), .json = {.place = 64},
     .help = "multiply the rate by X at each of these steps: 0.1@200+300"},
    {.name = "average_buffers", .metavar = "STEPS", .of = member<&C::average_buffers>(),
     .minimum = 0, .maximum = 500, .json = {.place = 62},
     .help = "average the statistics of batch norm over all ranks after every so many steps; 0: "
     "never"},
    {.name = "clip_norm", .metavar = "X", .of = member<&C::clip_norm>(), .minimum = 0,
     .json = {.place = 65},
     .help = "largest L2 norm of all gradients together, to which longer ones are scaled; 0: any"},
    {.name = "data", .metavar = "NAME", .of = member<&C::data>(), .json = {.place = 58},
     .help = "train on real or made data and evaluate: digits, teacher, least-squares, mnist:DIR, "
     "cifar10:DIR; or time with the images of a file, mmap:FILE; else one synthetic batch"},
    {.name = "split", .metavar = "HOW", .of = member<&C::split>(), .json = {.place = 59},
     .help = "of the data among ranks: even, or dirichlet:ALPHA, the more uneven the smaller "
     "ALPHA"},
    {.name = "target", .metavar = "X", .of = member<&C::target>(), .minimum = 0,
     .json = {.place = 60},
     .help = "accuracy (0.95), or loss above the least of a regression, of which the report says "
     "when it was reached; 0: none"},
    {.name = "evaluate_every", .metavar = "N", .of = member<&C::evaluate_every>(), .minimum = 1,
     .json = {.place = 61}, .help = "with --data: steps from one evaluation to the next"},
    {.name = "momentum", .metavar = "X", .of = member<&C::momentum>(), .minimum = 0, .maximum = 1,
     .json = {.place = 25, .form = JsonForm::kStated}, .help = "of sgd"},
    {.name = "weight_decay", .metavar = "X", .of = member<&C::weight_decay>(), .minimum = 0,
     .json = {.place = 26, .form = JsonForm::kStated}, .help = "of the optimizer"},
    {.name = "replay", .metavar = "FILE", .of = member<&C::replay>(), .json = {.place = 42},
     .help = "sleep through the layers of this profile instead of computing; communication is "
     "real"},
    {.name = "link", .metavar = "RATE,LATENCY", .of = member<&C::link>(), .json = {.place = 41},
     .help = "hold every operation until such a link would have delivered it: 1Gbit,50us"},
    {.name = "stretch", .metavar = "X", .of = member<&C::stretch>(), .minimum = 1, .maximum = 10000,
     .json = {.place = 43},
     .help = "run replay and link so many times slower, and divide all times by it"},
    {.name = "bucket_mb", .metavar = "MIB", .of = member<&C::bucket_mb>(), .minimum = 0.001,
     .json = {.place = 11, .form = JsonForm::kStated, .name = "bucket_mib"}, .legacy = "bucket_size",
     .help = "cap of a gradient bucket in MiB, as PyTorch counts"},
    {.name = "ranks", .metavar = "N", .of = member<&C::ranks>(), .minimum = 1, .fallback = "world",
     .json = {.place = 8, .form = JsonForm::kStated, .minimum = 1, .unstated = 1}, .words = kRankWords,
     .legacy = "world_size nworkers np num_proc",
     .help = "processes that train together, one device each"},
    {.name = "ranks_per_host", .metavar = "N+N", .of = member<&C::ranks_per_host>(), .minimum = 1,
     .also = "--local-size", .json = {.place = 9, .form = JsonForm::kOrNull},
     .help = "ranks on each host; left out: as they are started"},
    {.name = "strategy", .metavar = "TEXT", .of = member<&C::strategy>(),
     .json = {.place = 10, .form = JsonForm::kStated},
     .legacy = "dist_optimizer atc_style disable_dynamic_topology compressor density threshold "
     "partition fp16 fp16_allreduce fp16_pushpull mgwfbp",
     .help = "SCHEDULE+EXCHANGE+CODEC+UPDATE with options name:key=value, or none, ddp, "
     "python-ddp, fsdp2"},
    {.name = "framework", .metavar = "NAME|FILE", .of = member<&C::framework>(),
     .json = {.place = 45},
     .help = "adapter that trains in Paceline's place: a name of `paceline list frameworks`, or a "
     "Python file; paceline: none"},
    {.name = "compiled", .of = member<&C::compiled>(), .json = {.place = 54},
     .help = "let the framework's compiler make the step (torch.compile, XLA)"},
    {.name = "python", .metavar = "FILE", .of = member<&C::python>(), .json = {.place = 53},
     .help = "interpreter of the adapter, of another installation than its own"},
    {.name = "command", .metavar = "TEXT", .of = member<&C::command>(), .json = {.place = 46},
     .help = "the user's own training, which says how long its steps take (docs/adapters.md); "
     "{ranks}, {batch} and more are filled in"},
    {.name = "launcher", .metavar = "NAME", .of = member<&C::launcher>(), .allowed = kCommandLaunchers,
     .json = {.place = 47},
     .help = "who starts the ranks of --command: `command` itself, or Paceline, which starts it "
     "for each rank; default command"},
    {.name = "reader", .metavar = "NAME", .of = member<&C::reader>(), .allowed = kReaders,
     .json = {.place = 48},
     .help = "whose lines the steps in the output of --command are; left out: found by itself "
     "where a line is of one of them"},
    {.name = "step_regex", .metavar = "REGEX", .of = member<&C::step_regex>(),
     .json = {.place = 49},
     .help = "finds the steps in the output of --command: its group is a step's time; without a "
     "group the line ends a step"},
    {.name = "step_unit", .metavar = "UNIT", .of = member<&C::step_unit>(), .allowed = kStepUnits,
     .json = {.place = 50}, .help = "of what --step-regex finds; default s"},
    {.name = "rate_scope", .metavar = "NAME", .of = member<&C::rate_scope>(),
     .allowed = kRateScopes, .json = {.place = 51},
     .help = "whose samples/s or tokens/s --step-regex finds; default global"},
    {.name = "tokens_per_sample", .metavar = "N", .of = member<&C::tokens_per_sample>(),
     .minimum = 0, .help = "tokens of a sample in a rate of tokens/s; 0: those of a sequence"},
    {.name = "steps_per_line", .metavar = "N", .of = member<&C::steps_per_line>(), .minimum = 1,
     .maximum = 1000000, .json = {.place = 52},
     .help = "steps that a line of the output of --command stands for; its number is that of one "
     "of them"},
    {.name = "env", .metavar = "NAME=VALUE", .of = member<&C::env>(), .json = {.place = 55},
     .help = "environment variable of the case; several values sweep. A file writes env.NAME"},
    // The following fields are results; users cannot set them.
    {.of = member<&C::not_run>(), .in_key = false, .json = {.place = 56, .name = "not_run"},
     .help = "why the case cannot run here, where that is no mistake"},
    {.of = member<&C::cluster>(), .json = {.place = 57, .name = "cluster"},
     .help = "what a prediction was priced with: the cluster file's name, the collectives' "
     "algorithm and the noise that were asked for, and eight hexadecimal digits that change with "
     "the figures of its links and device, the layer times and the device's rate"},
});

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
     .allowed = kPrintedLaunchers, .in_file = false,
     .help = "print the line that starts this on a cluster; run nothing"},
    {.name = "resume", .of = member<&S::resume>(), .in_file = false,
     .help = "skip the cases that --records already holds"},
    {.name = "yes", .of = member<&S::yes>(), .in_file = false,
     .help = "start although the estimate is above 30 minutes"},
});
// clang-format on

}  // namespace

std::span<const Field> fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> rows(kCaseFields.begin(), kCaseFields.end());
    std::ranges::stable_sort(rows, {}, [](const Field& row) { return row.json.place; });
    return rows;
  }();
  return all;
}

std::span<const Field> keys() {
  static const std::vector<Field> all = [] {
    std::vector<Field> rows;
    for (const std::span<const Field> table :
         {std::span<const Field>(kCaseFields), std::span<const Field>(kSettingsFields)}) {
      std::ranges::copy_if(table, std::back_inserter(rows),
                           [](const Field& row) { return !row.name.empty(); });
    }
    return rows;
  }();
  return all;
}

}  // namespace paceline::cases
