// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/field_table.h"

#include <array>

#include "paceline/case/field_words.h"
#include "paceline/plan/optimizer.h"

namespace paceline::cases {
namespace {

using C = Case;

// clang-format off
constexpr auto kCaseFields = std::to_array<Field>({
    {.name = "label", .metavar = "TEXT",
     .help = "name of the row; the strategy where not given",
     .of = member<&C::label>(), .group = Group::kMeasuring, .in_key = false,
     .json = {.place = 1, .form = Form::kAlways}},
    {.name = "model", .metavar = "NAME",
     .help = "network to train; `paceline list` has them all; "
             "MODULE:FACTORY: your own in Python (docs/your-model.md)",
     .of = member<&C::model>(), .group = Group::kModel,
     .legacy = "dnn",
     .json = {.place = 2, .form = Form::kStated}},
    {.name = "batch_size", .metavar = "N",
     .help = "samples per rank and step, all micro-batches together; max: the "
             "most that memory holds, searched for",
     .of = member<&C::batch_size>(), .group = Group::kModel, .minimum = 1,
     .words = "max",
     .legacy = "bs",
     .json = {.place = 3, .form = Form::kStated, .minimum = 1}},
    {.name = "image_size", .metavar = "PIXELS",
     .help = "side of the input; 0: the model's own",
     .of = member<&C::image_size>(), .group = Group::kModel, .minimum = 0,
     .json = {.place = 4, .form = Form::kOrNull}},
    {.name = "classes", .metavar = "N",
     .help = "outputs of the last layer; 0: the model's own",
     .of = member<&C::classes>(), .group = Group::kModel, .minimum = 0,
     .legacy = "num_classes",
     .json = {.place = 5, .form = Form::kOrNull}},
    {.name = "sequence_length", .metavar = "TOKENS",
     .help = "tokens of a sequence; 0: the model's own",
     .of = member<&C::sequence_length>(), .group = Group::kModel,
     .minimum = 0,
     .legacy = "sentence_len senlen",
     .json = {.place = 6}},
    {.name = "as_original", .metavar = "",
     .help = "the job behaves as its original did: labels of a text are 0 and "
             "no word is masked, gradients of a network that reads images are "
             "never zeroed, and hybrid has one ReLU, asks one server after the "
             "other and updates all rows of its tables",
     .of = member<&C::as_original>(), .group = Group::kModel,
     .legacy = "compat_zeros compat_relu compat_accumulate row_gradients "
               "lookup",
     .json = {.place = 7}},
    {.name = "trainers", .metavar = "N",
     .help = "ranks that train a model with embedding tables; servers and the "
             "master are ranks beside, where there are servers",
     .of = member<&C::trainers>(), .group = Group::kEmbeddings, .minimum = 1,
     .legacy = "number_trainers",
     .json = {.place = 27}},
    {.name = "servers", .metavar = "N",
     .help = "ranks that serve embedding tables, as many as these are; 0: the "
             "trainers hold a table each and exchange rows all-to-all",
     .of = member<&C::servers>(), .group = Group::kEmbeddings, .minimum = 0,
     .legacy = "number_ps",
     .json = {.place = 28}},
    {.name = "embeddings", .metavar = "N",
     .help = "rows of each table, one for each id",
     .of = member<&C::embeddings>(), .group = Group::kEmbeddings,
     .minimum = 1,
     .legacy = "number_embeddings",
     .json = {.place = 29}},
    {.name = "embedding_dim", .metavar = "N", .help = "numbers of a row",
     .of = member<&C::embedding_dim>(), .group = Group::kEmbeddings,
     .minimum = 1, .json = {.place = 30}},
    {.name = "placement", .metavar = "NAME",
     .help = "where rows lie: whole tables in turn, rows by a hash or by "
             "ranges of ids, or all rows on every server",
     .of = member<&C::placement>(), .group = Group::kEmbeddings,
     .allowed = kPlacements, .json = {.place = 31}},
    {.name = "pooling", .metavar = "NAME",
     .help = "what a bag makes of its rows",
     .of = member<&C::pooling>(), .group = Group::kEmbeddings,
     .allowed = kPoolings, .json = {.place = 32}},
    {.name = "row_optimizer", .metavar = "NAME",
     .help = "update rule of embedding rows, with the optimizer's learning rate",
     .of = member<&C::row_optimizer>(), .group = Group::kEmbeddings,
     .allowed = kRowOptimizers, .json = {.place = 33}},
    {.name = "row_dtype", .metavar = "TYPE",
     .help = "type of embedding rows where they lie and cross; their gradients "
             "are fp32",
     .of = member<&C::row_dtype>(), .group = Group::kEmbeddings,
     .allowed = kRowDtypes, .json = {.place = 34}},
    {.name = "zipf", .metavar = "X",
     .help = "exponent of the law by which ids are drawn; 0: all alike",
     .of = member<&C::zipf>(), .group = Group::kEmbeddings, .minimum = 0,
     .maximum = 10, .json = {.place = 37}},
    {.name = "staleness", .metavar = "N",
     .help = "newest steps whose row updates a lookup may miss; 0: none, and "
             "updates are of a step's mean; 64: no lookup waits for an update "
             "(Hogwild), as the original",
     .of = member<&C::staleness>(), .group = Group::kEmbeddings, .minimum = 0,
     .maximum = 64, .json = {.place = 38}},
    {.name = "dtype", .metavar = "TYPE",
     .help = "fp32, bf16, or amp (cuda: fp16 with loss scaling; cpu: bf16 "
             "autocast)",
     .of = member<&C::dtype>(), .group = Group::kModel, .allowed = kDtypes,
     .legacy = "amp use_amp",
     .json = {.place = 14, .form = Form::kStated}},
    {.name = "channels_last", .metavar = "",
     .help = "keep images and convolution weights in NHWC order",
     .of = member<&C::channels_last>(), .group = Group::kModel,
     .json = {.place = 15, .form = Form::kStated}},
    {.name = "device", .metavar = "NAME",
     .help = "what computes; auto: cuda where a GPU is visible, else cpu",
     .of = member<&C::device>(), .group = Group::kMachine,
     .allowed = kDevices, .fallback = "auto",
     .legacy = "no_cuda",
     .json = {.place = 13, .form = Form::kStated}},
    {.name = "engine", .metavar = "NAME",
     .help = "what moves the bytes; auto: nccl between GPUs where it was "
             "built, else gloo",
     .of = member<&C::engine>(), .group = Group::kMachine,
     .allowed = kEngines, .fallback = "auto",
     .legacy = "distributed_backend sparse_engine",
     .json = {.place = 12, .form = Form::kStated}},
    {.name = "threads", .metavar = "N",
     .help = "compute threads per rank; 0: cores / ranks of the largest case, "
             "the one-rank baseline too",
     .of = member<&C::threads>(), .group = Group::kMachine, .minimum = 0,
     .json = {.place = 16, .form = Form::kOrNull}},
    {.name = "warmup", .metavar = "N",
     .help = "iterations before the measured ones, discarded; left out, whole "
             "periods of a strategy whose steps differ",
     .of = member<&C::warmup>(), .group = Group::kMeasuring, .minimum = 0,
     .legacy = "warmup_cycles num_warmup_batches",
     .json = {.place = 17, .form = Form::kStated, .name = "warmup_steps"}},
    {.name = "steps", .metavar = "N",
     .help = "measured iterations; left out, whole periods of a strategy whose "
             "steps differ",
     .of = member<&C::steps>(), .group = Group::kMeasuring, .minimum = 1,
     .legacy = "num_iters num_batches_per_iter",
     .json = {.place = 18, .form = Form::kStated}},
    {.name = "sync_each_step", .metavar = "",
     .help = "synchronize the device after every step, not once a window (the "
             "original does)",
     .of = member<&C::sync_each_step>(), .group = Group::kMeasuring,
     .json = {.place = 21, .form = Form::kStated}},
    {.name = "discard", .metavar = "", .help = "run the case, keep nothing of it",
     .of = member<&C::discard>(), .group = Group::kMeasuring, .in_key = false,
     .json = {.place = 99, .form = Form::kAlways}},
    {.name = "seed", .metavar = "N", .help = "of weights and synthetic data",
     .of = member<&C::seed>(), .group = Group::kTraining, .minimum = 0,
     .json = {.place = 22, .form = Form::kStated}},
    {.name = "start", .metavar = "NAME",
     .help = "weights to begin with: random, or formula: the same bits in "
             "every framework, and no dropout",
     .of = member<&C::start>(), .group = Group::kTraining, .allowed = kStarts,
     .json = {.place = 44}},
    {.name = "accumulate", .metavar = "N",
     .help = "micro-batches per step; batch_size is divided among them",
     .of = member<&C::accumulate>(), .group = Group::kTraining, .minimum = 1,
     .json = {.place = 19, .form = Form::kStated, .minimum = 1, .unstated = 1}},
    {.name = "optimizer", .metavar = "NAME",
     .help = "update rule, with torch.optim's definition and constants; "
             "bert-adamw: adamw with epsilon 1e-6 and without weight decay of "
             "biases and normalizations; lamb, lars: docs/strategies.md",
     .of = member<&C::optimizer>(), .group = Group::kTraining,
     .allowed = plan::kOptimizerNames,
     .json = {.place = 23, .form = Form::kStated}},
    {.name = "learning_rate", .metavar = "X", .help = "of the optimizer",
     .of = member<&C::learning_rate>(), .group = Group::kTraining,
     .minimum = 0, .also = "--lr",
     .json = {.place = 24, .form = Form::kStated}},
    {.name = "lr_warmup", .metavar = "STEPS",
     .help = "steps in which the rate grows in a line from learning_rate / "
             "STEPS to learning_rate",
     .of = member<&C::lr_warmup>(), .group = Group::kTraining, .minimum = 0,
     .json = {.place = 63}},
    {.name = "lr_decay", .metavar = "X@N+N",
     .help = "multiply the rate by X at each of these steps: 0.1@200+300",
     .of = member<&C::lr_decay>(), .group = Group::kTraining,
     .json = {.place = 64}},
    {.name = "average_buffers", .metavar = "STEPS",
     .help = "average the statistics of batch norm over all ranks after every "
             "so many steps; 0: never",
     .of = member<&C::average_buffers>(), .group = Group::kTraining,
     .minimum = 0, .maximum = 500, .json = {.place = 62}},
    {.name = "clip_norm", .metavar = "X",
     .help = "largest L2 norm of all gradients together, to which longer ones "
             "are scaled; 0: any",
     .of = member<&C::clip_norm>(), .group = Group::kTraining, .minimum = 0,
     .json = {.place = 65}},
    {.name = "data", .metavar = "NAME",
     .help = "train on real or made data and evaluate: digits, teacher, "
             "least-squares, mnist:DIR, cifar10:DIR; or time with the images "
             "of a file, mmap:FILE; else one synthetic batch",
     .of = member<&C::data>(), .group = Group::kTraining,
     .json = {.place = 58}},
    {.name = "split", .metavar = "HOW",
     .help = "of the data among ranks: even, or dirichlet:ALPHA, the more "
             "uneven the smaller ALPHA",
     .of = member<&C::split>(), .group = Group::kTraining,
     .json = {.place = 59}},
    {.name = "target", .metavar = "X",
     .help = "accuracy (0.95), or loss above the least of a regression, of "
             "which the report says when it was reached; 0: none",
     .of = member<&C::target>(), .group = Group::kTraining, .minimum = 0,
     .json = {.place = 60}},
    {.name = "evaluate_every", .metavar = "N",
     .help = "with --data: steps from one evaluation to the next",
     .of = member<&C::evaluate_every>(), .group = Group::kTraining,
     .minimum = 1, .json = {.place = 61}},
    {.name = "momentum", .metavar = "X", .help = "of sgd",
     .of = member<&C::momentum>(), .group = Group::kTraining, .minimum = 0,
     .maximum = 1, .json = {.place = 25, .form = Form::kStated}},
    {.name = "weight_decay", .metavar = "X", .help = "of the optimizer",
     .of = member<&C::weight_decay>(), .group = Group::kTraining,
     .minimum = 0, .json = {.place = 26, .form = Form::kStated}},
    {.name = "replay", .metavar = "FILE",
     .help = "sleep through the layers of this profile instead of computing; "
             "communication is real",
     .of = member<&C::replay>(), .group = Group::kMachine,
     .json = {.place = 42}},
    {.name = "link", .metavar = "RATE,LATENCY",
     .help = "hold every operation until such a link would have delivered it: "
             "1Gbit,50us",
     .of = member<&C::link>(), .group = Group::kMachine,
     .json = {.place = 41}},
    {.name = "stretch", .metavar = "X",
     .help = "run replay and link so many times slower, and divide all times "
             "by it",
     .of = member<&C::stretch>(), .group = Group::kMachine, .minimum = 1,
     .maximum = 10000, .json = {.place = 43}},
    {.name = "bucket_mb", .metavar = "MIB",
     .help = "cap of a gradient bucket in MiB, as PyTorch counts",
     .of = member<&C::bucket_mb>(), .group = Group::kExchange,
     .minimum = 0.001,
     .legacy = "bucket_size",
     .json = {.place = 11, .form = Form::kStated, .name = "bucket_mib"}},
    {.name = "ranks", .metavar = "N",
     .help = "processes that train together, one device each",
     .of = member<&C::ranks>(), .group = Group::kExchange, .minimum = 1,
     .words = kRankWords, .fallback = "world",
     .legacy = "world_size nworkers np num_proc",
     .json = {.place = 8, .form = Form::kStated, .minimum = 1, .unstated = 1}},
    {.name = "ranks_per_host", .metavar = "N+N",
     .help = "ranks on each host; left out: as they are started",
     .of = member<&C::ranks_per_host>(), .group = Group::kExchange,
     .minimum = 1, .also = "--local-size",
     .json = {.place = 9, .form = Form::kOrNull}},
    {.name = "strategy", .metavar = "TEXT",
     .help = "SCHEDULE+EXCHANGE+CODEC+UPDATE with options name:key=value, or "
             "none, ddp, python-ddp, fsdp2",
     .of = member<&C::strategy>(), .group = Group::kExchange,
     .legacy = "dist_optimizer atc_style disable_dynamic_topology compressor "
               "density threshold partition fp16 fp16_allreduce "
               "fp16_pushpull mgwfbp",
     .json = {.place = 10, .form = Form::kStated}},
    {.name = "framework", .metavar = "NAME|FILE",
     .help = "adapter that trains in Paceline's place: a name of "
             "`paceline list frameworks`, or a Python file; paceline: none",
     .of = member<&C::framework>(), .group = Group::kOutside,
     .json = {.place = 45}},
    {.name = "compiled", .metavar = "",
     .help = "let the framework's compiler make the step (torch.compile, XLA)",
     .of = member<&C::compiled>(), .group = Group::kOutside,
     .json = {.place = 54}},
    {.name = "python", .metavar = "FILE",
     .help = "interpreter of the adapter, of another installation than its own",
     .of = member<&C::python>(), .group = Group::kOutside,
     .json = {.place = 53}},
    {.name = "command", .metavar = "TEXT",
     .help = "the user's own training, which says how long its steps take "
             "(docs/adapters.md); {ranks}, {batch} and more are filled in",
     .of = member<&C::command>(), .group = Group::kOutside,
     .json = {.place = 46}},
    {.name = "launcher", .metavar = "NAME",
     .help = "who starts the ranks of --command: `command` itself, or "
             "Paceline, which starts it for each rank; default command",
     .of = member<&C::launcher>(), .group = Group::kOutside,
     .allowed = kStarters, .json = {.place = 47}},
    {.name = "reader", .metavar = "NAME",
     .help = "whose lines the steps in the output of --command are; left out: "
             "found by itself where a line is of one of them",
     .of = member<&C::reader>(), .group = Group::kOutside,
     .allowed = kReaders, .json = {.place = 48}},
    {.name = "step_regex", .metavar = "REGEX",
     .help = "finds the steps in the output of --command: its group is a "
             "step's time; without a group the line ends a step",
     .of = member<&C::step_regex>(), .group = Group::kOutside,
     .json = {.place = 49}},
    {.name = "step_unit", .metavar = "UNIT",
     .help = "of what --step-regex finds; default s",
     .of = member<&C::step_unit>(), .group = Group::kOutside,
     .allowed = kStepUnits, .json = {.place = 50}},
    {.name = "rate_scope", .metavar = "NAME",
     .help = "whose samples/s or tokens/s --step-regex finds; default global",
     .of = member<&C::rate_scope>(), .group = Group::kOutside,
     .allowed = kRateScopes, .json = {.place = 51}},
    {.name = "tokens_per_sample", .metavar = "N",
     .help = "tokens of a sample in a rate of tokens/s; 0: those of a sequence",
     .of = member<&C::tokens_per_sample>(), .group = Group::kOutside,
     .minimum = 0},
    {.name = "steps_per_line", .metavar = "N",
     .help = "steps that a line of the output of --command stands for; its "
             "number is that of one of them",
     .of = member<&C::steps_per_line>(), .group = Group::kOutside,
     .minimum = 1, .maximum = 1000000, .json = {.place = 52}},
    {.name = "env", .metavar = "NAME=VALUE",
     .help = "environment variable of the case; several values sweep. A file "
             "writes env.NAME",
     .of = member<&C::env>(), .group = Group::kOutside, .json = {.place = 55}},
    // The following fields are results; users cannot set them.
    {.help = "why the case cannot run here, where that is no mistake",
     .of = member<&C::not_run>(), .in_key = false,
     .json = {.place = 56, .name = "not_run"}},
    {.help = "what a prediction was priced with: the cluster file's name, the "
             "collectives' algorithm and the noise that were asked for, and "
             "eight hexadecimal digits that change with the figures of its "
             "links and device, the layer times and the device's rate",
     .of = member<&C::cluster>(),
     .json = {.place = 57, .name = "cluster"}},
});
// clang-format on

}  // namespace

std::span<const Field> case_fields() { return kCaseFields; }

}  // namespace paceline::cases
