// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/infer_parameters.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

using inference::InferParameter;

constexpr char kReservedPrefix[] = "triton_";
constexpr char kEmptyFinalResponse[] = "triton_enable_empty_final_response";

absl::Status Invalid(absl::string_view text) { return absl::InvalidArgumentError(text); }

absl::Status WrongType(absl::string_view key, absl::string_view expected) {
  return Invalid(
      absl::StrCat("invalid value type for '", key, "' parameter, expected ", expected, "."));
}

absl::Status ReadSequenceId(const InferParameter& value, InferRequest* request) {
  switch (value.parameter_choice_case()) {
    case InferParameter::kInt64Param:
      request->set_correlation_id(CorrelationId(static_cast<uint64_t>(value.int64_param())));
      return absl::OkStatus();
    case InferParameter::kStringParam:
      if (value.string_param().size() > kMaxCorrelationIdLength) {
        return absl::UnimplementedError(absl::StrCat("string correlation ID cannot be longer than ",
                                                     kMaxCorrelationIdLength, " characters"));
      }
      request->set_correlation_id(CorrelationId(value.string_param()));
      return absl::OkStatus();
    default:
      return WrongType("sequence_id", "int64_param or string_param");
  }
}

absl::Status ReadFlag(absl::string_view key, uint32_t flag, const InferParameter& value,
                      InferRequest* request) {
  if (value.parameter_choice_case() != InferParameter::kBoolParam) {
    return WrongType(key, "bool_param");
  }
  if (value.bool_param()) request->set_flags(request->flags() | flag);
  return absl::OkStatus();
}

absl::Status ReadPriority(const InferParameter& value, InferRequest* request) {
  switch (value.parameter_choice_case()) {
    case InferParameter::kInt64Param:
      if (value.int64_param() < 0) {
        return Invalid("invalid value for 'priority', expected value >= 0.");
      }
      request->set_priority(static_cast<uint64_t>(value.int64_param()));
      return absl::OkStatus();
    case InferParameter::kUint64Param:
      request->set_priority(value.uint64_param());
      return absl::OkStatus();
    default:
      return WrongType("priority", "int64_param or uint64_param");
  }
}

absl::Status ReadTimeout(const InferParameter& value, InferRequest* request) {
  if (value.parameter_choice_case() != InferParameter::kInt64Param) {
    return WrongType("timeout", "int64_param");
  }
  if (value.int64_param() < 0) return Invalid("invalid value for 'timeout', expected value >= 0.");
  request->set_timeout_us(static_cast<uint64_t>(value.int64_param()));
  return absl::OkStatus();
}

absl::Status CheckReserved(const std::string& key, const InferParameter& value) {
  if (key != kEmptyFinalResponse) {
    return Invalid(
        absl::StrCat("parameter keys starting with '", kReservedPrefix,
                     "' are reserved for Triton usage. Only the following keys starting with '",
                     kReservedPrefix, "' are allowed: ", kEmptyFinalResponse));
  }
  // Only relevant for streams: a unary call has one response, which is the final one.
  if (value.parameter_choice_case() != InferParameter::kBoolParam) {
    return WrongType(key, "bool_param");
  }
  return absl::OkStatus();
}

absl::Status AddForModel(const std::string& key, const InferParameter& value,
                         InferRequest* request) {
  RETURN_IF_ERROR(CheckLength("name of a parameter", key));
  switch (value.parameter_choice_case()) {
    case InferParameter::kInt64Param:
      request->AddParameter({key, value.int64_param()});
      return absl::OkStatus();
    case InferParameter::kBoolParam:
      request->AddParameter({key, value.bool_param()});
      return absl::OkStatus();
    case InferParameter::kStringParam:
      RETURN_IF_ERROR(CheckLength(absl::StrCat("parameter '", key, "'"), value.string_param(),
                                  kMaxParameterBytes));
      request->AddParameter({key, value.string_param()});
      return absl::OkStatus();
    case InferParameter::kDoubleParam:
      request->AddParameter({key, value.double_param()});
      return absl::OkStatus();
    default:
      return WrongType(key, "int64_param, bool_param, or string_param");
  }
}

