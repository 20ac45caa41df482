// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/recording.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"

namespace nereid {
namespace {

constexpr int kMostDepth = 64;
constexpr uint64_t kVersion = 1;

// Members that are missing are 0 or empty; those of another type are an error.
class Members {
 public:
  explicit Members(const JsonValue& object) : object_(object) {}

  Members& Read(const char* name, uint64_t* to) {
    return Member(name, [&](const JsonValue& value) {
      const auto number = AsUint(value);
      if (number.ok()) *to = *number;
      return number.status();
    });
  }
  Members& Read(const char* name, std::string* to) {
    return Member(name, [&](const JsonValue& value) {
      const auto text = AsString(value);
      if (text.ok()) *to = std::string(*text);
      return text.status();
    });
  }
  const absl::Status& status() const { return status_; }

 private:
  template <class Take>
  Members& Member(const char* name, Take take) {
    const JsonValue* const member = FindMember(object_, name);
    if (member == nullptr || !status_.ok()) return *this;
    status_ = UnableToParse(name, take(*member));
    return *this;
  }

  const JsonValue& object_;
  absl::Status status_;
};

absl::Status ReadHeader(const JsonValue& line) {
  uint64_t version = 0;
  if (!Members(line).Read("nereid_recording", &version).status().ok() || version != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("this is no recording of version ", kVersion,
                                                   ", which `nereid --record=FILE` writes"));
  }
  return absl::OkStatus();
}

absl::Status ReadModel(const JsonValue& line, uint64_t number, Recording* recording) {
  const auto [it, added] = recording->models.try_emplace(number);
  if (!added) return absl::InvalidArgumentError(absl::StrCat("model ", number, " is there twice"));
  RecordedModel& model = it->second;
  if (const JsonValue* const config = FindMember(line, "config"); config != nullptr) {
    model.config = JsonText(*config);
  }
  return Members(line).Read("name", &model.name).Read("version", &model.version).status();
}

absl::Status ReadRequest(const JsonValue& line, RecordedModel* model) {
  RecordedRequest& request = model->requests.emplace_back();
  return Members(line)
      .Read("id", &request.id)
      .Read("start", &request.start_ns)
      .Read("queued", &request.queued_ns)
      .Read("sent", &request.sent_ns)
      .Read("instance", &request.instance)
      .Read("batch", &request.batch)
      .Read("size", &request.size)
      .Read("priority", &request.priority)
      .Read("timeout_us", &request.timeout_us)
      .Read("sequence", &request.sequence)
      .Read("sequence_text", &request.sequence_text)
      .Read("flags", &request.flags)
      .Read("shapes", &request.shapes)
      .Read("outcome", &request.outcome)
      .status();
}

absl::Status ReadBatch(const JsonValue& line, RecordedModel* model) {
  RecordedBatch& batch = model->batches.emplace_back();
  return Members(line)
      .Read("instance", &batch.instance)
      .Read("number", &batch.number)
      .Read("staged", &batch.staged_ns)
      .Read("pulled", &batch.pulled_ns)
      .Read("ended", &batch.ended_ns)
      .Read("requests", &batch.requests)
      .Read("units", &batch.units)
      .Read("fillers", &batch.fillers)
      .Read("reason", &batch.reason)
      .status();
}

absl::Status ReadTensor(const JsonValue& value, RecordedTensor* tensor) {
  std::string datatype;
  RETURN_IF_ERROR(Members(value).Read("name", &tensor->name).Read("datatype", &datatype).status());
  tensor->data_type = ParseDataType(datatype);
  if (tensor->data_type == DataType::kInvalid) {
    return absl::InvalidArgumentError("an input has a 'datatype' that there is not");
  }
  const JsonValue* const shape = FindMember(value, "shape");
  if (shape == nullptr || !shape->IsArray()) {
    return absl::InvalidArgumentError("an input needs a 'shape', which is a list");
  }
  for (const JsonValue& dim : shape->GetArray()) {
    if (!dim.IsInt64() || dim.GetInt64() < 0) {
      return absl::InvalidArgumentError("a 'shape' has something that is no size");
    }
    tensor->shape.push_back(dim.GetInt64());
  }
  const JsonValue* const data = FindMember(value, "data");
  if (data == nullptr) return absl::OkStatus();
  tensor->has_bytes = true;
  if (data->IsString() &&
      absl::Base64Unescape({data->GetString(), data->GetStringLength()}, &tensor->bytes)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the 'data' of an input is no base64");
}

absl::Status ReadInputs(const JsonValue& line, RecordedModel* model, Recording* recording) {
  if (!recording->wants_inputs) return absl::OkStatus();
  RecordedInputs& inputs = model->inputs.emplace_back();
  RETURN_IF_ERROR(Members(line).Read("start", &inputs.start_ns).status());
  const JsonValue* const tensors = FindMember(line, "tensors");
  if (tensors == nullptr || !tensors->IsArray()) {
    return absl::InvalidArgumentError("'inputs' need 'tensors', which is a list");
  }
  for (const JsonValue& tensor : tensors->GetArray()) {
    RETURN_IF_ERROR(ReadTensor(tensor, &inputs.tensors.emplace_back()));
    recording->tensor_bytes += inputs.tensors.back().bytes.size();
  }
  if (recording->tensor_bytes <= Recording::kMostTensorBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the inputs of all requests have more than ",
                                                 Recording::kMostTensorBytes, " bytes"));
}

// Reads the next line, or as much of it as shows that it is too long. False where no newline ends
// it.
bool NextLine(std::istream& file, std::string* line) {
  using Traits = std::istream::traits_type;
  std::streambuf& bytes = *file.rdbuf();
  line->clear();
  while (line->size() <= Recording::kMostLineBytes) {
    const Traits::int_type byte = bytes.sbumpc();
    if (Traits::eq_int_type(byte, Traits::eof())) return false;
    if (byte == '\n') return true;
    line->push_back(Traits::to_char_type(byte));
  }
  return true;
}

}  // namespace

