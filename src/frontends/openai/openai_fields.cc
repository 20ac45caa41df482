// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_fields.h"

#include <absl/strings/str_split.h>

namespace nereid {
namespace {

constexpr uint8_t Bit(OpenAiRoute route) {
  return static_cast<uint8_t>(1U << static_cast<unsigned>(route));
}
constexpr uint8_t kOfCompletions = Bit(OpenAiRoute::kCompletions);
constexpr uint8_t kOfChat = Bit(OpenAiRoute::kChat);
constexpr uint8_t kOfEmbeddings = Bit(OpenAiRoute::kEmbeddings);
constexpr uint8_t kOfText = kOfCompletions | kOfChat;
constexpr uint8_t kOfAll = kOfText | kOfEmbeddings;

// The largest integers that a double holds exactly, and that most models take.
constexpr double kMostSeed = 9007199254740991.0;
constexpr double kMostTokens = 2147483647.0;

using Kind = OpenAiFieldKind;

constexpr OpenAiField kFields[] = {
    {"model", Kind::kModel, kOfAll},
    {"user", Kind::kUser, kOfAll},
    // What is asked.
    {"prompt", Kind::kPrompt, kOfCompletions},
    {"messages", Kind::kMessages, kOfChat},
    {"input", Kind::kInput, kOfEmbeddings},
    // The form of the answer.
    {"stream", Kind::kStream, kOfText},
    {"stream_options", Kind::kStreamOptions, kOfText},
    {"echo", Kind::kEcho, kOfCompletions},
    {"n", Kind::kN, kOfText},
    {"logprobs", Kind::kLogprobs, kOfText, 0, 0, nullptr, nullptr, "false"},
    {"top_logprobs", Kind::kTopLogprobs, kOfChat},
    {"encoding_format", Kind::kEncodingFormat, kOfEmbeddings},
    // How the model chooses its words.
    {"max_tokens", Kind::kInteger, kOfText, 1, kMostTokens},
    {"max_completion_tokens", Kind::kInteger, kOfChat, 1, kMostTokens, "max_tokens"},
    {"temperature", Kind::kNumber, kOfText, 0, 2},
    {"top_p", Kind::kNumber, kOfText, 0, 1},
    {"presence_penalty", Kind::kNumber, kOfText, -2, 2},
    {"frequency_penalty", Kind::kNumber, kOfText, -2, 2},
    {"seed", Kind::kInteger, kOfText, -kMostSeed, kMostSeed, nullptr, "random_seed"},
    {"stop", Kind::kStop, kOfText, 0, 0, nullptr, "stop_words"},
    // What some models can do.
    {"best_of", Kind::kIfTaken, kOfCompletions, 0, 0, nullptr, nullptr, "1"},
    {"logit_bias", Kind::kIfTaken, kOfText, 0, 0, nullptr, nullptr, "empty"},
    {"response_format", Kind::kIfTaken, kOfChat, 0, 0, nullptr, nullptr, "text"},
    {"reasoning_effort", Kind::kIfTaken, kOfChat},
    // What answers could not tell, or what belongs to OpenAI's service.
    {"suffix", Kind::kNever, kOfCompletions, 0, 0, nullptr, nullptr, "empty"},
    {"tools", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "empty"},
    {"tool_choice", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "none,auto"},
    {"parallel_tool_calls", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "true,false"},
    {"functions", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "empty"},
    {"function_call", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "none,auto"},
    {"modalities", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "text"},
    {"audio", Kind::kNever, kOfChat},
    {"prediction", Kind::kNever, kOfChat},
    {"metadata", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "empty"},
    {"store", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "false"},
    {"service_tier", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "auto,default"},
    {"verbosity", Kind::kNever, kOfChat},
    {"web_search_options", Kind::kNever, kOfChat},
    {"prompt_cache_key", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "empty"},
    {"safety_identifier", Kind::kNever, kOfChat, 0, 0, nullptr, nullptr, "empty"},
    {"dimensions", Kind::kNever, kOfEmbeddings},
};

bool IsWord(const JsonValue& value, absl::string_view word) {
  return value.IsString() && absl::string_view(value.GetString(), value.GetStringLength()) == word;
}

// {"type":"text"} and ["text"] say no more than "text".
bool IsWordAlone(const JsonValue& value, absl::string_view word) {
  if (value.IsObject() && value.MemberCount() == 1) {
    return IsWord(value.MemberBegin()->name, "type") && IsWord(value.MemberBegin()->value, word);
  }
  if (value.IsArray() && value.Size() == 1) return IsWord(value[0], word);
  return IsWord(value, word);
}

bool Is(const JsonValue& value, absl::string_view what) {
  if (what == "false") return value.IsFalse();
  if (what == "true") return value.IsTrue();
  if (what == "0") return value.IsNumber() && value.GetDouble() == 0;
  if (what == "1") return value.IsNumber() && value.GetDouble() == 1;
  if (what == "empty") {
    return (value.IsString() && value.GetStringLength() == 0) ||
           (value.IsArray() && value.Empty()) || (value.IsObject() && value.ObjectEmpty());
  }
  return IsWordAlone(value, what);
}

}  // namespace

bool OpenAiField::SaysNothing(const JsonValue& value) const {
  if (value.IsNull()) return true;
  for (const absl::string_view what : absl::StrSplit(harmless, ',', absl::SkipEmpty())) {
    if (Is(value, what)) return true;
  }
  return false;
}

const OpenAiField* FindOpenAiField(OpenAiRoute route, absl::string_view name) {
  for (const OpenAiField& field : kFields) {
    if (name == field.name && field.OfRoute(route)) return &field;
  }
  return nullptr;
}

}  // namespace nereid
