// The options of a command as a table: their names, and what each value is for. Functions and plain
// values.
#ifndef NEREID_APPS_NEREID_BENCH_OPTION_TABLE_H_
#define NEREID_APPS_NEREID_BENCH_OPTION_TABLE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/loadgen/arrivals.h"
#include "base/status_macros.h"
#include "bench/value_list.h"
#include "probe/probe_request.h"

namespace nereid::bench {

// Takes the value of an option. INVALID_ARGUMENT with one sentence that names the option.
using Setter = std::function<absl::Status(absl::string_view value)>;

struct Option {
  const char* name;
  // "": takes no value; "[": the value may be left out; "VALUE": it may not.
  const char* value;
  Setter set;
};

// Takes one argument, "--NAME=VALUE". INVALID_ARGUMENT also if there is no such option.
absl::Status SetOption(const std::vector<Option>& options, const std::string& arg);

// "--OPTION is 'TEXT'; it has to be RIGHT".
absl::Status Wrong(absl::string_view option, absl::string_view text, absl::string_view right);

// The usual kinds. What `to` points to outlives the setter; `option` is the name for errors.
template <typename T>
Setter Number(const char* option, T* to, Bounds bounds) {
  return [=](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(const double value, ParseNumber(option, text, bounds));
    *to = static_cast<T>(value);
    return absl::OkStatus();
  };
}

template <typename T>
Setter Whole(const char* option, T* to, double least, double most) {
  return Number(option, to, {least, most, true});
}

template <typename T>
Setter List(const char* option, std::vector<T>* to, Bounds bounds) {
  return [=](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<double> values, ParseValueList(option, text, bounds));
    to->assign(values.begin(), values.end());
    return absl::OkStatus();
  };
}

// Any text but the empty one.
Setter Name(const char* option, std::string* to);
Setter File(const char* option, std::string* to);
// A file config.pbtxt.
Setter ConfigFile(const char* option, std::string* to);
Setter Flag(bool* to);
Setter Url(ProbeTarget* to);
// --arrivals
Setter Arriving(Arrivals* to);
// NAME:VALUE; may be repeated.
Setter Header(std::vector<std::pair<std::string, std::string>>* to);
// NAME:FILE; may be repeated.
Setter InputFile(std::map<std::string, std::string>* to);
// NAME:1,3,224,224; may be repeated.
Setter InputShape(std::map<std::string, std::vector<int64_t>>* to);

}  // namespace nereid::bench

#endif  // NEREID_APPS_NEREID_BENCH_OPTION_TABLE_H_
