// SPDX-License-Identifier: Apache-2.0
#include "backend_check/ledger.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "backend_check/recorder.h"
#include "base/clock.h"
#include "infer/infer_request.h"

namespace nereid {
namespace {

// Times outside of the execution by more than this come from another clock.
constexpr uint64_t kTolerance = 1'000'000'000;

void Found(const char* id, const std::string& detail) { Recorder::Get().Found(id, detail); }

uint64_t NowNs() { return ToNanos(Clock::Real()->Now()); }

void CheckTimes(const Ledger::Times& times, uint64_t execute_start, const char* function) {
  if (!std::is_sorted(times.begin(), times.end())) {
    Found("statistics-order", absl::StrCat(function, " got the times ", times[0], ", ", times[1],
                                           ", ", times[2], ", ", times[3]));
  } else if (times[0] + kTolerance < execute_start || times[3] > NowNs() + kTolerance) {
    Found("statistics-order",
          absl::StrCat(function, " got an execution from ", times[0], " to ", times[3],
                       ", and by the steady clock it is ", NowNs(), " now"));
  }
}

}  // namespace

Ledger& Ledger::Get() {
  static Ledger* const ledger = new Ledger;  // used until the process has ended
  return *ledger;
}

std::vector<Ledger::RequestPtr> Ledger::BeginExecute(TRITONBACKEND_Request** requests,
                                                     uint32_t count) {
  const uint64_t now = NowNs();
  std::vector<RequestPtr> batch;
  MutexLock lock(&mu_);
  ++executions_;
  largest_batch_ = std::max(largest_batch_, count);
  for (uint32_t i = 0; i < count; ++i) {
    const auto& request = *reinterpret_cast<const InferRequest*>(requests[i]);
    auto entry = std::make_shared<Request>();
    entry->filler = request.is_synthetic();
    entry->decoupled = request.model()->config().decoupled;
    entry->execute_start_ns = now;
    requests_[requests[i]] = entry;
    batch.push_back(std::move(entry));
  }
  return batch;
}

void Ledger::EndExecute(const std::vector<RequestPtr>& batch, bool failed) {
  if (!failed) return;
  MutexLock lock(&mu_);
  size_t released = 0;
  for (const RequestPtr& request : batch) {
    if (request->state == Request::State::kReleased) {
      ++released;
    } else {
      request->state = Request::State::kTakenBack;
    }
  }
  if (released > 0) {
    Found("error-after-release", absl::StrCat("Execute released ", released, " of ", batch.size(),
                                              " requests of a batch and then returned an error"));
  }
}

Ledger::RequestPtr Ledger::Find(TRITONBACKEND_Request* request) {
  const auto found = requests_.find(request);
  return found == requests_.end() ? nullptr : found->second;
}

bool Ledger::MayUse(TRITONBACKEND_Request* request, const char* function) {
  MutexLock lock(&mu_);
  const RequestPtr entry = Find(request);
  if (entry == nullptr || entry->state == Request::State::kHeld) return true;
  Found("used-after-release",
        absl::StrCat(function, entry->state == Request::State::kReleased
                                   ? " got a request that was released"
                                   : " got a request that went back to the server with an error of "
                                     "Execute"));
  return false;
}

bool Ledger::MayRelease(TRITONBACKEND_Request* request, uint32_t flags) {
  MutexLock lock(&mu_);
  const RequestPtr entry = Find(request);
  if (entry == nullptr) return true;
  if (entry->state == Request::State::kReleased) {
    Found("released-twice", "TRITONBACKEND_RequestRelease got a request that was released already");
    return false;
  }
  if (entry->state == Request::State::kTakenBack) {
    Found("error-after-release",
          "TRITONBACKEND_RequestRelease got a request after Execute had returned an error");
    return false;
  }
  if ((flags & TRITONSERVER_REQUEST_RELEASE_RESCHEDULE) != 0) {
    requests_.erase(request);  // it comes again, as another request of a batch
    return true;
  }
  entry->state = Request::State::kReleased;
  return true;
}

bool Ledger::MayReport(TRITONBACKEND_Request* request, bool success, const Times& times) {
  constexpr char kFunction[] = "TRITONBACKEND_ModelInstanceReportStatistics";
  if (!MayUse(request, kFunction)) return false;
  MutexLock lock(&mu_);
  const RequestPtr entry = Find(request);
  if (entry == nullptr) return true;
  if (++entry->reports > 1) Found("statistics-twice", absl::StrCat(kFunction, " got one twice"));
  entry->reported_success = success;
  if (success) {
    ++successes_;
    CheckTimes(times, entry->execute_start_ns, kFunction);
  }
  return true;
}

void Ledger::ReportBatch(const Times& times) {
  MutexLock lock(&mu_);
  ++batch_reports_;
  CheckTimes(times, 0, "TRITONBACKEND_ModelInstanceReportBatchStatistics");
}

void Ledger::NewResponse(TRITONBACKEND_Response* response, TRITONBACKEND_Request* request) {
  MutexLock lock(&mu_);
  responses_[response] = {ResponseState::kOpen, Find(request)};
}

void Ledger::NewResponse(TRITONBACKEND_Response* response, TRITONBACKEND_ResponseFactory* factory) {
  MutexLock lock(&mu_);
  const auto found = factories_.find(factory);
  responses_[response] = {ResponseState::kOpen,
                          found == factories_.end() ? nullptr : found->second};
}

void Ledger::NewFactory(TRITONBACKEND_ResponseFactory* factory, TRITONBACKEND_Request* request) {
  MutexLock lock(&mu_);
  factories_[factory] = Find(request);
}

bool Ledger::MayUse(TRITONBACKEND_Response* response, const char* function) {
  MutexLock lock(&mu_);
  const auto found = responses_.find(response);
  if (found == responses_.end() || found->second.state == ResponseState::kOpen) return true;
  Found("sent-twice",
        absl::StrCat(function, " got a response that was ",
                     found->second.state == ResponseState::kSent ? "sent" : "deleted", " already"));
  return false;
}

void Ledger::CountSend(Request* request, bool response, uint32_t flags, bool error) {
  if (request == nullptr) return;
  if (request->finals > 0) {
    Found("sent-after-final", response ? "a response was sent after the final one"
                                       : "flags were sent after the final response");
    return;
  }
  if (response && ++request->responses == 2 && !request->decoupled) {
    Found("several-responses", "a request got a second response");
  }
  request->answered_by_error |= error;
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) ++request->finals;
}

