// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/answer.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {
namespace {

Error AddText(TRITONBACKEND_Response* response, const char* name, std::string_view text) {
  const int64_t one = 1;
  NB_ASSIGN_OR_RETURN(char* const buffer, AllocateOutput(response, name, TRITONSERVER_TYPE_BYTES,
                                                         &one, 1, BytesWireSize(text)));
  WriteBytes(text, buffer);
  return Error();
}

Error AddCount(TRITONBACKEND_Response* response, const char* name, uint32_t value) {
  const int64_t one = 1;
  NB_ASSIGN_OR_RETURN(char* const buffer, AllocateOutput(response, name, TRITONSERVER_TYPE_UINT32,
                                                         &one, 1, sizeof(value)));
  std::memcpy(buffer, &value, sizeof(value));
  return Error();
}

Error AddTokens(TRITONBACKEND_Response* response, const std::vector<Token>& tokens) {
  const auto count = static_cast<int64_t>(tokens.size());
  const size_t size = tokens.size() * sizeof(Token);
  NB_ASSIGN_OR_RETURN(char* const buffer, AllocateOutput(response, kOutputIds,
                                                         TRITONSERVER_TYPE_INT64, &count, 1, size));
  std::copy_n(reinterpret_cast<const char*>(tokens.data()), size, buffer);
  return Error();
}

}  // namespace

AnswerOutputs AnswerOutputs::Of(TRITONBACKEND_Request* request, const ModelConfig& config) {
  const auto wants = [&](const char* name) {
    return config.FindOutput(name) != nullptr && WantsOutput(request, name);
  };
  return {wants(kTextOutput),   wants(kOutputIds),  wants(kLogprobs),
          wants(kFinishReason), wants(kInputCount), wants(kOutputCount)};
}

ResponseAnswer::ResponseAnswer(TRITONBACKEND_ModelInstance* instance, OwnedFactory factory,
                               const AnswerOutputs& outputs, Tokenizer* tokenizer)
    : instance_(instance),
      factory_(std::move(factory)),
      outputs_(outputs),
      tokenizer_(tokenizer),
      since_(NowNs()) {}

Error ResponseAnswer::Begin(const Generation& generation) {
  stream_ = generation.stream;
  min_tokens_ = generation.min_tokens;
  prompt_size_ = static_cast<uint32_t>(generation.prompt.size());
  stops_ = generation.stops;
  include_stop_ = generation.include_stop;
  logprobs_ = generation.logprobs.has_value();
  if (logprobs_ && !outputs_.logprobs) {
    return Error::InvalidArg(StrCat("sampling parameter '", kLogprobs,
                                    "' is given without the output of that name: expected both"));
  }
  if (!outputs_.text && stops_.empty() && !logprobs_) return Error();
  const size_t end = std::min(generation.prompt.size(), TextStream::kPromptTokens);
  before_.assign(generation.prompt.end() - static_cast<std::ptrdiff_t>(end),
                 generation.prompt.end());
  return Error();
}

bool ResponseAnswer::IsCancelled() const {
  bool cancelled = false;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryIsCancelled(factory_.get(), &cancelled),
                  "failed to ask whether a request was cancelled");
  return cancelled;
}

void ResponseAnswer::AddLogprobs(Token token, std::span<const TokenLogprob> logprobs) {
  if (!logprobs_) return;
  TextStream::Decode decode;
  if (tokenizer_ != nullptr) {
    decode = [this](std::span<const Token> tokens) { return Decode(tokens); };
  }
  if (!unsent_logprobs_.empty()) unsent_logprobs_ += ',';
  unsent_logprobs_ += LogprobsJson(logprobs, decode, before_);
  before_.push_back(token);
  if (before_.size() > TextStream::kPromptTokens) before_.erase(before_.begin());
}

void ResponseAnswer::AddEnd(Token token, std::span<const TokenLogprob> logprobs) {
  AddLogprobs(token, logprobs);
  unsent_.push_back(token);
}

bool ResponseAnswer::Add(Token token, std::span<const TokenLogprob> logprobs) {
  unsent_.push_back(token);
  ++added_;
  if (!text_.has_value() && (outputs_.text || !stops_.empty())) {
    text_.emplace([this](std::span<const Token> tokens) { return Decode(tokens); }, before_,
                  std::move(stops_), include_stop_);
  }
  AddLogprobs(token, logprobs);
  if (!text_.has_value()) return false;
  text_->Add(token, added_ >= min_tokens_);
  unsent_text_ += text_->Take();
  return text_->stopped();
}

Error ResponseAnswer::Send() {
  // A text that is not whole yet is worth no response.
  const bool nothing = outputs_.text ? unsent_text_.empty() : unsent_.empty();
  if (!stream_ || nothing || !HasCredit(factory_.get())) return Error();
  return SendPart(0, "");
}

Error ResponseAnswer::Finish(FinishReason reason) {
  if (text_.has_value()) {
    text_->Finish();
    unsent_text_ += text_->Take();
    if (text_->stopped()) reason = FinishReason::kStop;
  }
  return SendPart(TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                  reason == FinishReason::kStop ? "stop" : "length");
}

Error ResponseAnswer::SendPart(uint32_t flags, const char* reason) {
  TRITONBACKEND_Response* response = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory_.get()));
  const uint64_t output_start = NowNs();
  if (Error filled = Fill(response, reason); !filled.ok()) {
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseDelete(response), "failed to delete a response");
    return filled;
  }
  unsent_.clear();
  unsent_text_.clear();
  unsent_logprobs_.clear();
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseSend(response, flags, nullptr), "failed to send tokens");
  ReportResponse(instance_, factory_.get(), std::exchange(since_, NowNs()), output_start, nullptr);
  return Error();
}

Error ResponseAnswer::Fill(TRITONBACKEND_Response* response, const char* reason) const {
  if (outputs_.text) NB_RETURN_IF_ERROR(AddText(response, kTextOutput, unsent_text_));
  if (outputs_.tokens) NB_RETURN_IF_ERROR(AddTokens(response, unsent_));
  if (logprobs_) {
    NB_RETURN_IF_ERROR(AddText(response, kLogprobs, StrCat("[", unsent_logprobs_, "]")));
  }
  if (outputs_.reason) NB_RETURN_IF_ERROR(AddText(response, kFinishReason, reason));
  if (outputs_.input_count) NB_RETURN_IF_ERROR(AddCount(response, kInputCount, prompt_size_));
  if (!outputs_.output_count) return Error();
  return AddCount(response, kOutputCount, static_cast<uint32_t>(unsent_.size()));
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