absl::Status ReadLine(absl::string_view text, uint64_t number, Recording* recording) {
  JsonTree line;
  RETURN_IF_ERROR(ParseJson(text, kMostDepth, ParseBudget::UpTo(Recording::kMostLineBytes), &line));
  if (!line.IsObject()) return absl::InvalidArgumentError("a line must be a JSON object");
  if (number == 1) return ReadHeader(line);
  for (const char* const kind : {"model", "request", "batch", "inputs"}) {
    const JsonValue* const member = FindMember(line, kind);
    // The line of a request has a "batch", too, and is found first.
    if (member == nullptr) continue;
    ASSIGN_OR_RETURN(const uint64_t model, AsUint(*member));
    if (*kind == 'm') return ReadModel(line, model, recording);
    const auto found = recording->models.find(model);
    if (found == recording->models.end()) {
      return absl::InvalidArgumentError(absl::StrCat("model ", model, " was not introduced"));
    }
    if (*kind == 'i') return ReadInputs(line, &found->second, recording);
    return *kind == 'r' ? ReadRequest(line, &found->second) : ReadBatch(line, &found->second);
  }
  return absl::OkStatus();  // of a newer server
}

absl::StatusOr<Recording> ReadRecording(std::istream& file, bool with_inputs) {
  Recording recording;
  recording.wants_inputs = with_inputs;
  std::string line;
  uint64_t number = 0;
  // The last line may still be being written. The first one is looked at anyway: it tells what the
  // file is.
  while (NextLine(file, &line) || (number == 0 && !line.empty())) {
    ++number;
    absl::Status read;
    if (line.size() > Recording::kMostLineBytes) {
      read = absl::InvalidArgumentError(
          absl::StrCat("it is longer than ", Recording::kMostLineBytes, " bytes"));
    } else if (number > Recording::kMostLines) {
      read = absl::InvalidArgumentError(
          absl::StrCat("a recording may have ", Recording::kMostLines, " lines"));
    } else {
      read = ReadLine(line, number, &recording);
    }
    if (!read.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", read.message()));
    }
  }
  if (number == 0) return absl::InvalidArgumentError("it is empty");
  return recording;
}

}  // namespace nereid
