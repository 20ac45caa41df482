// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/sequence_states.h"

#include <algorithm>
#include <cstring>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

// Idle time after which the server has certainly ended a sequence; the server's clock starts later
// than ours.
constexpr uint64_t kIdleFactor = 2;

size_t Rows(const ov::Tensor& tensor) {
  return tensor.get_shape().empty() ? 1 : tensor.get_shape()[0];
}

bool SameRowShape(const ov::Tensor& a, const ov::Tensor& b) {
  const ov::Shape& left = a.get_shape();
  const ov::Shape& right = b.get_shape();
  return left.size() == right.size() && !left.empty() &&
         std::equal(left.begin() + 1, left.end(), right.begin() + 1);
}

// Rows [first, first + count) of `all`.
ov::Tensor CopyRows(const ov::Tensor& all, size_t first, size_t count) {
  ov::Shape shape = all.get_shape();
  const size_t row_size = shape[0] == 0 ? 0 : all.get_byte_size() / shape[0];
  shape[0] = count;
  ov::Tensor rows(all.get_element_type(), shape);
  const char* const source = static_cast<const char*>(all.data()) + first * row_size;
  if (count * row_size > 0) std::memcpy(rows.data(), source, count * row_size);
  return rows;
}

ov::Tensor CopyAll(const ov::Tensor& all) {
  ov::Tensor copy(all.get_element_type(), all.get_shape());
  all.copy_to(copy);
  return copy;
}

}  // namespace

SequenceStates::SequenceStates(const Limits& limits, const InitialStates& initial, Batch::Clock now)
    : limits_(limits), initial_(initial), now_(now), initial_request_(initial.NewRequest()) {}

SequenceStates::Step SequenceStates::ReadStep(TRITONBACKEND_Request* request) const {
  Step step;
  if (!limits_.sequences) return step;
  uint64_t number = 0;
  const char* name = nullptr;
  if (Error(TRITONBACKEND_RequestCorrelationId(request, &number)).ok()) {
    if (number != 0) step.sequence = std::to_string(number);
  } else if (Error(TRITONBACKEND_RequestCorrelationIdString(request, &name)).ok()) {
    step.sequence = StrCat("'", name, "'");
  }
  if (step.sequence.empty()) return step;
  uint32_t flags = 0;
  NB_LOG_IF_ERROR(TRITONBACKEND_RequestFlags(request, &flags), "failed to read a request's flags");
  step.start = (flags & TRITONSERVER_REQUEST_FLAG_SEQUENCE_START) != 0;
  step.end = (flags & TRITONSERVER_REQUEST_FLAG_SEQUENCE_END) != 0;
  return step;
}

void SequenceStates::Begin(const Batch& batch) {
  steps_.clear();
  for (size_t i = 0; i < batch.size(); ++i) steps_.push_back(ReadStep(batch.request(i)));
  if (limits_.idle_ns == 0) return;
  const uint64_t now = now_();
  while (!entries_.empty() && now - entries_.front().used_ns > kIdleFactor * limits_.idle_ns) {
    DropOldest();
  }
}

bool SequenceStates::MayJoin(size_t a, size_t b) const {
  const Step& left = steps_[a];
  const Step& right = steps_[b];
  if (left.start != right.start) return false;
  if (!left.sequence.empty() && left.sequence == right.sequence) return false;
  if (left.start) return true;
  const Entry* const one = Find(left.sequence);
  const Entry* const other = Find(right.sequence);
  // A sequence whose state is not held is run alone, so that only it fails.
  return one != nullptr && other != nullptr &&
         std::equal(one->states.begin(), one->states.end(), other->states.begin(),
                    other->states.end(), SameRowShape);
}

const SequenceStates::Entry* SequenceStates::Find(const std::string& sequence) const {
  const auto found = by_sequence_.find(sequence);
  return found == by_sequence_.end() ? nullptr : &*found->second;
}

size_t SequenceStates::RowsOf(const Batch& batch, std::span<const size_t> group) {
  size_t rows = 0;
  for (const size_t i : group) rows += static_cast<size_t>(batch.rows(i));
  return rows;
}

