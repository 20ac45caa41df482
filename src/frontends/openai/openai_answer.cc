// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_answer.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/json_tensor_writer.h"
#include "frontends/openai/openai_error.h"

namespace nereid {
namespace {

constexpr absl::string_view kEventStart = "data: ";
constexpr absl::string_view kEventStop = "\n\n";
constexpr absl::string_view kDone = "data: [DONE]\n\n";

// Why a text may have ended, as the API knows it.
constexpr const char* kReasons[] = {"stop", "length", "content_filter", "tool_calls"};

const ResponseOutput* FindOutput(const InferResponse& response, absl::string_view name) {
  for (const ResponseOutput& output : response.outputs()) {
    if (output.name() == name) return &output;
  }
  return nullptr;
}

absl::string_view BytesOf(const ResponseOutput& output) {
  return {static_cast<const char*>(output.buffer().base), output.buffer().byte_size};
}

template <typename T>
uint64_t SumOf(absl::string_view bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if (value > 0) sum += static_cast<uint64_t>(value);
  }
  return sum;
}

// The sum of the elements; none if there is no such output of whole numbers.
std::optional<uint64_t> SumOf(const InferResponse& response, const char* name) {
  const ResponseOutput* const output = FindOutput(response, name);
  if (output == nullptr) return std::nullopt;
  switch (output->data_type()) {
    case DataType::kUint32:
      return SumOf<uint32_t>(BytesOf(*output));
    case DataType::kInt32:
      return SumOf<int32_t>(BytesOf(*output));
    case DataType::kUint64:
      return SumOf<uint64_t>(BytesOf(*output));
    case DataType::kInt64:
      return SumOf<int64_t>(BytesOf(*output));
    default:
      return std::nullopt;
  }
}

absl::Status ModelSent(const InferResponse& response, absl::string_view what,
                       absl::string_view right) {
  return absl::InternalError(
      absl::StrCat("model '", response.model_name(), "' sent ", what, ": ", right));
}

}  // namespace

OpenAiAnswer::OpenAiAnswer(OpenAiRoute route, const OpenAiSettings& settings,
                           const OpenAiModel& model, About about)
    : route_(route),
      settings_(settings),
      output_(route == OpenAiRoute::kEmbeddings ? model.embeddings_output->name
                                                : model.text_output->name),
      about_(std::move(about)),
      choices_(settings.choices, {{}, {}, OpenAiLogprobs(route, settings.top_logprobs)}) {}

absl::Status OpenAiAnswer::Add(const InferResponse& response, std::string* events) {
  AddCounts(response);
  if (route_ == OpenAiRoute::kEmbeddings) return AddEmbeddings(response);
  AddReasons(response);
  if (settings_.logprobs) RETURN_IF_ERROR(AddLogprobs(response));
  return AddTexts(response, events);
}

absl::Status OpenAiAnswer::AddTexts(const InferResponse& response, std::string* events) {
  const ResponseOutput* const output = FindOutput(response, output_);
  if (output == nullptr || output->buffer().byte_size == 0) return absl::OkStatus();
  BytesElements texts(BytesOf(*output));
  absl::string_view text;
  size_t index = 0;
  for (; texts.Next(&text); ++index) {
    if (index >= choices_.size()) continue;
    if (!settings_.stream) {
      choices_[index].text.append(text.data(), text.size());
    } else if (!text.empty() || !choices_[index].logprobs.empty()) {
      AppendChunk(index, text, choices_[index].logprobs.Take(), nullptr, events);
    }
  }
  if (index == choices_.size() && texts.complete()) return absl::OkStatus();
  return ModelSent(response,
                   absl::StrCat("an output '", output_, "' that does not hold ", choices_.size(),
                                choices_.size() == 1 ? " text" : " texts"),
                   "each response should hold as many as the request asks for");
}

