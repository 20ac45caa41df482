// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/answer.h"

#include <algorithm>
#include <utility>

#include "backends/generative/loop/generation.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {

ResponseAnswer::ResponseAnswer(TRITONBACKEND_ModelInstance* instance, OwnedFactory factory,
                               bool stream)
    : instance_(instance), factory_(std::move(factory)), stream_(stream), since_(NowNs()) {}

bool ResponseAnswer::IsCancelled() const {
  bool cancelled = false;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryIsCancelled(factory_.get(), &cancelled),
                  "failed to ask whether a request was cancelled");
  return cancelled;
}

Error ResponseAnswer::Send() {
  if (!stream_ || unsent_.empty() || !HasCredit(factory_.get())) return Error();
  return SendTokens(0);
}

Error ResponseAnswer::Finish() { return SendTokens(TRITONSERVER_RESPONSE_COMPLETE_FINAL); }

Error ResponseAnswer::SendTokens(uint32_t flags) {
  TRITONBACKEND_Response* response = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory_.get()));
  const uint64_t output_start = NowNs();
  if (Error filled = Fill(response); !filled.ok()) {
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseDelete(response), "failed to delete a response");
    return filled;
  }
  unsent_.clear();
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseSend(response, flags, nullptr), "failed to send tokens");
  ReportResponse(instance_, factory_.get(), std::exchange(since_, NowNs()), output_start, nullptr);
  return Error();
}

Error ResponseAnswer::Fill(TRITONBACKEND_Response* response) const {
  const auto count = static_cast<int64_t>(unsent_.size());
  NB_ASSIGN_OR_RETURN(char* const buffer,
                      AllocateOutput(response, kOutputIds, TRITONSERVER_TYPE_INT64, &count, 1,
                                     unsent_.size() * sizeof(Token)));
  std::copy_n(reinterpret_cast<const char*>(unsent_.data()), unsent_.size() * sizeof(Token),
              buffer);
  return Error();
}

void ResponseAnswer::Fail(const Error& error) {
  TRITONBACKEND_Response* response = nullptr;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory_.get()), "no response");
  if (response == nullptr) return;
  NB_LOG_IF_ERROR(
      TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()),
      "failed to send an error");
  ReportResponse(instance_, factory_.get(), since_, NowNs(), error.get());
}

}  // namespace nereid_backend
