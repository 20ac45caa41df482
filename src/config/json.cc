// SPDX-License-Identifier: Apache-2.0
#include "config/json.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/types/span.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "model_config.pb.h"

namespace nereid {
namespace {

// 64-bit fields that clients read as numbers. "*" stands for any key of a map.
constexpr absl::string_view kNumberFields[] = {
    "input.dims",
    "input.reshape.shape",
    "output.dims",
    "output.reshape.shape",
    "version_policy.specific.versions",
    "dynamic_batching.max_queue_delay_microseconds",
    "dynamic_batching.priority_levels",
    "dynamic_batching.default_priority_level",
    "dynamic_batching.default_queue_policy.default_timeout_microseconds",
    "dynamic_batching.priority_queue_policy.*.default_timeout_microseconds",
    "sequence_batching.max_sequence_idle_microseconds",
    "sequence_batching.oldest.max_queue_delay_microseconds",
    "sequence_batching.direct.max_queue_delay_microseconds",
    "sequence_batching.state.dims",
    "ensemble_scheduling.step.model_version",
    "model_warmup.inputs.*.dims",
};

bool Matches(absl::string_view pattern, absl::Span<const absl::string_view> path) {
  for (size_t i = 0; i < path.size(); ++i) {
    const size_t dot = pattern.find('.');
    const absl::string_view step = pattern.substr(0, dot);
    if (step != "*" && step != path[i]) return false;
    if (dot == absl::string_view::npos) return i + 1 == path.size();
    pattern.remove_prefix(dot + 1);
  }
  return false;
}

// Copies JSON text as protobuf prints it (valid, without white space) and takes the quotes off
// the numbers in kNumberFields. Lives for one text.
class NumberUnquoter {
 public:
  explicit NumberUnquoter(absl::string_view json) : json_(json) { out_.reserve(json.size()); }

  std::string Run() {
    while (at_ < json_.size()) {
      const char c = json_[at_];
      if (c == '"') {
        CopyString();
        continue;
      }
      if (c == '{') {
        path_.push_back("");
        in_object_.push_back(true);
      } else if (c == '[') {
        in_object_.push_back(false);
      } else if (c == '}') {
        path_.pop_back();
        in_object_.pop_back();
      } else if (c == ']') {
        in_object_.pop_back();
      }
      expect_key_ = c == '{' || (c == ',' && in_object_.back());
      out_.push_back(c);
      ++at_;
    }
    return std::move(out_);
  }

 private:
  void CopyString() {
    size_t end = at_ + 1;
    while (json_[end] != '"') end += json_[end] == '\\' ? 2 : 1;
    absl::string_view text = json_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    const absl::string_view content = text.substr(1, text.size() - 2);
    if (expect_key_) {
      path_.back() = content;
      expect_key_ = false;
    } else if (IsNumberField()) {
      text = content;
    }
    absl::StrAppend(&out_, text);
  }

  bool IsNumberField() const {
    return absl::c_any_of(kNumberFields,
                          [&](absl::string_view field) { return Matches(field, path_); });
  }

  const absl::string_view json_;
  size_t at_ = 0;
  std::string out_;
  std::vector<absl::string_view> path_;  // the current key of each open object
  std::vector<bool> in_object_;          // per open object or array: whether it is an object
  bool expect_key_ = false;
};

constexpr char kTypeUrlPrefix[] = "nereid";

// The type information needed by protobuf's JSON printer. Immutable, lives for the whole process.
google::protobuf::util::TypeResolver* ConfigTypes() {
  static auto* const kTypes = google::protobuf::util::NewTypeResolverForDescriptorPool(
      kTypeUrlPrefix, inference::ModelConfig::descriptor()->file()->pool());
  return kTypes;
}

std::string TypeUrl() {
  return absl::StrCat(kTypeUrlPrefix, "/", inference::ModelConfig::descriptor()->full_name());
}

// Maps in the order of their keys, so that equal configurations have equal JSON.
std::string ToBytes(const inference::ModelConfig& config) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    config.SerializeToCodedStream(&coded);
  }
  return bytes;
}

}  // namespace

absl::Status CheckConfigVersion(uint32_t config_version) {
  if (config_version == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("model configuration version ", config_version,
                                                 " not supported, supported versions are: 1"));
}

std::string ModelConfigToJson(const inference::ModelConfig& config) {
  if (config.ByteSizeLong() == 0) return "";
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails only for bytes that are not a message of that type.
  (void)google::protobuf::util::BinaryToJsonString(ConfigTypes(), TypeUrl(), ToBytes(config), &json,
                                                   options);
  return NumberUnquoter(json).Run();
}

absl::Status ModelConfigFromJson(absl::string_view json, inference::ModelConfig* config) {
  google::protobuf::util::JsonParseOptions options;
  options.case_insensitive_enum_parsing = true;
  options.ignore_unknown_fields = false;
  config->Clear();
  const auto status =
      google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, config, options);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::string_view(status.message().data(), status.message().size()));
}

absl::StatusOr<std::string> ModelConfigBytesFromJson(absl::string_view json) {
  inference::ModelConfig config;
  RETURN_IF_ERROR(ModelConfigFromJson(json, &config));
  return ToBytes(config);
}

}  // namespace nereid
