// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/request_script.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <utility>

namespace nereid::bench {
namespace {

// Field numbers of the GRPCInferenceService.
constexpr char kRequestParameters = 4 << 3 | 2;  // of ModelInferRequest: a map
constexpr char kMapKey = 1 << 3 | 2;
constexpr char kMapValue = 2 << 3 | 2;
constexpr char kBoolParameter = 1 << 3;  // of InferParameter
constexpr char kIntParameter = 2 << 3;

std::string Varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

void AppendBytes(char tag, absl::string_view bytes, std::string* to) {
  absl::StrAppend(to, std::string(1, tag), Varint(bytes.size()), bytes);
}

void AppendParameter(absl::string_view name, char tag, uint64_t value, std::string* message) {
  std::string entry;
  AppendBytes(kMapKey, name, &entry);
  AppendBytes(kMapValue, absl::StrCat(std::string(1, tag), Varint(value)), &entry);
  AppendBytes(kRequestParameters, entry, message);
}

// All ids are equally long, so that one takes the place of another.
void WriteId(RequestScript::IdForm form, uint64_t id, SequenceText* text) {
  const std::string bytes = form == RequestScript::IdForm::kDecimal ? absl::StrCat(id) : Varint(id);
  text->bytes.replace(text->id_at, bytes.size(), bytes);
}

}  // namespace

RequestScript::RequestScript(const std::vector<std::string>& requests) {
  for (const std::string& request : requests) texts_.push_back({request, 0});
}

RequestScript::RequestScript(const std::vector<std::string>& requests, std::vector<uint32_t> order)
    : RequestScript(requests) {
  order_ = std::move(order);
}

RequestScript::RequestScript(int slots, int length, IdForm form, const Render& render,
                             uint64_t first_id)
    : length_(length), form_(form), next_id_(first_id), slots_(static_cast<size_t>(slots)) {
  for (int slot = 0; slot < slots; ++slot) {
    texts_.push_back(render({kFirstId, true, length == 1}));
    texts_.push_back(render({kFirstId, false, false}));
    texts_.push_back(render({kFirstId, false, true}));
  }
}

absl::string_view RequestScript::Next(int slot) {
  if (length_ == 0) {
    const absl::string_view text = texts_[order_.empty() ? turn_ : order_[turn_]].bytes;
    turn_ = turn_ + 1 < (order_.empty() ? texts_.size() : order_.size()) ? turn_ + 1 : 0;
    return text;
  }
  const auto index = static_cast<size_t>(slot);
  Slot& state = slots_[index];
  if (state.position == 0) {
    state.id = next_id_;
    next_id_ = next_id_ < kLastId ? next_id_ + 1 : kFirstId;
  }
  const size_t which = state.position == 0 ? 0 : state.position == length_ - 1 ? 2 : 1;
  state.position = (state.position + 1) % length_;
  SequenceText& text = texts_[index * kTextsOfSlot + which];
  WriteId(form_, state.id, &text);
  return text.bytes;
}

bool RequestScript::EndSequence(int slot) {
  if (length_ == 0) return false;
  Slot& state = slots_[static_cast<size_t>(slot)];
  if (state.position == 0) return false;
  state.position = length_ - 1;
  return true;
}

absl::StatusOr<SequenceText> HttpBodyOfStep(absl::string_view body, const SequenceStep& step) {
  static constexpr absl::string_view kBeforeId = R"({"parameters":{"sequence_id":)";
  if (body.empty() || body.front() != '{') {
    return absl::InvalidArgumentError("the body is not a JSON object");
  }
  return SequenceText{
      absl::StrCat(kBeforeId, step.id, R"(,"sequence_start":)", step.start ? "true" : "false",
                   R"(,"sequence_end":)", step.end ? "true" : "false", "},", body.substr(1)),
      kBeforeId.size()};
}

SequenceText GrpcMessageOfStep(absl::string_view message, const SequenceStep& step) {
  // The order does not matter: protobuf collects the entries of a map from the whole message.
  SequenceText text{std::string(message)};
  AppendParameter("sequence_id", kIntParameter, step.id, &text.bytes);
  text.id_at = text.bytes.size() - Varint(step.id).size();
  AppendParameter("sequence_start", kBoolParameter, step.start ? 1 : 0, &text.bytes);
  AppendParameter("sequence_end", kBoolParameter, step.end ? 1 : 0, &text.bytes);
  return text;
}

}  // namespace nereid::bench
