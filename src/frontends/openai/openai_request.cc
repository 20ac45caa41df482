// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_request.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/outside_text.h"
#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/openai/chat_format.h"
#include "frontends/openai/openai_error.h"
#include "frontends/openai/openai_fields.h"

namespace nereid {
namespace {

// More than the API has, so that comparing names with each other stays cheap.
constexpr size_t kMaxFields = 128;
constexpr size_t kMaxStops = 16;

absl::string_view TextOf(const JsonValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

absl::Status ShouldBe(absl::string_view field, absl::string_view right) {
  return OpenAiFieldError(field, absl::StrCat("'", field, "' should be ", right));
}

absl::StatusOr<bool> BoolOf(absl::string_view field, const JsonValue& value) {
  if (!value.IsBool()) return ShouldBe(field, "true or false");
  return value.GetBool();
}

// What is in the tree although JSON does not have it, and ParseJson takes it: numbers that are not
// finite, and bytes that are not UTF-8, also as one half of a surrogate pair. Empty: nothing. The
// depth of the tree is bounded.
absl::string_view NotOfJson(const JsonValue& value) {
  constexpr absl::string_view kNotUtf8 = "a text that is not UTF-8";
  if (value.IsString()) return IsValidUtf8(TextOf(value)) ? "" : kNotUtf8;
  if (value.IsDouble())
    return std::isfinite(value.GetDouble()) ? "" : "a number that is not finite";
  if (value.IsArray()) {
    for (const JsonValue& element : value.GetArray()) {
      if (const absl::string_view found = NotOfJson(element); !found.empty()) return found;
    }
  } else if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      if (!IsValidUtf8(TextOf(member.name))) return kNotUtf8;
      if (const absl::string_view found = NotOfJson(member.value); !found.empty()) return found;
    }
  }
  return "";
}

// The value of `content` of a message: a text, or a list of parts that are texts.
absl::StatusOr<std::string> ContentOf(size_t index, const JsonValue& message) {
  const std::string field = absl::StrCat("messages[", index, "].content");
  const JsonValue* const content = FindMember(message, "content");
  if (content != nullptr && content->IsString()) return std::string(TextOf(*content));
  if (content == nullptr || !content->IsArray()) return ShouldBe(field, "a text");
  std::string text;
  for (const JsonValue& part : content->GetArray()) {
    const JsonValue* const type = FindMember(part, "type");
    const JsonValue* const of_part = FindMember(part, "text");
    if (type == nullptr || !type->IsString() || TextOf(*type) != "text" || of_part == nullptr ||
        !of_part->IsString()) {
      return ShouldBe(field, "a text or a list of parts of type 'text': the model takes no others");
    }
    absl::StrAppend(&text, TextOf(*of_part));
  }
  return text;
}

absl::StatusOr<ChatMessage> MessageOf(size_t index, const JsonValue& message) {
  const std::string name = absl::StrCat("messages[", index, "]");
  if (!message.IsObject()) return ShouldBe(name, "an object with 'role' and 'content'");
  for (const auto& member : message.GetObject()) {
    const absl::string_view key = TextOf(member.name);
    if (key == "role" || key == "content" || member.value.IsNull()) continue;
    return OpenAiFieldError(
        absl::StrCat(name, ".", key.substr(0, kMaxNameBytes)),
        absl::StrCat("'", name, "' has the member '", key.substr(0, kMaxNameBytes),
                     "': this model takes 'role' and 'content' only"));
  }
  const JsonValue* const role = FindMember(message, "role");
  const absl::string_view text =
      role != nullptr && role->IsString() ? TextOf(*role) : absl::string_view();
  ChatMessage read;
  read.role = std::string(text == "developer" ? "system" : text);
  if (read.role != "system" && read.role != "user" && read.role != "assistant") {
    return ShouldBe(absl::StrCat(name, ".role"),
                    "'system', 'developer', 'user' or 'assistant': the model takes no others");
  }
  ASSIGN_OR_RETURN(read.content, ContentOf(index, message));
  return read;
}

// What holds for messages of every role, which a model that makes its prompt itself relies on: each
// has a role and a content, a text or parts with a type. Only an assistant's may lack the content.
absl::Status CheckMessage(size_t index, const JsonValue& message) {
  const std::string name = absl::StrCat("messages[", index, "]");
  if (!message.IsObject()) return ShouldBe(name, "an object with 'role' and 'content'");
  const JsonValue* const role = FindMember(message, "role");
  if (role == nullptr || !role->IsString() || role->GetStringLength() == 0) {
    return ShouldBe(absl::StrCat(name, ".role"), "a text such as 'user'");
  }
  const JsonValue* const content = FindMember(message, "content");
  if (content == nullptr || content->IsNull()) {
    return TextOf(*role) == "assistant"
               ? absl::OkStatus()
               : ShouldBe(absl::StrCat(name, ".content"), "a text or a list of parts");
  }
  bool right = content->IsString() || content->IsArray();
  if (content->IsArray()) {
    for (const JsonValue& part : content->GetArray()) {
      const JsonValue* const type = FindMember(part, "type");
      right = right && type != nullptr && type->IsString();
    }
  }
  return right ? absl::OkStatus()
               : ShouldBe(absl::StrCat(name, ".content"),
                          "a text or a list of parts, which are objects with a 'type'");
}

// Reads one request.
class OpenAiReader {
 public:
  OpenAiReader(OpenAiRoute route, const OpenAiModel& model, InferRequest* request,
               RequestBuffers* buffers, OpenAiSettings* settings)
      : route_(route),
        model_(model),
        config_(request->model()->config()),
        request_(request),
        buffers_(buffers),
        settings_(settings),
        sampling_(&sampling_text_) {}

