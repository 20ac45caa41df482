// SPDX-License-Identifier: Apache-2.0
#include "backends/python/child_requests.h"

#include <utility>
#include <vector>

#include "backends/python/answers.h"
#include "backends/python/child_request.h"
#include "backends/sdk/json.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

using nereid_python::ValueReader;
using nereid_python::ValueWriter;

// Checks that requests can be sent to the model in this way. The texts are those of Triton.
Error CheckModel(TRITONSERVER_Server* server, const ChildRequest::Spec& spec) {
  bool ready = false;
  NB_RETURN_IF_ERROR(
      TRITONSERVER_ServerModelIsReady(server, spec.model.c_str(), spec.version, &ready));
  if (!ready) {
    return Error::Internal(
        StrCat("Failed for execute the inference request. Model '", spec.model, "' is not ready."));
  }
  uint32_t flags = 0;
  void* unused = nullptr;
  NB_RETURN_IF_ERROR(TRITONSERVER_ServerModelTransactionProperties(server, spec.model.c_str(),
                                                                   spec.version, &flags, &unused));
  if ((flags & TRITONSERVER_TXN_DECOUPLED) != 0 && !spec.decoupled) {
    return Error::InvalidArg(StrCat(
        "Model ", spec.model,
        " is using the decoupled. The current BLS request call doesn't support models using the "
        "decoupled transaction policy. Please use 'decoupled=True' argument to the 'exec' or "
        "'async_exec' calls for decoupled models.'"));
  }
  return Error();
}

}  // namespace

ChildRequests::ChildRequests(TRITONSERVER_Server* server, std::shared_ptr<Transport> transport)
    : server_(server), transport_(std::move(transport)) {
  NB_LOG_IF_ERROR(ChildRequest::NewAllocator(&allocator_).release(), "no response allocator");
}

ChildRequests::~ChildRequests() {
  CancelAll();
  {
    std::unique_lock lock(mu_);
    none_left_.wait(lock, [&] { return children_.empty(); });
  }
  streams_.clear();
  NB_LOG_IF_ERROR(TRITONSERVER_ResponseAllocatorDelete(allocator_), "response allocator");
}

void ChildRequests::Infer(ValueReader* arguments, uint32_t slot) {
  const ChildRequest::Spec spec = ChildRequest::Spec::Read(arguments);
  if (!arguments->ok()) {
    return AnswerError(transport_.get(), slot, TRITONSERVER_ERROR_INTERNAL,
                       "a request of the process of a Python model is damaged");
  }
  Error error = CheckModel(server_, spec);
  const uint64_t number = next_++;
  if (error.ok() && spec.blocks_execute && !BeginWait(number, spec.model, spec.version)) {
    error = Error(TRITONSERVER_ERROR_UNAVAILABLE,
                  StrCat("the answer would never come: all instances of model '", spec.model,
                         "' would wait for models that wait for them; more instances, or a model "
                         "that calls less, would break the circle"));
  }
  if (error.ok()) {
    std::shared_ptr<ChildRequest> child;
    {
      const std::lock_guard lock(mu_);
      child = std::make_shared<ChildRequest>(transport_, slot, spec.decoupled,
                                             [this, number] { Forget(number); });
      children_[number] = child;
      if (spec.decoupled) streams_[number] = child;
    }
    TRITONSERVER_InferenceTrace* trace = nullptr;
    if (spec.trace != 0 && parents_ != nullptr) trace = parents_->SpawnChildTrace(spec.trace);
    error = child->Send(spec, server_, allocator_, trace);
    if (!error.ok()) {
      CloseStream(number);
      Forget(number);
    }
  }
  if (!error.ok()) {
    return AnswerError(
        transport_.get(), slot, TRITONSERVER_ERROR_INTERNAL,
        StrCat("Model ", spec.model, " - Error when running inference: ", error.message()));
  }
  if (!spec.decoupled) return;  // the response is the answer
  ValueWriter writer;
  BeginAnswer(&writer);
  writer.Uint(number);
  transport_->Answer(slot, writer);
}

bool ChildRequests::BeginWait(uint64_t number, const std::string& model, int64_t version) {
  if (node_ == nullptr) return true;
  WaitGraph::Wait wait;
  if (!WaitGraph::Instance().Begin(node_, TargetsOf(model, version), &wait)) return false;
  const std::lock_guard lock(mu_);
  waits_[number] = wait;
  return true;
}

// The members of an ensemble are looked up once, so a cycle introduced by a later version is not
// detected.
const std::vector<std::string>& ChildRequests::TargetsOf(const std::string& model,
                                                         int64_t version) {
  const auto known = targets_.find(model);
  if (known != targets_.end()) return known->second;
  std::vector<std::string> targets;
  TRITONSERVER_Message* message = nullptr;
  const Error asked(TRITONSERVER_ServerModelConfig(server_, model.c_str(), version, 1, &message));
  if (asked.ok()) {
    const char* text = nullptr;
    size_t size = 0;
    const Error read(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
    const Result<Json> config = Json::Parse(read.ok() ? std::string_view(text, size) : "{}");
    NB_LOG_IF_ERROR(TRITONSERVER_MessageDelete(message), "failed to delete a message");
    if (config.ok()) {
      for (const Json& step : (*config)["ensemble_scheduling"]["step"].items()) {
        const std::vector<std::string>& inner = TargetsOf(step["model_name"].AsString(), -1);
        targets.insert(targets.end(), inner.begin(), inner.end());
      }
    }
  }
  if (targets.empty()) targets.push_back(model);
  return targets_[model] = std::move(targets);
}

std::shared_ptr<ChildRequest> ChildRequests::Find(uint64_t number) {
  const std::lock_guard lock(mu_);
  const auto found = streams_.find(number);
  return found == streams_.end() ? nullptr : found->second;
}

void ChildRequests::Forget(uint64_t number) {
  std::shared_ptr<ChildRequest> gone;  // deleted without the lock
  const std::lock_guard lock(mu_);
  if (const auto wait = waits_.find(number); wait != waits_.end()) {
    WaitGraph::Instance().End(wait->second);
    waits_.erase(wait);
  }
  const auto found = children_.find(number);
  if (found == children_.end()) return;
  gone = std::move(found->second);
  children_.erase(found);
  if (children_.empty()) none_left_.notify_all();
}

void ChildRequests::Next(uint64_t stream, uint32_t slot) {
  if (const std::shared_ptr<ChildRequest> child = Find(stream)) return child->Next(slot);
  AnswerError(transport_.get(), slot, TRITONSERVER_ERROR_INTERNAL,
              "the stream of responses has been closed");
}

void ChildRequests::Cancel(uint64_t stream) {
  if (const std::shared_ptr<ChildRequest> child = Find(stream)) child->Cancel();
}

void ChildRequests::CloseStream(uint64_t stream) {
  std::shared_ptr<ChildRequest> closed;
  {
    const std::lock_guard lock(mu_);
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return;
    closed = std::move(found->second);
    streams_.erase(found);
  }
  closed->Close();
}

bool ChildRequests::Idle() {
  const std::lock_guard lock(mu_);
  return children_.empty();
}

void ChildRequests::CancelAll() {
  std::vector<std::shared_ptr<ChildRequest>> under_way;
  {
    const std::lock_guard lock(mu_);
    for (const auto& [number, child] : children_) under_way.push_back(child);
  }
  for (const std::shared_ptr<ChildRequest>& child : under_way) child->Cancel();
}

}  // namespace nereid_backend
