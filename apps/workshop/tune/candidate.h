// SPDX-License-Identifier: Apache-2.0
// Candidate: a way to run a model, as far as `nereid tune` varies it. Plain values and pure
// functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_CANDIDATE_H_
#define NEREID_APPS_WORKSHOP_TUNE_CANDIDATE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "config/edit_text.h"
#include "tune/engine.h"

namespace nereid {

struct Candidate {
  int32_t instances = 1;
  int32_t max_batch_size = 0;                  // 0: tensors have no batch dimension
  bool batching = false;                       // dynamic_batching is configured
  std::vector<int32_t> preferred_batch_sizes;  // empty: only the largest
  uint64_t max_queue_delay_us = 0;
  Engine engine;

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// A way to run what is tuned: one model, or the members of an ensemble. In the order in which these
// are listed elsewhere.
using Configuration = std::vector<Candidate>;

// Of all models together.
int32_t InstancesOf(const Configuration& configuration);
// Threads of all instances together. An instance whose backend chooses the number counts as more
// than one with any number that is configured.
int64_t ThreadsOf(const Configuration& configuration);
uint64_t QueueDelayUsOf(const Configuration& configuration);

// What may be varied.
struct SearchSpace {
  int32_t max_instances = 1;
  std::vector<int32_t> max_batch_sizes;  // empty: only today's
  std::map<Engine, double> request_us;   // what an execution of one request takes, by the engine
};

// The model as it is configured.
Candidate CurrentOf(const CompiledModel& model);
// All candidates, today's first, each once. Queue delays are multiples of `space.request_us`.
std::vector<Candidate> CandidatesFor(const Candidate& current, const SearchSpace& space);
// The model as the candidate would run it. REQUIRES: the model has an instance.
CompiledModel With(const CompiledModel& model, const Candidate& candidate);
// What has to change in the configuration of `model`.
ConfigChanges ChangesOf(const CompiledModel& model, const Candidate& candidate);

// "2 instances, batches of 8, preferred 4, delay 500 µs"
std::string NameOf(const Candidate& candidate);
// Of several models: "MODEL: 2 instances, no batching; MODEL: 1 instance".
std::string NameOf(const Configuration& configuration, const std::vector<std::string>& models);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_CANDIDATE_H_
