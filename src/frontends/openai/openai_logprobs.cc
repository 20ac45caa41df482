// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_logprobs.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/json_parse.h"

namespace nereid {
namespace {

// What the API says of tokens that are very improbable.
constexpr double kLeastLogprob = -9999;
constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";

struct Candidate {
  absl::string_view text;
  double logprob = 0;
};

absl::StatusOr<Candidate> CandidateOf(const JsonValue& value) {
  Candidate read;
  const JsonValue* const logprob = FindMember(value, "logprob");
  const JsonValue* const text = FindMember(value, "decoded_token");
  if (logprob == nullptr || !logprob->IsNumber() || text == nullptr || !text->IsString()) {
    return absl::InvalidArgumentError(
        "each token should have a number 'logprob' and a text 'decoded_token'");
  }
  read.text = {text->GetString(), text->GetStringLength()};
  // JSON has neither infinities nor what is no number, which fails the comparison.
  read.logprob = logprob->GetDouble() >= kLeastLogprob ? logprob->GetDouble() : kLeastLogprob;
  read.logprob = std::min(read.logprob, 0.0);
  return read;
}

// The list of its bytes. A token that is part of a character has none that JSON could tell.
void WriteBytes(absl::string_view text, JsonWriter* w) {
  w->Key("bytes");
  if (text.find(kReplacement) != absl::string_view::npos) return w->Null();
  w->BeginArray();
  for (const char byte : text) w->Uint(static_cast<uint8_t>(byte));
  w->EndArray();
}

void WriteCandidate(const Candidate& candidate, JsonWriter* w) {
  w->Add("token", candidate.text);
  w->Add("logprob", candidate.logprob);
  WriteBytes(candidate.text, w);
}

uint64_t CharactersOf(absl::string_view text) {
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
  }));
}

// An object has a name once: of tokens with the same text the first one counts.
void WriteTop(const std::vector<Candidate>& top, JsonWriter* w) {
  w->BeginObject();
  for (auto one = top.begin(); one != top.end(); ++one) {
    const bool seen = std::any_of(
        top.begin(), one, [&one](const Candidate& earlier) { return earlier.text == one->text; });
    if (!seen) w->Add(one->text, one->logprob);
  }
  w->EndObject();
}

// A writer that goes on with the elements of a list.
JsonWriter NextElement(std::string* list) {
  if (!list->empty()) list->push_back(',');
  return JsonWriter(list);
}

}  // namespace

absl::Status OpenAiLogprobs::Add(absl::string_view element) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseJson(element, 100, ParseBudget::UpTo(element.size()), &tree));
  if (!tree.IsArray()) return absl::InvalidArgumentError("it should be a list of tokens");
  for (const JsonValue& token : tree.GetArray()) RETURN_IF_ERROR(AddToken(token));
  return absl::OkStatus();
}

absl::Status OpenAiLogprobs::AddToken(const JsonValue& token) {
  if (!token.IsObject() || token.ObjectEmpty()) {
    return absl::InvalidArgumentError("each token should be an object that begins with its own");
  }
  std::vector<Candidate> top;
  for (const auto& member : token.GetObject()) {
    ASSIGN_OR_RETURN(const Candidate candidate, CandidateOf(member.value));
    top.push_back(candidate);
  }
  const Candidate chosen = top.front();
  std::stable_sort(top.begin(), top.end(),
                   [](const Candidate& a, const Candidate& b) { return a.logprob > b.logprob; });
  // The token itself may come after them.
  top.resize(std::min(top.size(), top_));
  JsonWriter w = NextElement(&tokens_);
  if (route_ != OpenAiRoute::kChat) {
    w.String(chosen.text);
    NextElement(&logprobs_).Double(chosen.logprob);
    top.push_back(chosen);
    JsonWriter tops = NextElement(&top_logprobs_);
    WriteTop(top, &tops);
    NextElement(&offsets_).Uint(std::exchange(offset_, offset_ + CharactersOf(chosen.text)));
    return absl::OkStatus();
  }
  w.BeginObject();
  WriteCandidate(chosen, &w);
  w.BeginArray("top_logprobs");
  for (const Candidate& one : top) {
    w.BeginObject();
    WriteCandidate(one, &w);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return absl::OkStatus();
}

std::string OpenAiLogprobs::Take() {
  if (empty()) return "null";
  const auto list = [](std::string* elements) {
    return absl::StrCat("[", std::exchange(*elements, ""), "]");
  };
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  if (route_ == OpenAiRoute::kChat) {
    w.AddRaw("content", list(&tokens_));
    w.AddRaw("refusal", "null");
  } else {
    w.AddRaw("tokens", list(&tokens_));
    w.AddRaw("token_logprobs", list(&logprobs_));
    const std::string top = list(&top_logprobs_);
    w.AddRaw("top_logprobs", top_ == 0 ? "null" : top);
    w.AddRaw("text_offset", list(&offsets_));
  }
  w.EndObject();
  return json;
}

uint64_t OpenAiLogprobs::EstimateSize() const {
  return tokens_.size() + logprobs_.size() + top_logprobs_.size() + offsets_.size();
}

}  // namespace nereid
