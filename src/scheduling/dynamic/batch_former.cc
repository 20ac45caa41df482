// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/batch_former.h"

#include <algorithm>
#include <utility>

#include "infer/infer_request.h"

namespace nereid {
namespace {

bool HasVariableDim(const InputSpec& spec) {
  return std::find(spec.dims.begin(), spec.dims.end(), kVariableDim) != spec.dims.end();
}

const InferInput* Find(const RequestContent& request, const std::string& name) {
  for (const InferInput& input : request.inputs()) {
    if (input.name() == name) return &input;
  }
  return nullptr;
}

bool SameShape(const CompiledModel& model, const InferInput& a, const InferInput& b) {
  const size_t skip = model.max_batch_size > 0 ? 1 : 0;
  return absl::MakeConstSpan(a.sent_shape()).subspan(skip) ==
         absl::MakeConstSpan(b.sent_shape()).subspan(skip);
}

}  // namespace

bool MayShareBatch(const CompiledModel& model, const RequestContent& a, const RequestContent& b) {
  if (!model.needs_shape_equality && !model.has_optional_inputs) return true;
  if (a.inputs().size() != b.inputs().size()) return false;
  for (const InferInput& input : a.inputs()) {
    const InferInput* other = Find(b, input.name());
    if (other == nullptr) return false;
    const InputSpec& spec = model.inputs[static_cast<size_t>(model.FindInput(input.name()))];
    if (!spec.allow_ragged && HasVariableDim(spec) && !SameShape(model, input, *other)) {
      return false;
    }
  }
  return true;
}

namespace {

std::unique_ptr<AdaptivePolicy> MakeAdaptive(const CompiledModel& config, const BatchPolicy& policy,
                                             Duration target) {
  if (target == Duration(0)) return nullptr;
  AdaptiveOptions options;
  options.target = target;
  options.max_units = std::max<uint64_t>(1, policy.max_units());
  const auto active = std::count_if(config.instances.begin(), config.instances.end(),
                                    [](const InstanceSpec& instance) { return !instance.passive; });
  options.instances = static_cast<size_t>(std::max<int64_t>(1, active));
  return std::make_unique<AdaptivePolicy>(options);
}

}  // namespace

// The queue as the policy sees it. Where requests are judged, it shows only the judged ones.
class BatchFormer::View final : public QueueView {
 public:
  explicit View(const BatchFormer& former)
      : former_(former), size_(former.judges_ ? former.judged_ : former.queue_.size()) {}
  size_t size() const override { return size_; }
  uint32_t units(size_t index) const override { return At(index).request->units_in_batch(); }
  TimePoint queued_at(size_t index) const override { return At(index).queued_at; }
  // REQUIRES: a is 0.
  bool Compatible(size_t, size_t b) const override {
    const QueueEntry& candidate = At(b);
    return &candidate != former_.refused_ &&
           MayShareBatch(*former_.config_, *former_.queue_.front().request, *candidate.request);
  }

 private:
  const QueueEntry& At(size_t index) const { return former_.queue_.At(index); }

  const BatchFormer& former_;
  const size_t size_;
};

BatchFormer::BatchFormer(const CompiledModel* config, bool judged, Duration target)
    : config_(config),
      policy_(*config),
      adaptive_(MakeAdaptive(*config, policy_, target)),
      judges_(judged),
      queue_(&config->batching) {}

bool BatchFormer::Push(RequestPtr* request, TimePoint now) {
  const uint32_t units = (*request)->units_in_batch();
  if (!queue_.Push(request, now)) return false;
  if (adaptive_ != nullptr) adaptive_->OnArrival(now, units);
  // The request may have been queued in front of requests that the cursor has passed.
  if (!queue_.pushed_last()) StartOver();
  return true;
}

RequestPtr BatchFormer::Remove(InferRequest* request) {
  QueueEntry* const entry = request->FindSlot<QueueEntry>();
  if (entry == nullptr) return nullptr;
  StartOver();
  return queue_.Remove(entry);
}

bool BatchFormer::Holds(const InferRequest& request) const {
  return request.FindSlot<QueueEntry>() != nullptr;
}

bool BatchFormer::TakeCancelled(std::vector<RequestPtr>* cancelled) {
  if (cancelled_.empty()) return false;
  // Room for all: a removed request must not be lost because there is no memory.
  cancelled->reserve(cancelled->size() + cancelled_.size());
  bool changed = false;
  for (InferRequest* request : cancelled_) {
    // A request that was marked twice has been removed already.
    if (RequestPtr removed = Remove(request)) {
      cancelled->push_back(std::move(removed));
      changed = true;
    }
  }
  cancelled_.clear();
  return changed;
}

bool BatchFormer::Expire(TimePoint now, std::vector<RequestPtr>* rejected) {
  const bool changed = queue_.Expire(now, rejected);
  if (changed) StartOver();
  return changed;
}

BatchDecision BatchFormer::Decide(TimePoint now) {
  if (adaptive_ != nullptr) return adaptive_->Decide(policy_, View(*this), now, &cursor_);
  return policy_.Decide(View(*this), now, &cursor_);
}

void BatchFormer::OnExecuted(uint64_t units, Duration took) {
  if (adaptive_ != nullptr) adaptive_->OnExecuted(units, took);
}

Batch BatchFormer::Take(size_t count) {
  Batch batch;
  batch.reserve(count);
  for (size_t i = 0; i < count; ++i) batch.push_back(queue_.PopFront());
  StartOver();
  return batch;
}

RequestPtr BatchFormer::PopFront() {
  StartOver();
  return queue_.PopFront();
}

InferRequest* BatchFormer::NextToJudge() {
  if (refused_ != nullptr || judged_ >= queue_.size()) return nullptr;
  const QueueEntry& next = queue_.At(judged_);
  InferRequest* const request = next.request.get();
  const bool fits =
      judged_ == 0 || (judged_units_ + request->units_in_batch() <= policy_.max_units() &&
                       MayShareBatch(*config_, *queue_.front().request, *request));
  if (fits) return request;
  // The request cannot join the batch, whatever the judgement.
  refused_ = &next;
  ++judged_;
  return nullptr;
}

void BatchFormer::Judge(bool joins) {
  const QueueEntry& entry = queue_.At(judged_);
  if (!joins && judged_ > 0) refused_ = &entry;
  judged_units_ += entry.request->units_in_batch();
  ++judged_;
}

void BatchFormer::StartOver() {
  cursor_ = BatchCursor{};
  judged_ = 0;
  judged_units_ = 0;
  refused_ = nullptr;
  ++forming_;
}

}  // namespace nereid