  absl::Status Read(const JsonValue& body) {
    if (body.MemberCount() > kMaxFields) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the request has ", body.MemberCount(), " fields: at most ", kMaxFields, " are taken"));
    }
    if (const absl::string_view found = NotOfJson(body); !found.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("the request has ", found));
    }
    sampling_.BeginObject();
    for (const auto& member : body.GetObject()) {
      RETURN_IF_ERROR(ReadMember(TextOf(member.name), member.value));
    }
    RETURN_IF_ERROR(AddLogprobs());
    sampling_.EndObject();
    RETURN_IF_ERROR(CheckComplete());
    return FillOthers();
  }

 private:
  absl::Status ReadMember(absl::string_view name, const JsonValue& value) {
    if (name.size() > kMaxNameBytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a field has a name of ", name.size(), " bytes: at most ", kMaxNameBytes, " are taken"));
    }
    for (const absl::string_view seen : seen_) {
      if (seen == name) {
        return OpenAiFieldError(name, absl::StrCat("the request has the field '", name,
                                                   "' twice: it should have it once"));
      }
    }
    seen_.push_back(name);
    const OpenAiField* const field = FindOpenAiField(route_, name);
    if (field == nullptr) return PassOrRefuse(name, value);
    // As the official client does: a field that is null is a field that is not there.
    return value.IsNull() ? absl::OkStatus() : ReadField(*field, value);
  }

  absl::Status ReadField(const OpenAiField& field, const JsonValue& value) {
    switch (field.kind) {
      case OpenAiFieldKind::kModel:
        return absl::OkStatus();  // read by OpenAiModelName
      case OpenAiFieldKind::kStream: {
        ASSIGN_OR_RETURN(settings_->stream, BoolOf(field.name, value));
        return absl::OkStatus();
      }
      case OpenAiFieldKind::kStreamOptions:
        return ReadStreamOptions(value);
      case OpenAiFieldKind::kPrompt:
        return ReadPrompt(value);
      case OpenAiFieldKind::kMessages:
        return ReadMessages(value);
      case OpenAiFieldKind::kInput:
        return ReadTexts(value);
      case OpenAiFieldKind::kEcho: {
        ASSIGN_OR_RETURN(echo_, BoolOf(field.name, value));
        return absl::OkStatus();
      }
      case OpenAiFieldKind::kN:
        return ReadChoices(value);
      case OpenAiFieldKind::kEncodingFormat:
        return ReadEncodingFormat(value);
      case OpenAiFieldKind::kLogprobs:
        return field.SaysNothing(value) ? absl::OkStatus() : ReadLogprobs(value);
      case OpenAiFieldKind::kTopLogprobs: {
        ASSIGN_OR_RETURN(top_logprobs_, TopOf(field.name, value));
        return absl::OkStatus();
      }
      case OpenAiFieldKind::kUser:
        return ReadUser(value);
      case OpenAiFieldKind::kInteger:
      case OpenAiFieldKind::kNumber:
        return ReadNumber(field, value);
      case OpenAiFieldKind::kStop:
        return ReadStop(field, value);
      case OpenAiFieldKind::kIfTaken:
        return field.SaysNothing(value) ? absl::OkStatus() : PassOrRefuse(field.name, value);
      case OpenAiFieldKind::kNever:
        if (field.SaysNothing(value)) return absl::OkStatus();
        return OpenAiFieldError(field.name, absl::StrCat("'", field.name,
                                                         "' asks for something that this server "
                                                         "does not offer: leave it out"));
    }
    return absl::OkStatus();
  }

  // A field that the API does not have, or that few models take.
  absl::Status PassOrRefuse(absl::string_view name, const JsonValue& value) {
    const InputSpec* const input = InputNamed(name);
    if (input != nullptr && value.IsNumber()) return AddNumber(*input, name, value);
    if (input != nullptr && value.IsString() && input->data_type == DataType::kBytes) {
      return AddTexts(*input, OneElement(*input), {TextOf(value)});
    }
    if (model_.sampling_parameters != nullptr && model_.Takes(name)) {
      sampling_.AddRaw(name, JsonText(value));
      return absl::OkStatus();
    }
    return OpenAiFieldError(
        name,
        absl::StrCat("model '", config_.name, "' does not take the field '", name,
                     "': leave it out, or name it in the model's parameter '", kOpenAiTakes, "'"));
  }

  absl::Status ReadStreamOptions(const JsonValue& value) {
    if (!value.IsObject()) return ShouldBe("stream_options", "an object");
    for (const auto& member : value.GetObject()) {
      const absl::string_view name = TextOf(member.name);
      const std::string field = absl::StrCat("stream_options.", name.substr(0, kMaxNameBytes));
      if (name == "include_usage") {
        ASSIGN_OR_RETURN(settings_->include_usage, BoolOf(field, member.value));
      } else if (name != "include_obfuscation" || !member.value.IsFalse()) {
        return OpenAiFieldError(field,
                                absl::StrCat("'", field, "' is not supported: leave it out"));
      }
    }
    has_stream_options_ = true;
    return absl::OkStatus();
  }

  absl::Status ReadPrompt(const JsonValue& value) {
    const bool list = value.IsArray() && value.Size() == 1;
    const JsonValue& prompt = list ? value[0] : value;
    if (!prompt.IsString()) return ShouldBe("prompt", "one text: neither several nor tokens");
    has_text_ = true;
    return AddTexts(*model_.text_input, OneElement(*model_.text_input), {TextOf(prompt)});
  }

  absl::Status ReadMessages(const JsonValue& value) {
    if (!value.IsArray() || value.Empty()) {
      return ShouldBe("messages", "a list of at least one message");
    }
    has_text_ = true;
    if (model_.messages != nullptr) {
      for (size_t i = 0; i < value.Size(); ++i) {
        RETURN_IF_ERROR(CheckMessage(i, value[static_cast<unsigned>(i)]));
      }
      return AddTexts(*model_.messages, OneElement(*model_.messages), {JsonText(value)});
    }
    // Pays for the messages and the prompt while they are there.
    uint64_t bytes = 0;
    for (const JsonValue& message : value.GetArray()) {
      const JsonValue* const content = FindMember(message, "content");
      bytes += sizeof(ChatMessage) + 64;
      if (content != nullptr && content->IsString()) bytes += 2 * content->GetStringLength();
    }
    ASSIGN_OR_RETURN(const BudgetUnits units, buffers_->parse_budget().Take(bytes, bytes));
    std::vector<ChatMessage> messages;
    for (size_t i = 0; i < value.Size(); ++i) {
      ASSIGN_OR_RETURN(ChatMessage message, MessageOf(i, value[static_cast<unsigned>(i)]));
      messages.push_back(std::move(message));
    }
    ASSIGN_OR_RETURN(const std::string prompt, ChatPrompt(*model_.chat_format, messages));
    return AddTexts(*model_.text_input, OneElement(*model_.text_input), {prompt});
  }

  absl::Status ReadTexts(const JsonValue& value) {
    constexpr absl::string_view kRight = "a text or a list of texts: tokens are not taken";
    std::vector<absl::string_view> texts;
    if (value.IsString()) texts.push_back(TextOf(value));
    if (value.IsArray()) {
      if (value.Size() > kMaxEmbeddingTexts) {
        return ShouldBe("input", absl::StrCat("a list of at most ", kMaxEmbeddingTexts,
                                              " texts, and has ", value.Size()));
      }
      for (const JsonValue& text : value.GetArray()) {
        if (!text.IsString()) return ShouldBe("input", kRight);
        texts.push_back(TextOf(text));
      }
    }
    if (texts.empty()) return ShouldBe("input", kRight);
    has_text_ = true;
    settings_->texts = texts.size();
    return AddTexts(*model_.text_input, ShapeOfTexts(texts.size()), texts);
  }

  absl::Status ReadChoices(const JsonValue& value) {
    if (!value.IsUint64() || value.GetUint64() == 0 || value.GetUint64() > kMaxChoices) {
      return ShouldBe("n", absl::StrCat("a whole number from 1 to ", kMaxChoices));
    }
    settings_->choices = static_cast<size_t>(value.GetUint64());
    return settings_->choices == 1 ? absl::OkStatus() : PassOrRefuse("n", value);
  }

  static absl::StatusOr<size_t> TopOf(const char* field, const JsonValue& value) {
    if (!value.IsUint64() || value.GetUint64() > kMaxTopLogprobs) {
      return ShouldBe(field, absl::StrCat("a whole number from 0 to ", kMaxTopLogprobs));
    }
    return static_cast<size_t>(value.GetUint64());
  }

  // In chats it says whether they are wanted, in completions how many.
  absl::Status ReadLogprobs(const JsonValue& value) {
    if (route_ == OpenAiRoute::kChat) {
      ASSIGN_OR_RETURN(settings_->logprobs, BoolOf("logprobs", value));
    } else {
      ASSIGN_OR_RETURN(top_logprobs_, TopOf("logprobs", value));
      settings_->logprobs = true;
    }
    const bool taken = model_.logprobs != nullptr && model_.sampling_parameters != nullptr;
    return taken ? absl::OkStatus() : NotTaken("logprobs");
  }

  absl::Status AddLogprobs() {
    settings_->top_logprobs = top_logprobs_;
    if (settings_->logprobs) {
      sampling_.Add("logprobs", static_cast<uint64_t>(top_logprobs_));
      return absl::OkStatus();
    }
    if (top_logprobs_ == 0) return absl::OkStatus();
    return OpenAiFieldError("top_logprobs",
                            "'top_logprobs' should be there only if 'logprobs' is true");
  }

  absl::Status ReadEncodingFormat(const JsonValue& value) {
    const absl::string_view format = value.IsString() ? TextOf(value) : absl::string_view();
    if (format != "float" && format != "base64") {
      return ShouldBe("encoding_format", "'float' or 'base64'");
    }
    settings_->base64 = format == "base64";
    return absl::OkStatus();
  }

  absl::Status ReadUser(const JsonValue& value) {
    if (!value.IsString() || value.GetStringLength() > kMaxNameBytes) {
      return ShouldBe("user", absl::StrCat("a text of at most ", kMaxNameBytes, " bytes"));
    }
    request_->AddParameter(Parameter("user", std::string(TextOf(value))));
    return absl::OkStatus();
  }

  absl::Status ReadNumber(const OpenAiField& field, const JsonValue& value) {
    const bool whole = field.kind == OpenAiFieldKind::kInteger;
    const bool right = (whole ? value.IsInt64() : value.IsNumber()) &&
                       value.GetDouble() >= field.least && value.GetDouble() <= field.most;
    if (!right) {
      return ShouldBe(field.name, absl::StrCat(whole ? "a whole number from " : "a number from ",
                                               static_cast<int64_t>(field.least), " to ",
                                               static_cast<int64_t>(field.most)));
    }
    const char* const name = field.sampling_name == nullptr ? field.name : field.sampling_name;
    if (absl::string_view(name) == "max_tokens" && std::exchange(has_max_tokens_, true)) {
      return OpenAiFieldError(field.name,
                              "the request has 'max_tokens' and 'max_completion_tokens': it should "
                              "have one of them");
    }
    if (const InputSpec* input = InputOfField(field, name)) {
      return AddNumber(*input, field.name, value);
    }
    if (model_.sampling_parameters == nullptr) return NotTaken(field.name);
    sampling_.AddRaw(name, JsonText(value));
    return absl::OkStatus();
  }

  absl::Status ReadStop(const OpenAiField& field, const JsonValue& value) {
    std::vector<absl::string_view> texts;
    bool right = value.IsString() || (value.IsArray() && value.Size() <= kMaxStops);
    if (value.IsString()) texts.push_back(TextOf(value));
    if (right && value.IsArray()) {
      for (const JsonValue& text : value.GetArray()) {
        right = right && text.IsString();
        if (right) texts.push_back(TextOf(text));
      }
    }
    if (!right) {
      return ShouldBe(field.name,
                      absl::StrCat("a text or a list of at most ", kMaxStops, " texts"));
    }
    if (texts.empty()) return absl::OkStatus();
    for (const char* name : {field.name, field.input_name}) {
      const int index = config_.FindInput(name);
      if (index < 0) continue;
      const InputSpec& input = config_.inputs[static_cast<size_t>(index)];
      if (input.data_type != DataType::kBytes || input.dims != Shape{kVariableDim}) continue;
      Shape shape = OneElement(input);
      shape.back() = static_cast<int64_t>(texts.size());
      return AddTexts(input, shape, texts);
    }
    if (model_.sampling_parameters == nullptr) return NotTaken(field.name);
    sampling_.AddRaw(field.name, JsonText(value));
    return absl::OkStatus();
  }

  absl::Status NotTaken(absl::string_view field) const {
    return OpenAiFieldError(
        field, absl::StrCat("model '", config_.name, "' does not take the field '", field,
                            "': leave it out"));
  }

  // What one field alone cannot tell.
  absl::Status CheckComplete() const {
    if (!has_text_) {
      const char* const field = route_ == OpenAiRoute::kCompletions ? "prompt"
                                : route_ == OpenAiRoute::kChat      ? "messages"
                                                                    : "input";
      return OpenAiFieldError(field, absl::StrCat("the request needs the field '", field, "'"));
    }
    if (has_stream_options_ && !settings_->stream) {
      return OpenAiFieldError("stream_options",
                              "'stream_options' should be there only if 'stream' is true");
    }
    if (echo_ && (settings_->stream || model_.exclude_input == nullptr)) {
      return OpenAiFieldError(
          "echo", absl::StrCat("'echo' should be false ", settings_->stream
                                                              ? "if 'stream' is true"
                                                              : "for a model without the input "
                                                                "'exclude_input_in_output'"));
    }
    if (echo_ && settings_->logprobs) {
      return OpenAiFieldError("echo", "'echo' should be false if 'logprobs' are wanted");
    }
    const int index = config_.FindInput("max_tokens");
    if (index >= 0 && !config_.inputs[static_cast<size_t>(index)].optional && !has_max_tokens_) {
      return OpenAiFieldError(
          "max_tokens", absl::StrCat("model '", config_.name, "' needs the field 'max_tokens'"));
    }
    return absl::OkStatus();
  }

  absl::Status FillOthers() {
    if (route_ == OpenAiRoute::kEmbeddings) return absl::OkStatus();
    if (const InputSpec* input = model_.sampling_parameters) {
      RETURN_IF_ERROR(AddTexts(*input, OneElement(*input), {sampling_text_}));
    }
    RETURN_IF_ERROR(AddFlag(model_.stream, settings_->stream));
    RETURN_IF_ERROR(AddFlag(model_.exclude_input, !echo_));
    RETURN_IF_ERROR(AddFlag(model_.return_num_input_tokens, true));
    RETURN_IF_ERROR(AddFlag(model_.return_num_output_tokens, true));
    RETURN_IF_ERROR(AddFlag(model_.return_logprobs, settings_->logprobs));
    return AddFlag(model_.return_finish_reason, true);
  }

  // ---- Inputs.
  // The shape of a tensor of one element.
  Shape OneElement(const InputSpec& input) const {
    Shape shape;
    if (config_.max_batch_size > 0) shape.push_back(1);
    shape.insert(shape.end(), input.dims.size(), 1);
    return shape;
  }

  // One batch item for each text, or one element of the first dimension.
  Shape ShapeOfTexts(size_t count) const {
    Shape shape = OneElement(*model_.text_input);
    if (!shape.empty()) shape.front() = static_cast<int64_t>(count);
    return shape;
  }

  // An input for a field, which nothing else fills.
  const InputSpec* InputNamed(absl::string_view name) const {
    const int index = config_.FindInput(name);
    if (index < 0) return nullptr;
    const InputSpec& input = config_.inputs[static_cast<size_t>(index)];
    return model_.Fills(&input) || !TakesOneElement(input.dims) ? nullptr : &input;
  }

  const InputSpec* InputOfField(const OpenAiField& field, const char* name) const {
    const InputSpec* const input = InputNamed(name);
    return input != nullptr || field.input_name == nullptr ? input : InputNamed(field.input_name);
  }

  absl::Status AddInput(const InputSpec& input, const Shape& shape, const char* bytes,
                        size_t byte_size) {
    ASSIGN_OR_RETURN(InferInput* const added,
                     request_->AddInput(input.name, input.data_type, shape));
    added->AppendBuffer({bytes, byte_size, MemoryPlace{}});
    return absl::OkStatus();
  }

  absl::Status AddTexts(const InputSpec& input, const Shape& shape,
                        absl::Span<const absl::string_view> texts) {
    uint64_t size = 0;
    for (const absl::string_view text : texts) {
      if (text.size() > std::numeric_limits<uint32_t>::max()) {
        return absl::InvalidArgumentError("a text should have fewer than 4 GiB");
      }
      size += sizeof(uint32_t) + text.size();
    }
    char* const bytes = buffers_->Allocate(size);
    if (bytes == nullptr) return buffers_->WhyNothing(input.name.c_str());
    char* end = bytes;
    for (const absl::string_view text : texts) {
      const auto length = static_cast<uint32_t>(text.size());
      std::memcpy(end, &length, sizeof(length));
      end += sizeof(length);
      if (!text.empty()) std::memcpy(end, text.data(), text.size());
      end += text.size();
    }
    return AddInput(input, shape, bytes, size);
  }

  template <typename T>
  absl::Status AddValue(const InputSpec& input, T value) {
    char* const bytes = buffers_->Allocate(sizeof(value));
    if (bytes == nullptr) return buffers_->WhyNothing(input.name.c_str());
    std::memcpy(bytes, &value, sizeof(value));
    return AddInput(input, OneElement(input), bytes, sizeof(value));
  }

  absl::Status AddFlag(const InputSpec* input, bool value) {
    return input == nullptr ? absl::OkStatus()
                            : AddValue(*input, static_cast<uint8_t>(value ? 1 : 0));
  }

  absl::Status AddNumber(const InputSpec& input, absl::string_view field, const JsonValue& value) {
    switch (input.data_type) {
      case DataType::kFp32:
        return AddValue(input, static_cast<float>(value.GetDouble()));
      case DataType::kFp64:
        return AddValue(input, value.GetDouble());
      case DataType::kInt32:
        if (value.IsInt()) return AddValue(input, static_cast<int32_t>(value.GetInt()));
        break;
      case DataType::kInt64:
        if (value.IsInt64()) return AddValue(input, static_cast<int64_t>(value.GetInt64()));
        break;
      case DataType::kUint32:
        if (value.IsUint()) return AddValue(input, static_cast<uint32_t>(value.GetUint()));
        break;
      case DataType::kUint64:
        if (value.IsUint64()) return AddValue(input, static_cast<uint64_t>(value.GetUint64()));
        break;
      default:
        break;
    }
    return ShouldBe(field, absl::StrCat("a value of type ", DataTypeName(input.data_type),
                                        " for the input '", input.name, "'"));
  }

  const OpenAiRoute route_;
  const OpenAiModel& model_;
  const CompiledModel& config_;
  InferRequest* const request_;
  RequestBuffers* const buffers_;
  OpenAiSettings* const settings_;
  std::string sampling_text_;
  JsonWriter sampling_;  // into sampling_text_
  std::vector<absl::string_view> seen_;
  bool has_text_ = false;
  bool has_stream_options_ = false;
  bool has_max_tokens_ = false;
  bool echo_ = false;
  size_t top_logprobs_ = 0;
};

