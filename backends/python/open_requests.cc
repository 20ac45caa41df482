// SPDX-License-Identifier: Apache-2.0
#include "backends/python/open_requests.h"

#include <utility>

#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"

namespace nereid_backend {

OpenRequests::Factory OpenRequests::MakeFactory(TRITONBACKEND_Request* request) {
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, request), "no response factory");
  return factory == nullptr ? Factory() : Factory(factory, FactoryDeleter());
}

uint64_t OpenRequests::Open(TRITONBACKEND_Request* request) {
  TRITONSERVER_InferenceTrace* trace = nullptr;
  NB_LOG_IF_ERROR(TRITONBACKEND_RequestTrace(request, &trace), "no trace");
  const std::lock_guard lock(mu_);
  entries_[next_].request = request;
  entries_[next_].trace = trace;
  return next_++;
}

TRITONSERVER_InferenceTrace* OpenRequests::SpawnChildTrace(uint64_t number) {
  const std::lock_guard lock(mu_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return nullptr;
  const Entry& entry = found->second;
  if (entry.trace == nullptr || (entry.request == nullptr && entry.factory == nullptr)) {
    return nullptr;
  }
  TRITONSERVER_InferenceTrace* child = nullptr;
  NB_LOG_IF_ERROR(TRITONSERVER_InferenceTraceSpawnChildTrace(entry.trace, &child), "no trace");
  return child;
}

bool OpenRequests::Take(uint64_t number) {
  Factory unused;  // deleted without the lock
  const std::lock_guard lock(mu_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return false;
  unused = std::move(found->second.factory);
  entries_.erase(found);
  return true;
}

void OpenRequests::EndExecution(uint64_t number) {
  Factory unused;  // deleted without the lock
  const std::lock_guard lock(mu_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.factory == nullptr) entry.factory = MakeFactory(entry.request);
  entry.request = nullptr;
  if (!entry.dropped) return;
  unused = std::move(entry.factory);
  entries_.erase(found);
}

OpenRequests::Factory OpenRequests::FactoryOf(uint64_t number, bool take) {
  const std::lock_guard lock(mu_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  if (entry.factory == nullptr) entry.factory = MakeFactory(entry.request);
  Factory factory = entry.factory;
  if (take) entries_.erase(found);
  return factory;
}

void OpenRequests::Send(uint64_t number, const PythonResponse* response, bool final,
                        OutputSource* source, const std::shared_ptr<Transport>& transport) {
  const Factory factory = FactoryOf(number, final);
  if (factory == nullptr) return;
  const uint32_t flags = final ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0;
  if (response == nullptr) {
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactorySendFlags(factory.get(), flags),
                    "failed to end the responses of a request");
    return;
  }
  const uint64_t start = NowNs();
  outputs_->LookAt(*response);
  TRITONBACKEND_Response* made = nullptr;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&made, factory.get()), "no response");
  if (made == nullptr) return;
  Error error = response->failure.has_value()
                    ? Error(response->failure->code, response->failure->message)
                    : Fill(*response, source, made);
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseSend(made, flags, error.get()), "failed to send");
  if (!decoupled_) return;
  ReportResponse(instance_, factory.get(), start, NowNs(), error.get());
  if (!final && !HasCredit(factory.get())) LoseCredit(number, factory, transport);
}

void OpenRequests::LoseCredit(uint64_t number, const Factory& factory,
                              const std::shared_ptr<Transport>& transport) {
  if (!NoteCredit(number, /*lost=*/true)) return;
  if (!transport->WithdrawCredit(number)) {
    NB_LOG_VERBOSE("too many clients of a Python model read slowly: one more is not waited for");
    NoteCredit(number, /*lost=*/false);
    return;
  }
  OnCredit(factory.get(), [this, number, transport] {
    NoteCredit(number, /*lost=*/false);
    transport->ReturnCredit(number);
  });
}

bool OpenRequests::NoteCredit(uint64_t number, bool lost) {
  const std::lock_guard lock(mu_);
  const auto found = entries_.find(number);
  return found != entries_.end() && std::exchange(found->second.without_credit, lost) != lost;
}

void OpenRequests::SendError(TRITONBACKEND_ResponseFactory* factory, const Error& error) {
  TRITONBACKEND_Response* response = nullptr;
  const uint64_t start = NowNs();
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory), "no response");
  if (response == nullptr) return;
  NB_LOG_IF_ERROR(
      TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()),
      "failed to send an error");
  if (decoupled_) ReportResponse(instance_, factory, start, NowNs(), error.get());
}

void OpenRequests::Fail(uint64_t number, const Error& error) {
  const Factory factory = FactoryOf(number, true);
  if (factory != nullptr) SendError(factory.get(), error);
}

void OpenRequests::FailAll(const Error& error) {
  std::vector<Factory> waiting;
  {
    const std::lock_guard lock(mu_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      if (it->second.request != nullptr) {
        ++it;
        continue;
      }
      waiting.push_back(std::move(it->second.factory));
      it = entries_.erase(it);
    }
  }
  for (const Factory& factory : waiting) {
    if (factory != nullptr) SendError(factory.get(), error);
  }
}

// When the last factory is deleted, the server tells the client that no final response will come.
void OpenRequests::Drop(uint64_t number) {
  Factory factory;
  const std::lock_guard lock(mu_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  found->second.dropped = true;
  if (found->second.request != nullptr) return;
  factory = std::move(found->second.factory);
  entries_.erase(found);
}

bool OpenRequests::IsCancelled(uint64_t number) {
  const Factory factory = FactoryOf(number, false);
  bool cancelled = false;
  if (factory != nullptr) {
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryIsCancelled(factory.get(), &cancelled),
                    "failed to ask for cancellation");
  }
  return cancelled;
}

}  // namespace nereid_backend
