// SPDX-License-Identifier: Apache-2.0
#include "bench/loadgen/answer.h"

#include <absl/status/statusor.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

absl::StatusOr<std::vector<float>> FromBytes(absl::string_view bytes) {
  if (bytes.size() % sizeof(float) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(bytes.size(), " bytes are no FP32 values"));
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

absl::StatusOr<std::vector<float>> FromJson(absl::string_view json) {
  static constexpr absl::string_view kData = "\"data\":[";
  const size_t begin = json.find(kData);
  const size_t end = begin == absl::string_view::npos ? begin : json.find(']', begin);
  if (end == absl::string_view::npos) return absl::DataLossError("the answer has no data");
  const absl::string_view list = json.substr(begin + kData.size(), end - begin - kData.size());
  std::vector<float> values;
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    float value = 0;
    if (!absl::SimpleAtof(absl::StripAsciiWhitespace(item), &value)) {
      return absl::DataLossError(absl::StrCat("no number: ", item));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

absl::StatusOr<Reference> Reference::Parse(absl::string_view bytes) {
  ASSIGN_OR_RETURN(std::vector<float> values, FromBytes(bytes));
  return Reference(std::move(values));
}

absl::Status Reference::Check(absl::string_view answer, AnswerForm form) const {
  ASSIGN_OR_RETURN(const std::vector<float> values,
                   form == AnswerForm::kBinary ? FromBytes(answer) : FromJson(answer));
  if (values.size() != values_.size()) {
    return absl::DataLossError(absl::StrCat(values.size(), " values, expected ", values_.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const float allowed = kTolerance * std::max(1.0f, std::abs(values_[i]));
    // Not written with `>`, so that a NaN counts as wrong too.
    if (!(std::abs(values[i] - values_[i]) <= allowed)) {
      return absl::DataLossError(
          absl::StrCat("value ", i, " is ", values[i], ", expected ", values_[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace nereid::bench
