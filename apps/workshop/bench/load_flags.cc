// SPDX-License-Identifier: Apache-2.0
#include "bench/load_flags.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <utility>

#include "options/command_flags.h"

namespace nereid {
namespace {

constexpr size_t kMostDims = 32;

std::vector<std::pair<std::string, bench::Arrivals>> ArrivalKinds() {
  return {{"constant", bench::Arrivals::kUniform},
          {"poisson", bench::Arrivals::kPoisson},
          {"bursty", bench::Arrivals::kBursty},
          {"step", bench::Arrivals::kStep}};
}

}  // namespace

Flag ArrivalsFlag(bench::Arrivals* to, std::string help) {
  std::string default_text;
  for (const auto& [word, kind] : ArrivalKinds()) {
    if (kind == *to) default_text = word;
  }
  return KindFlag("arrivals", to, ArrivalKinds(), std::move(default_text), std::move(help));
}

Flag ArrivalsFlag(std::optional<bench::Arrivals>* to, std::string default_text, std::string help) {
  return KindFlag("arrivals", to, ArrivalKinds(), std::move(default_text), std::move(help));
}

Flag InputFileFlag(std::map<std::string, std::string>* to) {
  Flag flag = {"input", "NAME:FILE", "",
               "this input from a .npy file, or the bytes of its tensor; may be repeated",
               [to](absl::string_view text) {
                 const std::pair<absl::string_view, absl::string_view> parts =
                     absl::StrSplit(text, absl::MaxSplits(':', 1));
                 if (parts.first.empty() || parts.second.empty()) {
                   return WrongValue("input", text, "NAME:FILE, the name of an input and a file");
                 }
                 (*to)[std::string(parts.first)] = std::string(parts.second);
                 return absl::OkStatus();
               }};
  flag.repeated = true;
  return flag;
}

Flag ShapeFlag(std::map<std::string, std::vector<int64_t>>* to, std::string help) {
  // Names may contain colons, dimensions do not.
  const auto set = [to](absl::string_view text) {
    const size_t colon = text.rfind(':');
    std::vector<int64_t> shape;
    bool good = colon != absl::string_view::npos && colon > 0;
    if (good) {
      for (const absl::string_view dim : absl::StrSplit(text.substr(colon + 1), ',')) {
        int64_t value = 0;
        good = good && absl::SimpleAtoi(dim, &value) && value >= 0 && shape.size() < kMostDims;
        shape.push_back(value);
      }
    }
    if (!good) return WrongValue("shape", text, "NAME:DIM,DIM,..., as in --shape=INPUT:3,224,224");
    (*to)[std::string(text.substr(0, colon))] = std::move(shape);
    return absl::OkStatus();
  };
  Flag flag = {"shape", "NAME:DIM,DIM", "", std::move(help), set};
  flag.repeated = true;
  return flag;
}

}  // namespace nereid