const char* PathOf(OpenAiRoute route) {
  switch (route) {
    case OpenAiRoute::kCompletions:
      return "/v1/completions";
    case OpenAiRoute::kChat:
      return "/v1/chat/completions";
    case OpenAiRoute::kEmbeddings:
      return "/v1/embeddings";
  }
  return "";
}

const char* WhatIsMissing(OpenAiRoute route) {
  switch (route) {
    case OpenAiRoute::kCompletions:
      return "it needs an input 'text_input' and an output 'text_output', both BYTES";
    case OpenAiRoute::kChat:
      return "it needs an input 'messages', or an input 'text_input' and the parameter "
             "'openai.chat_template', and an output 'text_output', all BYTES";
    case OpenAiRoute::kEmbeddings:
      return "it needs an input 'text_input' of type BYTES, the parameter 'openai.embeddings' that "
             "names an output of type FP32, and a single response";
  }
  return "";
}

}  // namespace

absl::StatusOr<std::string> OpenAiModelName(const JsonValue& body) {
  if (!body.IsObject()) {
    return absl::InvalidArgumentError("the body of the request should be a JSON object");
  }
  const JsonValue* const name = FindMember(body, "model");
  if (name == nullptr || !name->IsString() || name->GetStringLength() == 0) {
    return ShouldBe("model", "the name of a model");
  }
  RETURN_IF_ERROR(CheckLength("name of the model", TextOf(*name)));
  return std::string(TextOf(*name));
}

absl::Status ReadOpenAiRequest(OpenAiRoute route, const JsonValue& body, const OpenAiModel& model,
                               InferRequest* request, RequestBuffers* buffers,
                               OpenAiSettings* settings) {
  const bool served = route == OpenAiRoute::kCompletions ? model.completions
                      : route == OpenAiRoute::kChat      ? model.chat
                                                         : model.embeddings;
  if (!served) {
    return OpenAiFieldError(
        "model", absl::StrCat("model '", request->model()->config().name, "' is not served by ",
                              PathOf(route), ": ", WhatIsMissing(route)));
  }
  return OpenAiReader(route, model, request, buffers, settings).Read(body);
}

}  // namespace nereid