absl::Status OpenAiAnswer::AddLogprobs(const InferResponse& response) {
  const ResponseOutput* const output = FindOutput(response, "logprobs");
  if (output == nullptr || output->data_type() != DataType::kBytes) return absl::OkStatus();
  BytesElements elements(BytesOf(*output));
  absl::string_view element;
  for (size_t i = 0; i < choices_.size() && elements.Next(&element); ++i) {
    if (const absl::Status wrong = choices_[i].logprobs.Add(element); !wrong.ok()) {
      return ModelSent(response, "an output 'logprobs' that cannot be read", wrong.message());
    }
  }
  return absl::OkStatus();
}

absl::Status OpenAiAnswer::AddEmbeddings(const InferResponse& response) {
  const ResponseOutput* const output = FindOutput(response, output_);
  const uint64_t row = output == nullptr ? 0 : output->buffer().byte_size / settings_.texts;
  if (!embeddings_.empty() || row == 0 || output->data_type() != DataType::kFp32 ||
      output->buffer().byte_size != row * settings_.texts || row % sizeof(float) != 0) {
    return ModelSent(response,
                     absl::StrCat("no embedding of type FP32 for each of ", settings_.texts,
                                  " texts in '", output_, "'"),
                     "the output should have a row for each text");
  }
  JsonWriter w(&embeddings_);
  for (size_t i = 0; i < settings_.texts; ++i) {
    const absl::string_view bytes = BytesOf(*output).substr(i * row, row);
    w.BeginObject();
    w.Add("object", "embedding");
    w.Add("index", static_cast<uint64_t>(i));
    if (settings_.base64) {
      w.Add("embedding", absl::Base64Escape(bytes));
    } else {
      std::string numbers;
      if (!AppendJsonTensor(DataType::kFp32, bytes, static_cast<int64_t>(row / sizeof(float)),
                            NonFinite::kError, &numbers)
               .ok()) {
        return ModelSent(response, absl::StrCat("a number that is not finite in '", output_, "'"),
                         "JSON has no such numbers");
      }
      w.AddRaw("embedding", numbers);
    }
    w.EndObject();
  }
  return absl::OkStatus();
}

void OpenAiAnswer::AddReasons(const InferResponse& response) {
  const ResponseOutput* const output = FindOutput(response, "finish_reason");
  if (output == nullptr || output->data_type() != DataType::kBytes) return;
  BytesElements reasons(BytesOf(*output));
  absl::string_view reason;
  for (size_t i = 0; i < choices_.size() && reasons.Next(&reason); ++i) {
    // Others, such as "None", say that the text goes on.
    if (std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons)) {
      choices_[i].finish_reason = std::string(reason);
    }
  }
}

// Each response tells how long the prompt is, and how many tokens it brings.
void OpenAiAnswer::AddCounts(const InferResponse& response) {
  if (const auto count = SumOf(response, "num_input_tokens")) {
    prompt_tokens_ = std::max(prompt_tokens_.value_or(0), *count);
  }
  if (const auto count = SumOf(response, "num_output_tokens")) {
    completion_tokens_ = completion_tokens_.value_or(0) + *count;
  }
}

const char* OpenAiAnswer::ReasonOf(const Choice& choice) const {
  return choice.finish_reason.empty() ? "stop" : choice.finish_reason.c_str();
}

const char* OpenAiAnswer::StreamObject() const {
  return route_ == OpenAiRoute::kChat ? "chat.completion.chunk" : "text_completion";
}

void OpenAiAnswer::WriteHead(const char* object, JsonWriter* w) const {
  w->Add("id", about_.id);
  w->Add("object", object);
  w->Add("created", about_.created);
  w->Add("model", about_.model);
}

void OpenAiAnswer::WriteUsage(JsonWriter* w) const {
  const bool only_prompt = route_ == OpenAiRoute::kEmbeddings;
  w->Key("usage");
  if (!prompt_tokens_.has_value() || (!completion_tokens_.has_value() && !only_prompt)) {
    return w->Null();
  }
  w->BeginObject();
  w->Add("prompt_tokens", *prompt_tokens_);
  if (!only_prompt) w->Add("completion_tokens", *completion_tokens_);
  w->Add("total_tokens", *prompt_tokens_ + (only_prompt ? 0 : *completion_tokens_));
  w->EndObject();
}

// ---- A stream

