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

}  // namespace

RequestScript::RequestScript(int slots, int length, const Render& render)
    : length_(length), positions_(static_cast<size_t>(slots)) {
  for (int slot = 0; slot < slots; ++slot) {
    const auto id = static_cast<uint64_t>(slot) + 1;
    texts_.push_back(render({id, true, false}));
    texts_.push_back(render({id, false, false}));
    texts_.push_back(render({id, false, true}));
  }
}

absl::string_view RequestScript::Next(int slot) {
  if (length_ == 0) return texts_[0];
  const auto index = static_cast<size_t>(slot);
  const int position = positions_[index];
  positions_[index] = (position + 1) % length_;
  const size_t which = position == 0 ? 0 : position == length_ - 1 ? 2 : 1;
  return texts_[index * kTextsOfSlot + which];
}

absl::StatusOr<std::string> HttpBodyOfStep(absl::string_view body, const SequenceStep& step) {
  if (body.empty() || body.front() != '{') {
    return absl::InvalidArgumentError("the body is no JSON object");
  }
  return absl::StrCat(R"({"parameters":{"sequence_id":)", step.id, R"(,"sequence_start":)",
                      step.start ? "true" : "false", R"(,"sequence_end":)",
                      step.end ? "true" : "false", "},", body.substr(1));
}

std::string GrpcMessageOfStep(absl::string_view message, const SequenceStep& step) {
  // The order does not matter: protobuf collects the entries of a map from the whole message.
  std::string bytes(message);
  AppendParameter("sequence_id", kIntParameter, step.id, &bytes);
  AppendParameter("sequence_start", kBoolParameter, step.start ? 1 : 0, &bytes);
  AppendParameter("sequence_end", kBoolParameter, step.end ? 1 : 0, &bytes);
  return bytes;
}

}  // namespace nereid::bench