bool Ledger::MaySend(TRITONBACKEND_Response* response, uint32_t flags, bool error) {
  if (!MayUse(response, "TRITONBACKEND_ResponseSend")) return false;
  MutexLock lock(&mu_);
  const auto found = responses_.find(response);
  if (found == responses_.end()) return true;
  found->second.state = ResponseState::kSent;
  CountSend(std::exchange(found->second.request, nullptr).get(), true, flags, error);
  return true;
}

bool Ledger::MayDelete(TRITONBACKEND_Response* response) {
  if (!MayUse(response, "TRITONBACKEND_ResponseDelete")) return false;
  MutexLock lock(&mu_);
  const auto found = responses_.find(response);
  if (found != responses_.end()) found->second = {ResponseState::kDeleted, nullptr};
  return true;
}

void Ledger::SendFlags(TRITONBACKEND_ResponseFactory* factory, uint32_t flags) {
  MutexLock lock(&mu_);
  const auto found = factories_.find(factory);
  if (found != factories_.end()) CountSend(found->second.get(), false, flags, false);
}

void Ledger::DeleteFactory(TRITONBACKEND_ResponseFactory* factory) {
  MutexLock lock(&mu_);
  factories_.erase(factory);
}

void Ledger::NewMemory(void* memory) {
  if (memory == nullptr) return;
  MutexLock lock(&mu_);
  ++memory_[memory];
}

void Ledger::FreeMemory(void* memory) {
  MutexLock lock(&mu_);
  memory_.erase(memory);
}

void Ledger::CheckRequest(const Request& request) {
  if (request.state == Request::State::kHeld) {
    Found("not-released", "Execute returned without an error, and a request was never released");
  }
  if (request.state == Request::State::kTakenBack || request.filler) return;
  if (request.finals == 0) {
    Found("not-answered", request.state == Request::State::kReleased
                              ? "a request was released and got no final response"
                              : "a request got no final response");
  } else if (request.responses == 0 && !request.decoupled) {
    Found("no-response", "a request got the final flag alone");
  }
  if (request.state != Request::State::kReleased) return;
  if (request.reports == 0) {
    Found("no-statistics", "a request was released without a report");
  } else if (request.answered_by_error && request.reported_success && !request.decoupled) {
    Found("statistics-outcome", "a request was answered by an error");
  }
}

void Ledger::CheckRequests() {
  MutexLock lock(&mu_);
  for (const auto& [handle, request] : requests_) {
    if (!std::exchange(request->checked, true)) CheckRequest(*request);
  }
}

void Ledger::CheckEnd() {
  MutexLock lock(&mu_);
  const auto open = std::count_if(responses_.begin(), responses_.end(), [](const auto& entry) {
    return entry.second.state == ResponseState::kOpen;
  });
  if (open > 0) Found("response-leaked", absl::StrCat(open, " of them at the end"));
  if (!factories_.empty()) {
    Found("factory-leaked", absl::StrCat(factories_.size(), " of them at the end"));
  }
  if (!memory_.empty()) {
    Found("memory-leaked", absl::StrCat(memory_.size(), " blocks at the end"));
  }
  if (successes_ > 0 && batch_reports_ == 0) {
    Found("no-batch-statistics", absl::StrCat(executions_, " executions, and no report"));
  }
}

uint32_t Ledger::largest_batch() {
  MutexLock lock(&mu_);
  return largest_batch_;
}

uint64_t Ledger::executions() {
  MutexLock lock(&mu_);
  return executions_;
}

}  // namespace nereid