void OpenAiAnswer::AppendEvent(absl::string_view json, std::string* events) const {
  absl::StrAppend(events, kEventStart, json, kEventStop);
}

void OpenAiAnswer::AppendChunk(size_t index, absl::string_view text, absl::string_view logprobs,
                               const char* reason, std::string* events) const {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  WriteHead(StreamObject(), &w);
  w.BeginArray("choices");
  w.BeginObject();
  w.Add("index", static_cast<uint64_t>(index));
  if (route_ == OpenAiRoute::kChat) {
    w.BeginObject("delta");
    if (reason == nullptr) w.Add("content", text);
    w.EndObject();
  } else {
    w.Add("text", text);
  }
  w.AddRaw("logprobs", logprobs);
  w.Key("finish_reason");
  if (reason == nullptr) {
    w.Null();
  } else {
    w.String(reason);
  }
  w.EndObject();
  w.EndArray();
  if (settings_.include_usage) {
    w.Key("usage");
    w.Null();
  }
  w.EndObject();
  AppendEvent(json, events);
}

void OpenAiAnswer::AppendFirst(std::string* events) const {
  if (route_ != OpenAiRoute::kChat) return;
  for (size_t i = 0; i < choices_.size(); ++i) {
    std::string json;
    JsonWriter w(&json);
    w.BeginObject();
    WriteHead(StreamObject(), &w);
    w.AddRaw("choices",
             absl::StrCat(R"([{"index":)", i,
                          R"(,"delta":{"role":"assistant","content":""},"logprobs":null,)",
                          R"("finish_reason":null}])"));
    if (settings_.include_usage) w.AddRaw("usage", "null");
    w.EndObject();
    AppendEvent(json, events);
  }
}

void OpenAiAnswer::AppendLast(std::string* events) {
  for (size_t i = 0; i < choices_.size(); ++i) {
    AppendChunk(i, "", choices_[i].logprobs.Take(), ReasonOf(choices_[i]), events);
  }
  if (settings_.include_usage) {
    std::string json;
    JsonWriter w(&json);
    w.BeginObject();
    WriteHead(StreamObject(), &w);
    w.AddRaw("choices", "[]");
    WriteUsage(&w);
    w.EndObject();
    AppendEvent(json, events);
  }
  absl::StrAppend(events, kDone);
}

std::string OpenAiAnswer::ErrorEvent(int http_status, const absl::Status& error) {
  return absl::StrCat(kEventStart, OpenAiErrorJson(http_status, error), kEventStop);
}

// ---- One object

absl::Status OpenAiAnswer::AppendJson(std::string* json) {
  JsonWriter w(json);
  w.BeginObject();
  if (route_ == OpenAiRoute::kEmbeddings) {
    if (embeddings_.empty()) {
      return absl::InternalError(absl::StrCat("model '", about_.model, "' sent no embeddings"));
    }
    w.Add("object", "list");
    w.AddRaw("data", absl::StrCat("[", embeddings_, "]"));
    w.Add("model", about_.model);
  } else {
    const bool chat = route_ == OpenAiRoute::kChat;
    WriteHead(chat ? "chat.completion" : "text_completion", &w);
    w.BeginArray("choices");
    for (size_t i = 0; i < choices_.size(); ++i) {
      w.BeginObject();
      w.Add("index", static_cast<uint64_t>(i));
      if (chat) {
        w.BeginObject("message");
        w.Add("role", "assistant");
        w.Add("content", choices_[i].text);
        w.AddRaw("refusal", "null");
        w.EndObject();
      } else {
        w.Add("text", choices_[i].text);
      }
      w.AddRaw("logprobs", choices_[i].logprobs.Take());
      w.Add("finish_reason", ReasonOf(choices_[i]));
      w.EndObject();
    }
    w.EndArray();
  }
  WriteUsage(&w);
  w.EndObject();
  return absl::OkStatus();
}

uint64_t OpenAiAnswer::EstimateSize() const {
  uint64_t size = 512 + about_.model.size() + embeddings_.size();
  for (const Choice& choice : choices_) {
    size += 256 + choice.text.size() + choice.logprobs.EstimateSize();
  }
  return size;
}

}  // namespace nereid