// Reads the number `key` into `out`, which is allowed only together with a region. False if it is
// not set.
absl::StatusOr<bool> ReadSharedMemoryNumber(const std::string& tensor, const char* key,
                                            bool has_region, const GrpcParameters& parameters,
                                            uint64_t* out) {
  const auto it = parameters.find(key);
  if (it == parameters.end()) return false;
  if (!has_region) {
    return Invalid(absl::StrCat("'", key,
                                "' can not be specified without 'shared_memory_region' parameter "
                                "for tensor '",
                                tensor, "'"));
  }
  if (it->second.parameter_choice_case() != InferParameter::kInt64Param) {
    return Invalid(absl::StrCat("invalid value type for '", key, "' parameter for tensor '", tensor,
                                "', expected int64_param."));
  }
  // A negative number is beyond the end of every region.
  *out = static_cast<uint64_t>(it->second.int64_param());
  return true;
}

}  // namespace

absl::Status ReadRequestParameters(const GrpcParameters& parameters, InferRequest* request) {
  RETURN_IF_ERROR(CheckParameterCount("the request", parameters.size()));
  for (const auto& [key, value] : parameters) {
    if (key == "sequence_id") {
      RETURN_IF_ERROR(ReadSequenceId(value, request));
    } else if (key == "sequence_start") {
      RETURN_IF_ERROR(ReadFlag(key, kRequestFlagSequenceStart, value, request));
    } else if (key == "sequence_end") {
      RETURN_IF_ERROR(ReadFlag(key, kRequestFlagSequenceEnd, value, request));
    } else if (key == "priority") {
      RETURN_IF_ERROR(ReadPriority(value, request));
    } else if (key == "timeout") {
      RETURN_IF_ERROR(ReadTimeout(value, request));
    } else if (absl::StartsWith(key, kReservedPrefix)) {
      RETURN_IF_ERROR(CheckReserved(key, value));
    } else {
      RETURN_IF_ERROR(AddForModel(key, value, request));
    }
  }
  return absl::OkStatus();
}

bool WantsEmptyFinalResponse(const GrpcParameters& parameters) {
  if (parameters.empty()) return false;
  const auto it = parameters.find(kEmptyFinalResponse);
  return it != parameters.end() && it->second.bool_param();
}

absl::StatusOr<std::optional<SharedMemoryRange>> SharedMemoryOf(const std::string& tensor,
                                                                const GrpcParameters& parameters) {
  if (parameters.empty()) return std::nullopt;
  SharedMemoryRange range;
  const auto it = parameters.find("shared_memory_region");
  const bool has_region = it != parameters.end();
  if (has_region) {
    if (it->second.parameter_choice_case() != InferParameter::kStringParam) {
      return Invalid(
          absl::StrCat("invalid value type for 'shared_memory_region' parameter for tensor '",
                       tensor, "', expected string_param."));
    }
    range.region = it->second.string_param();
  }
  RETURN_IF_ERROR(
      ReadSharedMemoryNumber(tensor, "shared_memory_offset", has_region, parameters, &range.offset)
          .status());
  ASSIGN_OR_RETURN(const bool has_size,
                   ReadSharedMemoryNumber(tensor, "shared_memory_byte_size", has_region, parameters,
                                          &range.byte_size));
  if (!has_region) return std::nullopt;
  if (!has_size) {
    return Invalid(absl::StrCat(
        "'shared_memory_byte_size' must be specified along with 'shared_memory_region' parameter "
        "for tensor '",
        tensor, "'"));
  }
  return range;
}

absl::StatusOr<uint64_t> ClassificationOf(const GrpcParameters& parameters) {
  if (parameters.empty()) return uint64_t{0};
  const auto it = parameters.find("classification");
  if (it == parameters.end()) return uint64_t{0};
  if (it->second.parameter_choice_case() != InferParameter::kInt64Param) {
    return Invalid("invalid value type for 'classification' parameter, expected int64_param");
  }
  if (it->second.int64_param() <= 0) {
    return Invalid("invalid value for 'classification' parameter, expected >= 0");
  }
  return static_cast<uint64_t>(it->second.int64_param());
}

}  // namespace nereid
