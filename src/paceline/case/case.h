// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

// One case of a sweep: what was asked for, before anything was measured.  It is nested by who reads
// it; a function that needs one part takes that part. Every member but `unstated` has a row in
// case/field_table.cc.

namespace paceline::cases {

/// What is trained.
struct Network {
  std::string model = "resnet50";
  int image_size = 0;            // 0: the model's own
  int classes = 0;               // 0: the model's own
  int sequence_length = 0;       // tokens; 0: the model's own
  bool as_original = false;      // the job behaves as its original did
  std::string start = "random";  // weights: random, or formula (formula.h)
  std::string dtype = "fp32";    // fp32, bf16, amp
  bool channels_last = false;
  bool compiled = false;  // by the framework's compiler

  bool has_tables() const { return model == "hybrid" || model == "dlrm"; }

  bool operator==(const Network&) const = default;
};

/// How it is trained, and on which data.
struct Training {
  int batch_size = 32;  // per rank and step, of all micro-batches
  int accumulate = 1;   // micro-batches per step
  std::uint64_t seed = 0;
  std::string optimizer = "sgd";  // a name of plan/optimizer.h
  double learning_rate = 0.001;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  int lr_warmup = 0;           // steps of a rate that grows to learning_rate
  std::string lr_decay{};      // "0.1@200+300"; empty: none
  double clip_norm = 0;        // largest norm of all gradients; 0: any
  int average_buffers = 0;     // steps between averages of statistics; 0: none
  std::string data{};          // what is trained on; empty: one synthetic batch
  std::string split = "even";  // of the data among ranks
  double target = 0;           // accuracy, or loss of a regression; 0: none
  int evaluate_every = 50;     // steps

  bool operator==(const Training&) const = default;
};

/// Of models with embedding tables, whose ranks are trainers, servers and the master.
struct Tables {
  int trainers = 2;
  int servers = 2;       // each with a table of its own
  int embeddings = 300;  // rows of a table
  int embedding_dim = 64;
  std::string placement = "table";    // table, row-hash, row-range, replicated
  std::string pooling = "sum";        // sum, mean
  std::string row_optimizer = "sgd";  // sgd, adagrad, rowwise-adagrad
  std::string row_dtype = "fp32";     // fp32, bf16
  double zipf = 0;                    // exponent of the ids' law; 0: uniform
  int staleness = 0;                  // steps whose updates a lookup may miss

  bool operator==(const Tables&) const = default;
};

/// What crosses, and by what.
struct Exchange {
  std::string strategy = "fusion";  // canonical text: docs/strategies.md
  double bucket_mb = 25;            // MiB, as PyTorch counts them
  std::string engine = "gloo";      // gloo, nccl, mpi
  std::string link{};               // emulated link, "1Gbit,50us"; empty: the engine's own

  bool operator==(const Exchange&) const = default;
};

/// What the ranks run on.
struct Machine {
  int ranks = 1;
  std::vector<int> ranks_per_host;           // empty: packed by host
  std::string device = "cpu";                // cpu, cuda
  int threads = 0;                           // intra-op threads per rank; 0: cores / largest world
  std::string replay{};                      // profile file that is slept through; empty: none
  double stretch = 1;                        // link and replay run so many times slower
  std::map<std::string, std::string> env{};  // variables that the case sets
  /// What a prediction on a described cluster was priced with, beside the keys
  /// (predict/priced_on.cc); empty in all other records.
  std::string cluster{};

  bool operator==(const Machine&) const = default;
};

/// Which steps are measured.
struct Window {
  int warmup = 5;               // iterations, discarded
  int steps = 10;               // iterations, measured
  bool sync_each_step = false;  // device synchronized after every step

  bool operator==(const Window&) const = default;
};

/// The program outside that performs the case (docs/adapters.md).
struct Program {
  std::string framework{};    // adapter; empty: Paceline itself
  std::string command{};      // the user's own; empty: none
  std::string launcher{};     // command: it starts its ranks; ranks: Paceline
                              // does; empty: as the adapter says
  std::string reader{};       // of the command's output; empty: found by itself
  std::string step_regex{};   // finds the steps in the command's output
  std::string step_unit{};    // of what it finds; empty: seconds
  int steps_per_line = 1;     // that a line of the command's output stands for
  std::string rate_scope{};   // what a rate that it finds is of; empty: global
  int tokens_per_sample = 0;  // of a rate of tokens; 0: sequence_length
  std::string python{};       // interpreter; empty: the adapter's own

  bool operator==(const Program&) const = default;
};

/// Two cases are the same case when their `key()` is equal.
struct Case : Network, Training, Tables, Exchange, Machine, Window, Program {
  std::string label;     // "1M/2G"
  bool discard = false;  // a warm-up case: run, never recorded
  /// Why the case cannot run here, where that is no mistake: it leaves a row.
  std::string not_run{};
  /// The keys of the JSON form that the source of the record, a log, does not say, or that nobody
  /// says of a command that does not see them.  They are null there, and their fields hold no value
  /// of the case.
  std::set<std::string> unstated{};

  bool states(const std::string& key) const { return !unstated.contains(key); }
  /// Adds a key that may be unstated; its field loses its value.
  void forget(const std::string& key);

  /// What a sample counts in a rate of tokens; 0: nobody says it.
  int tokens_of_sample() const {
    return tokens_per_sample > 0 ? tokens_per_sample : sequence_length;
  }

  /// What a rank is beside embedding tables, counted from 0: "trainer 1", "server 0", "master";
  /// empty for other ranks, and where there are none.
  std::string role_of(int rank) const;

  /// Canonical text of everything that shapes the result.
  std::string key() const;

  bool operator==(const Case&) const = default;
};

}  // namespace paceline::cases
