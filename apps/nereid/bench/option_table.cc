#include "bench/option_table.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <optional>

namespace nereid::bench {
namespace {

constexpr size_t kMostDims = 32;
constexpr char kConfigFile[] = "config.pbtxt";

}  // namespace

absl::Status Wrong(absl::string_view option, absl::string_view text, absl::string_view right) {
  return absl::InvalidArgumentError(absl::StrCat(option, " is '", text, "'; it has to be ", right));
}

Setter File(const char* option, std::string* to) {
  return [=](absl::string_view text) {
    *to = std::string(text);
    return text.empty() ? Wrong(option, text, "the name of a file") : absl::OkStatus();
  };
}

Setter ConfigFile(const char* option, std::string* to) {
  return [=](absl::string_view text) {
    *to = std::string(text);
    const absl::string_view name = text.substr(text.rfind('/') + 1);
    if (name == kConfigFile) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(option, " must name a file ", kConfigFile, ", not ", text));
  };
}

Setter Name(const char* option, std::string* to) {
  return [=](absl::string_view text) {
    *to = std::string(text);
    return text.empty() ? Wrong(option, text, "a name") : absl::OkStatus();
  };
}

Setter Flag(bool* to) {
  return [=](absl::string_view) {
    *to = true;
    return absl::OkStatus();
  };
}

Setter Url(ProbeTarget* to) {
  return [=](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(*to, ParseProbeUrl(std::string(text)));
    return absl::OkStatus();
  };
}

Setter Arriving(Arrivals* to) {
  return [=](absl::string_view text) {
    const std::optional<Arrivals> found = ParseArrivals(text == "constant" ? "uniform" : text);
    if (!found.has_value() || text == "uniform") {
      return Wrong("--arrivals", text, "constant, poisson, bursty or step");
    }
    *to = *found;
    return absl::OkStatus();
  };
}

Setter Header(std::vector<std::pair<std::string, std::string>>* to) {
  return [=](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(to->emplace_back(), ParseHeaderOption(text));
    return absl::OkStatus();
  };
}

Setter InputFile(std::map<std::string, std::string>* to) {
  return [=](absl::string_view text) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits(':', 1));
    if (parts.first.empty() || parts.second.empty()) {
      return Wrong("--input", text, "NAME:FILE, the name of an input and a file");
    }
    (*to)[std::string(parts.first)] = std::string(parts.second);
    return absl::OkStatus();
  };
}

// Names may contain colons, dimensions do not.
Setter InputShape(std::map<std::string, std::vector<int64_t>>* to) {
  return [=](absl::string_view text) {
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
    if (!good) return Wrong("--shape", text, "NAME:DIM,DIM,..., as in --shape=INPUT:3,224,224");
    (*to)[std::string(text.substr(0, colon))] = std::move(shape);
    return absl::OkStatus();
  };
}

absl::Status SetOption(const std::vector<Option>& options, const std::string& arg) {
  absl::string_view rest = arg;
  if (!absl::ConsumePrefix(&rest, "--")) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", arg, "' is no option; every option begins with --"));
  }
  const size_t equals = std::min(rest.find('='), rest.size());
  const auto option = std::find_if(options.begin(), options.end(), [&](const Option& known) {
    return known.name == rest.substr(0, equals);
  });
  if (option == options.end()) {
    return absl::InvalidArgumentError(absl::StrCat("unknown option --", rest.substr(0, equals)));
  }
  const bool has_value = equals < rest.size();
  const absl::string_view kind = option->value;
  if (has_value && kind.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--", option->name, " takes no value"));
  }
  if (!has_value && kind == "VALUE") {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option->name, " needs a value: --", option->name, "=..."));
  }
  return option->set(has_value ? rest.substr(equals + 1) : "");
}

}  // namespace nereid::bench
