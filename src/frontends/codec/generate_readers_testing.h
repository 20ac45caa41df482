// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers: reads one generate body with both readers and compares the requests.
#ifndef NEREID_FRONTENDS_CODEC_GENERATE_READERS_TESTING_H_
#define NEREID_FRONTENDS_CODEC_GENERATE_READERS_TESTING_H_

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <cstring>
#include <memory>
#include <string>

#include "frontends/codec/generate_request_reader.h"
#include "infer/serving_model.h"

namespace nereid::codec_testing {

// `json` is followed by kJsonPadding readable bytes. Thread-compatible.
class BothGenerateReaders {
 public:
  BothGenerateReaders(absl::string_view json, const RequestLimits& limits,
                      const std::shared_ptr<ServingModel>& model)
      : request_(model, -1),
        fast_read_(
            ReadGenerateFast(json, limits, request_.model()->config(), &fast_buffers_, &fast_)),
        careful_status_(ReadGenerateCarefully(json, limits, &request_, &careful_buffers_,
                                              &careful_non_finite_)) {}

  bool fast_read() const { return fast_read_; }
  const absl::Status& careful_status() const { return careful_status_; }

  // Empty unless the fast reader accepts a body that the careful one refuses, or reads it
  // differently. A number like 0e999 is an exception: the careful reader looks only at the
  // exponent.
  std::string Difference() const {
    if (!fast_read_) return "";
    if (!careful_status_.ok()) {
      const bool exponent =
          careful_status_.message().find("Number too big") != absl::string_view::npos;
      return exponent ? "" : std::string(careful_status_.message());
    }
    if (fast_.id != request_.id()) return "id";
    if (fast_.outputs.non_finite != careful_non_finite_) return "numbers that are not finite";
    if (fast_.parameters.size() != request_.parameters().size()) return "number of parameters";
    for (size_t i = 0; i < fast_.parameters.size(); ++i) {
      const Parameter &a = fast_.parameters[i], &b = request_.parameters()[i];
      if (a.name != b.name || a.value != b.value) return absl::StrCat("parameter ", a.name);
    }
    if (fast_.inputs.size() != request_.inputs().size()) return "number of inputs";
    for (size_t i = 0; i < fast_.inputs.size(); ++i) {
      const V2Input& a = fast_.inputs[i];
      const InferInput& b = request_.inputs()[i];
      const bool same = a.name == b.name() && a.data_type == b.data_type() &&
                        a.shape == b.sent_shape() && a.byte_size == b.byte_size();
      if (!same) return absl::StrCat("input ", a.name);
      if (a.byte_size > 0 && !SameElements(a, b.buffers()[0].base)) {
        return absl::StrCat("elements of ", a.name);
      }
    }
    return "";
  }

 private:
  // The number -0, which is written as an integer, is 0.0 for one reader and -0.0 for the other.
  static bool SameElements(const V2Input& input, const void* careful) {
    if (input.data_type == DataType::kFp32) return SameNumbers<float>(input, careful);
    if (input.data_type == DataType::kFp64) return SameNumbers<double>(input, careful);
    return std::memcmp(input.bytes, careful, input.byte_size) == 0;
  }

  template <typename T>
  static bool SameNumbers(const V2Input& input, const void* careful) {
    for (size_t at = 0; at < input.byte_size; at += sizeof(T)) {
      T left, right;
      std::memcpy(&left, input.bytes + at, sizeof(T));
      std::memcpy(&right, static_cast<const char*>(careful) + at, sizeof(T));
      if (left != right) return false;
    }
    return true;
  }

  RequestBuffers fast_buffers_, careful_buffers_;
  V2Document fast_;
  NonFinite careful_non_finite_ = NonFinite::kLiteral;
  InferRequest request_;
  const bool fast_read_;
  const absl::Status careful_status_;
};

}  // namespace nereid::codec_testing

#endif  // NEREID_FRONTENDS_CODEC_GENERATE_READERS_TESTING_H_
