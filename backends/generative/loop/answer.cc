// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/answer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {
namespace {

template <typename T>
Error AddValues(TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType type,
                const std::vector<T>& values) {
  const auto count = static_cast<int64_t>(values.size());
  const size_t size = values.size() * sizeof(T);
  NB_ASSIGN_OR_RETURN(char* const buffer, AllocateOutput(response, name, type, &count, 1, size));
  std::copy_n(reinterpret_cast<const char*>(values.data()), size, buffer);
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
  left_ = static_cast<size_t>(generation.choices);
  choices_.resize(left_);
  if (!outputs_.text && stops_.empty() && !logprobs_) return Error();
  const size_t end = std::min(generation.prompt.size(), TextStream::kPromptTokens);
  for (Choice& choice : choices_) {
    choice.before.assign(generation.prompt.end() - static_cast<std::ptrdiff_t>(end),
                         generation.prompt.end());
  }
  return Error();
}

bool ResponseAnswer::IsCancelled() const {
  bool cancelled = false;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryIsCancelled(factory_.get(), &cancelled),
                  "failed to ask whether a request was cancelled");
  return cancelled;
}

void ResponseAnswer::AddLogprobs(Choice* choice, Token token,
                                 std::span<const TokenLogprob> logprobs) const {
  if (!logprobs_) return;
  TextStream::Decode decode;
  if (tokenizer_ != nullptr) {
    decode = [this](std::span<const Token> tokens) { return Decode(tokens); };
  }
  if (!choice->unsent_logprobs.empty()) choice->unsent_logprobs += ',';
  choice->unsent_logprobs += LogprobsJson(logprobs, decode, choice->before);
  choice->before.push_back(token);
  if (choice->before.size() > TextStream::kPromptTokens) {
    choice->before.erase(choice->before.begin());
  }
}

void ResponseAnswer::AddEnd(size_t choice, Token token, std::span<const TokenLogprob> logprobs) {
  AddLogprobs(&choices_[choice], token, logprobs);
  choices_[choice].unsent.push_back(token);
}

bool ResponseAnswer::Add(size_t number, Token token, std::span<const TokenLogprob> logprobs) {
  Choice& choice = choices_[number];
  choice.unsent.push_back(token);
  ++choice.added;
  if (!choice.text.has_value() && (outputs_.text || !stops_.empty())) {
    choice.text.emplace([this](std::span<const Token> tokens) { return Decode(tokens); },
                        choice.before, stops_, include_stop_);
  }
  AddLogprobs(&choice, token, logprobs);
  if (!choice.text.has_value()) return false;
  choice.text->Add(token, choice.added >= min_tokens_);
  choice.unsent_text += choice.text->Take();
  return choice.text->stopped();
}

Error ResponseAnswer::Send() {
  // A text that is not whole yet is worth no response.
  const bool nothing = std::none_of(choices_.begin(), choices_.end(), [this](const Choice& one) {
    return one.HasNews(outputs_.text);
  });
  if (!stream_ || nothing || !HasCredit(factory_.get())) return Error();
  return SendNews(0);
}

Error ResponseAnswer::Finish(size_t number, FinishReason reason) {
  Choice& choice = choices_[number];
  if (choice.text.has_value()) {
    choice.text->Finish();
    choice.unsent_text += choice.text->Take();
    if (choice.text->stopped()) reason = FinishReason::kStop;
  }
  choice.reason = reason == FinishReason::kStop ? "stop" : "length";
  return --left_ == 0 ? SendNews(TRITONSERVER_RESPONSE_COMPLETE_FINAL) : Send();
}

Error ResponseAnswer::SendNews(uint32_t flags) {
  TRITONBACKEND_Response* response = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory_.get()));
  const uint64_t output_start = NowNs();
  if (Error filled = Fill(response); !filled.ok()) {
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseDelete(response), "failed to delete a response");
    return filled;
  }
  for (Choice& choice : choices_) {
    choice.unsent.clear();
    choice.unsent_text.clear();
    choice.unsent_logprobs.clear();
    choice.reason = nullptr;
  }
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseSend(response, flags, nullptr), "failed to send tokens");
  ReportResponse(instance_, factory_.get(), std::exchange(since_, NowNs()), output_start, nullptr);
  return Error();
}

template <typename F>
Error ResponseAnswer::FillTexts(TRITONBACKEND_Response* response, const char* name,
                                F text_of) const {
  size_t size = 0;
  for (const Choice& choice : choices_) size += BytesWireSize(text_of(choice));
  const auto count = static_cast<int64_t>(choices_.size());
  NB_ASSIGN_OR_RETURN(char* buffer,
                      AllocateOutput(response, name, TRITONSERVER_TYPE_BYTES, &count, 1, size));
  for (const Choice& choice : choices_) {
    const auto text = text_of(choice);
    WriteBytes(text, buffer);
    buffer += BytesWireSize(text);
  }
  return Error();
}

Error ResponseAnswer::FillTokens(TRITONBACKEND_Response* response) const {
  std::vector<Token> tokens;
  std::vector<uint32_t> counts;
  for (const Choice& choice : choices_) {
    tokens.insert(tokens.end(), choice.unsent.begin(), choice.unsent.end());
    counts.push_back(static_cast<uint32_t>(choice.unsent.size()));
  }
  if (outputs_.tokens) {
    NB_RETURN_IF_ERROR(AddValues(response, kOutputIds, TRITONSERVER_TYPE_INT64, tokens));
  }
  if (!outputs_.output_count) return Error();
  return AddValues(response, kOutputCount, TRITONSERVER_TYPE_UINT32, counts);
}

Error ResponseAnswer::Fill(TRITONBACKEND_Response* response) const {
  if (outputs_.text) {
    NB_RETURN_IF_ERROR(FillTexts(response, kTextOutput, [](const Choice& choice) {
      return std::string_view(choice.unsent_text);
    }));
  }
  if (logprobs_) {
    NB_RETURN_IF_ERROR(FillTexts(response, kLogprobs, [](const Choice& choice) {
      return StrCat("[", choice.unsent_logprobs, "]");
    }));
  }
  if (outputs_.reason) {
    NB_RETURN_IF_ERROR(FillTexts(response, kFinishReason, [](const Choice& choice) {
      return std::string_view(choice.reason == nullptr ? "" : choice.reason);
    }));
  }
  if (outputs_.input_count) {
    const std::vector<uint32_t> count = {prompt_size_};
    NB_RETURN_IF_ERROR(AddValues(response, kInputCount, TRITONSERVER_TYPE_UINT32, count));
  }
  return FillTokens(response);
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
