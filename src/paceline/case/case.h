// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

// One case of a sweep: the configuration that the user asked for. It is divided into the structs
// that different readers need; a function that needs one part takes that struct alone. Every member
// but `unstated` has a row in case/field_table.cc.

namespace paceline::cases {

/// The network that is trained.
struct Network {
  std::string model = "resnet50";
  int image_size = 0;            // side of the images in pixels; 0: the model's own
  int classes = 0;               // number of classes; 0: the model's own
  int sequence_length = 0;       // tokens; 0: the model's own
  bool as_original = false;      // reproduces the original benchmark's behavior
  std::string start = "random";  // initial weights: random, or formula (formula.h)
  std::string dtype = "fp32";    // fp32, bf16, amp
  bool channels_last = false;
  bool compiled = false;  // whether the framework's compiler (such as torch.compile) is used

  bool has_tables() const { return model == "hybrid" || model == "dlrm"; }
};

/// How the network is trained, and on which data.
struct Training {
  int batch_size = 32;  // samples per rank and step, of all micro-batches
  int accumulate = 1;   // micro-batches per step
  std::uint64_t seed = 0;
  std::string optimizer = "sgd";  // a name of plan/optimizer.h
  double learning_rate = 0.001;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  int lr_warmup = 0;           // number of first steps in which the rate grows linearly
  std::string lr_decay{};      // learning rate schedule, "0.1@200+300": times 0.1 at steps 200 and
                               // 300; empty: none
  double clip_norm = 0;        // largest norm of the whole gradient; 0: no limit
  int average_buffers = 0;     // steps between averages of BatchNorm statistics; 0: never
  std::string data{};          // data set; empty: one synthetic batch
  std::string split = "even";  // how the data are divided among ranks
  double target = 0;           // accuracy, or loss of a regression, to reach; 0: none
  int evaluate_every = 50;     // steps between evaluations
};

/// Settings of models with embedding tables, whose ranks are trainers, servers and the master.
struct Tables {
  int trainers = 2;
  int servers = 2;       // one table for each; 0: trainers hold the tables
  int embeddings = 300;  // rows per table
  int embedding_dim = 64;
  std::string placement = "table";    // table, row-hash, row-range, replicated
  std::string pooling = "sum";        // sum, mean
  std::string row_optimizer = "sgd";  // sgd, adagrad, rowwise-adagrad
  std::string row_dtype = "fp32";     // fp32, bf16
  double zipf = 0;                    // exponent of the Zipf law of row ids; 0: uniform
  int staleness = 0;                  // how many of the newest updates a lookup may miss
};

/// What ranks communicate (the strategy, by which bucket size), and over which library and link.
struct Exchange {
  std::string strategy = "fusion";  // canonical text: docs/strategies.md
  double bucket_mb = 25;            // largest size of a bucket in MiB, as in PyTorch
  std::string engine = "gloo";      // gloo, nccl, mpi
  std::string link{};               // emulated link, "1Gbit,50us"; empty: the engine's own
};

/// The hosts and devices that the ranks run on.
struct Machine {
  int ranks = 1;
  std::vector<int> ranks_per_host;           // empty: as the launcher placed the ranks
  std::string device = "cpu";                // cpu, cuda
  int threads = 0;                           // threads per rank; 0: the host's cores divided by the
                                             // ranks of the largest case
  std::string replay{};                      // profile whose layer times replace computation
  double stretch = 1;                        // factor by which link and replay are slowed down
  std::map<std::string, std::string> env{};  // environment variables that the case sets
  /// The cluster's name, with the options and the hashes of the costs from which a prediction was
  /// computed (predict/predict_request.cc). Empty in all other records.
  std::string cluster{};
};

/// How many steps are run, and which of them are measured.
struct Window {
  int warmup = 5;               // number of steps before the measured ones
  int steps = 10;               // number of measured steps
  bool sync_each_step = false;  // synchronizes the device after every step
};

/// The external program that runs the case in place of Paceline (docs/adapters.md).
struct Program {
  std::string framework{};    // adapter; empty: Paceline itself
  std::string command{};      // the user's own command line; empty: none
  std::string launcher{};     // "command": the command starts its ranks;
                              // "ranks": Paceline starts them; empty: automatic
  std::string reader{};       // log format of the output; empty: detected
  std::string step_regex{};   // regular expression that finds steps in the output
  std::string step_unit{};    // unit of the number that step_regex finds; empty: seconds
  int steps_per_line = 1;     // steps that one line of the output reports
  std::string rate_scope{};   // device, node or global: what a rate that step_regex finds counts
  int tokens_per_sample = 0;  // converts tokens/s to samples/s; 0: sequence_length
  std::string python{};       // Python interpreter; empty: the adapter's own
};

/// Two cases are the same case when their `key()` is equal.
struct Case : Network, Training, Tables, Exchange, Machine, Window, Program {
  std::string label;     // the case's name in tables, such as "1M/2G"
  bool discard = false;  // a warm-up case: it runs, but is not recorded
  /// Why the case cannot run here, if that is not the user's mistake. Such a case is recorded with
  /// this reason.
  std::string not_run{};
  /// The JSON keys whose values are unknown. Either an imported log does not contain them, or the
  /// user did not give them to a `command` that does not read them from Paceline. Their JSON values
  /// are null, and the values of their fields have no meaning.
  std::set<std::string> unstated{};

  bool states(const std::string& key) const { return !unstated.contains(key); }
  /// Adds the JSON key `key` to `unstated`, and resets its field to the value for "unknown". Does
  /// nothing if the form of the key is not JsonForm::kStated.
  void forget(const std::string& key);

  /// The number of tokens per sample, by which a rate in tokens/s is converted; 0 if unknown.
  int tokens_of_sample() const {
    return tokens_per_sample > 0 ? tokens_per_sample : sequence_length;
  }

  /// The role of a rank, counted from 0, in a job with embedding tables: "trainer 1", "server 0" or
  /// "master". Empty in other jobs, and for ranks without a role.
  std::string role_of(int rank) const;

  /// Canonical text of all fields that influence the result; two cases with equal text are the same
  /// case.
  std::string key() const;

  /// Whether all fields are equal, and the same are stated.
  bool operator==(const Case& other) const;
};

}  // namespace paceline::cases
