// SPDX-License-Identifier: Apache-2.0
// SequenceStates: keeps the states of a network (ReadValue, Assign) between the requests of the
// sequences that an instance serves. The server sends all requests of a sequence to one instance,
// so nothing is shared. Owned by the thread that runs the instance.
//
// The states of a sequence are copied into the infer request before its run and out of it
// afterwards. A run may hold several sequences, stacked along the first dimension.
#ifndef NEREID_BACKENDS_OPENVINO_SEQUENCE_STATES_H_
#define NEREID_BACKENDS_OPENVINO_SEQUENCE_STATES_H_

#include <cstdint>
#include <list>
#include <openvino/runtime/infer_request.hpp>
#include <openvino/runtime/tensor.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/openvino/initial_states.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

class SequenceStates {
 public:
  struct Limits {
    bool sequences = false;  // the model has them; otherwise each request is independent
    bool batching = false;   // several rows per run
    size_t held = 1024;      // sequences kept at most; one more drops the longest idle one
    // The server ends a sequence that is idle for longer; 0: it never does.
    uint64_t idle_ns = 0;
  };
  // `initial` outlives the object. May throw ov::Exception.
  SequenceStates(const Limits& limits, const InitialStates& initial, Batch::Clock now = &NowNs);

  // Determines to which sequences the requests of `batch` belong, and drops idle sequences.
  void Begin(const Batch& batch);
  // Whether two requests of the batch may share a run: they belong to different sequences, both or
  // neither are at the start, and their states have the same shape.
  bool MayJoin(size_t a, size_t b) const;

  // Before a run: gives `request` the states of the requests `group`, or the network's initial
  // states. INVALID_ARG if the state of a sequence is not held, or differs from its request in the
  // number of rows. REQUIRES: its inputs are set. May throw ov::Exception.
  Error Load(const Batch& batch, std::span<const size_t> group, ov::InferRequest* request);
  // After a run: keeps the new states of the sequences that continue. May throw ov::Exception.
  Error Save(const Batch& batch, std::span<const size_t> group, ov::InferRequest* request);

  size_t held() const { return entries_.size(); }

 private:
  // What a request says about its sequence.
  struct Step {
    std::string sequence;  // "5" or "'name'"; empty: none
    bool start = true;
    bool end = true;
  };
  struct Entry {
    std::string sequence;
    std::vector<ov::Tensor> states;  // in the order of the network's
    uint64_t used_ns = 0;
  };
  using Entries = std::list<Entry>;  // the longest idle one first

  Step ReadStep(TRITONBACKEND_Request* request) const;
  static size_t RowsOf(const Batch& batch, std::span<const size_t> group);
  Error CheckHeld(const Batch& batch, std::span<const size_t> group) const;
  void Start(size_t rows, ov::InferRequest* request);
  const Entry* Find(const std::string& sequence) const;
  // The entries of the group. REQUIRES: all are held.
  ov::Tensor Join(std::span<const size_t> group, size_t state) const;
  void Keep(const std::string& sequence, std::vector<ov::Tensor> states);
  void Drop(const std::string& sequence);
  void DropOldest();

  const Limits limits_;
  const InitialStates& initial_;
  const Batch::Clock now_;
  ov::InferRequest initial_request_;
  std::vector<Step> steps_;  // one per request of the batch
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> by_sequence_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_SEQUENCE_STATES_H_
