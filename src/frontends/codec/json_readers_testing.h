// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers: reads one JSON text with both readers and compares the results.
#ifndef NEREID_FRONTENDS_CODEC_JSON_READERS_TESTING_H_
#define NEREID_FRONTENDS_CODEC_JSON_READERS_TESTING_H_

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "frontends/codec/careful_json_reader.h"
#include "frontends/codec/fast_json_reader.h"

namespace nereid::codec_testing {

// `json` is followed by kJsonPadding readable bytes. Thread-compatible.
class BothReaders {
 public:
  // The documents keep the first `kept` inputs and the first `kept` outputs.
  BothReaders(absl::string_view json, uint64_t max_tensor_bytes, size_t kept = 1000000)
      : fast_(Keeping(kept)),
        careful_(Keeping(kept)),
        fast_read_(ReadJsonFast(json, RequestLimits{max_tensor_bytes}, &fast_buffers_, &fast_)),
        careful_status_(ReadJsonCarefully(json, RequestLimits{max_tensor_bytes}, &careful_buffers_,
                                          &careful_)) {}

  // True unless the fast reader accepts a text that the careful one refuses, or reads it
  // differently. A number like 0e999 is an exception: the careful reader looks only at the
  // exponent.
  bool Agree() const {
    if (!fast_read_) return true;
    if (careful_status_.ok()) return Difference().empty();
    return careful_status_.message().find("Number too big") != absl::string_view::npos;
  }

  bool fast_read() const { return fast_read_; }
  const V2Document& fast() const { return fast_; }
  const absl::Status& careful_status() const { return careful_status_; }

  // Names the first difference between the documents; empty if they are equal. REQUIRES: both were
  // read.
  std::string Difference() const {
    if (fast_.id != careful_.id) return "id";
    if (fast_.sequence_start != careful_.sequence_start) return "sequence_start";
    if (fast_.sequence_end != careful_.sequence_end) return "sequence_end";
    if (!(fast_.correlation_id == careful_.correlation_id)) return "sequence_id";
    if (fast_.priority != careful_.priority) return "priority";
    if (fast_.timeout_us != careful_.timeout_us) return "timeout";
    std::string difference = ParameterDifference();
    if (difference.empty()) difference = InputDifference();
    if (difference.empty()) difference = OutputDifference();
    return difference;
  }

 private:
  static V2Document Keeping(size_t kept) {
    V2Document document;
    document.kept_inputs = kept;
    document.kept_outputs = kept;
    return document;
  }

  std::string ParameterDifference() const {
    if (fast_.parameters.size() != careful_.parameters.size()) return "number of parameters";
    for (size_t i = 0; i < fast_.parameters.size(); ++i) {
      const Parameter &a = fast_.parameters[i], &b = careful_.parameters[i];
      if (a.name != b.name || a.value != b.value) return absl::StrCat("parameter ", a.name);
    }
    return "";
  }

  std::string InputDifference() const {
    if (fast_.inputs.size() != careful_.inputs.size()) return "number of inputs";
    if (fast_.unkept_inputs != careful_.unkept_inputs) return "number of unkept inputs";
    for (size_t i = 0; i < fast_.inputs.size(); ++i) {
      const V2Input &a = fast_.inputs[i], &b = careful_.inputs[i];
      const bool same_members = a.name == b.name && a.data_type == b.data_type &&
                                a.shape == b.shape && a.binary == b.binary &&
                                a.byte_size == b.byte_size;
      if (!same_members) return absl::StrCat("input ", i);
      if (!a.binary && !SameElements(a, b)) return absl::StrCat("data of input ", i);
    }
    return "";
  }

  // The number -0, which is written as an integer, is 0.0 for one reader and -0.0 for the other.
  static bool SameElements(const V2Input& a, const V2Input& b) {
    if (a.data_type == DataType::kFp32) return SameNumbers<float>(a, b);
    if (a.data_type == DataType::kFp64) return SameNumbers<double>(a, b);
    return a.byte_size == 0 || std::memcmp(a.bytes, b.bytes, a.byte_size) == 0;
  }

  template <typename T>
  static bool SameNumbers(const V2Input& a, const V2Input& b) {
    for (size_t at = 0; at < a.byte_size; at += sizeof(T)) {
      T left, right;
      std::memcpy(&left, a.bytes + at, sizeof(T));
      std::memcpy(&right, b.bytes + at, sizeof(T));
      if (left != right) return false;
    }
    return true;
  }

  std::string OutputDifference() const {
    if (fast_.outputs.fallback.binary != careful_.outputs.fallback.binary) return "output default";
    if (fast_.outputs.non_finite != careful_.outputs.non_finite) return "non-finite";
    if (fast_.outputs.named.size() != careful_.outputs.named.size()) return "number of outputs";
    for (size_t i = 0; i < fast_.outputs.named.size(); ++i) {
      const OutputFormats::Named &a = fast_.outputs.named[i], &b = careful_.outputs.named[i];
      if (a.name != b.name || a.format.binary != b.format.binary ||
          a.format.classification != b.format.classification) {
        return absl::StrCat("output ", i);
      }
    }
    return "";
  }

  RequestBuffers fast_buffers_, careful_buffers_;
  V2Document fast_, careful_;
  const bool fast_read_;
  const absl::Status careful_status_;
};

}  // namespace nereid::codec_testing

#endif  // NEREID_FRONTENDS_CODEC_JSON_READERS_TESTING_H_
