// Candidate: a way to run a model, as far as `nereid tune` varies it. Plain values and pure
// functions.
#ifndef NEREID_APPS_NEREID_TUNE_CANDIDATE_H_
#define NEREID_APPS_NEREID_TUNE_CANDIDATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "config/edit_text.h"

namespace nereid {

struct Candidate {
  int32_t instances = 1;
  int32_t max_batch_size = 0;                  // 0: tensors have no batch dimension
  bool batching = false;                       // dynamic_batching is configured
  std::vector<int32_t> preferred_batch_sizes;  // empty: only the largest
  uint64_t max_queue_delay_us = 0;

  friend bool operator==(const Candidate& a, const Candidate& b) {
    return a.instances == b.instances && a.max_batch_size == b.max_batch_size &&
           a.batching == b.batching && a.preferred_batch_sizes == b.preferred_batch_sizes &&
           a.max_queue_delay_us == b.max_queue_delay_us;
  }
};

// What may be varied.
struct SearchSpace {
  int32_t max_instances = 1;
  std::vector<int32_t> max_batch_sizes;  // empty: only today's
  double request_us = 0;                 // what an execution of one request takes
};

// The model as it is configured.
Candidate CurrentOf(const CompiledModel& model);
// All candidates, today's first, each once. Queue delays are multiples of `space.request_us`.
std::vector<Candidate> CandidatesFor(const Candidate& current, const SearchSpace& space);
// The model as the candidate would run it. REQUIRES: the model has an instance.
CompiledModel With(const CompiledModel& model, const Candidate& candidate);
// What has to change in the configuration of `current`.
ConfigChanges ChangesOf(const Candidate& current, const Candidate& candidate);

// "2 instances, batches of 8, preferred 4, delay 500 µs"
std::string NameOf(const Candidate& candidate);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_TUNE_CANDIDATE_H_