Error SequenceStates::Load(const Batch& batch, std::span<const size_t> group,
                           ov::InferRequest* request) {
  if (steps_[group[0]].start) {
    Start(limits_.batching ? RowsOf(batch, group) : 1, request);
    return Error();
  }
  NB_RETURN_IF_ERROR(CheckHeld(batch, group));
  std::vector<ov::VariableState> states = request->query_state();
  for (size_t k = 0; k < states.size(); ++k) states[k].set_state(Join(group, k));
  return Error();
}

void SequenceStates::Start(size_t rows, ov::InferRequest* request) {
  std::vector<ov::VariableState> states = request->query_state();
  std::vector<std::string> names;
  for (const ov::VariableState& state : states) names.push_back(state.get_name());
  const std::vector<ov::Tensor> values = initial_.Compute(names, rows, request, &initial_request_);
  for (size_t k = 0; k < states.size(); ++k) states[k].set_state(values[k]);
}

Error SequenceStates::CheckHeld(const Batch& batch, std::span<const size_t> group) const {
  for (const size_t i : group) {
    const Entry* const entry = Find(steps_[i].sequence);
    if (entry == nullptr) {
      return Error::InvalidArg(
          StrCat("the state of sequence ", steps_[i].sequence, " is not held: an instance holds ",
                 limits_.held,
                 " (parameter MAX_SEQUENCE_STATES), and the longest idle one goes "
                 "first"));
    }
    if (!limits_.batching) continue;
    for (const ov::Tensor& state : entry->states) {
      if (Rows(state) == static_cast<size_t>(batch.rows(i))) continue;
      return Error::InvalidArg(StrCat("sequence ", steps_[i].sequence, " has a state of ",
                                      Rows(state), " rows, but its request has ", batch.rows(i)));
    }
  }
  return Error();
}

ov::Tensor SequenceStates::Join(std::span<const size_t> group, size_t state) const {
  const ov::Tensor& first = Find(steps_[group[0]].sequence)->states[state];
  if (group.size() == 1) return first;
  ov::Shape shape = first.get_shape();
  shape[0] = 0;
  for (const size_t i : group) shape[0] += Rows(Find(steps_[i].sequence)->states[state]);
  ov::Tensor joined(first.get_element_type(), shape);
  auto* destination = static_cast<char*>(joined.data());
  for (const size_t i : group) {
    const ov::Tensor& part = Find(steps_[i].sequence)->states[state];
    if (part.get_byte_size() > 0) std::memcpy(destination, part.data(), part.get_byte_size());
    destination += part.get_byte_size();
  }
  return joined;
}

Error SequenceStates::Save(const Batch& batch, std::span<const size_t> group,
                           ov::InferRequest* request) {
  std::vector<ov::Tensor> results;
  for (const ov::VariableState& state : request->query_state()) {
    results.push_back(state.get_state());
    if (!limits_.batching) continue;
    const size_t rows = RowsOf(batch, group);
    if (Rows(results.back()) == rows) continue;
    return Error::Internal(StrCat("state '", state.get_name(), "' has shape ",
                                  results.back().get_shape().to_string(), " for a batch of ", rows,
                                  " rows"));
  }
  size_t first = 0;
  for (const size_t i : group) {
    const auto rows = static_cast<size_t>(batch.rows(i));
    const Step& step = steps_[i];
    if (step.end) {
      Drop(step.sequence);
    } else {
      std::vector<ov::Tensor> states;
      for (const ov::Tensor& result : results) {
        states.push_back(limits_.batching ? CopyRows(result, first, rows) : CopyAll(result));
      }
      Keep(step.sequence, std::move(states));
    }
    first += rows;
  }
  return Error();
}

void SequenceStates::Keep(const std::string& sequence, std::vector<ov::Tensor> states) {
  Drop(sequence);
  while (entries_.size() >= limits_.held) DropOldest();
  entries_.push_back(Entry{sequence, std::move(states), now_()});
  by_sequence_[sequence] = std::prev(entries_.end());
}

void SequenceStates::Drop(const std::string& sequence) {
  const auto found = by_sequence_.find(sequence);
  if (found == by_sequence_.end()) return;
  entries_.erase(found->second);
  by_sequence_.erase(found);
}

void SequenceStates::DropOldest() {
  by_sequence_.erase(entries_.front().sequence);
  entries_.pop_front();
}

}  // namespace nereid_backend
