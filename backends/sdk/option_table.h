// SPDX-License-Identifier: Apache-2.0
// The parameters of a backend's models, and its own settings, as tables of constants: their names,
// what they may be, and what they do here. A backend reads what it is given by its tables
// (options.h); `nereid check` reads the same ones. Knows neither the server nor a runtime.
// Thread-compatible.
#ifndef NEREID_BACKENDS_SDK_OPTION_TABLE_H_
#define NEREID_BACKENDS_SDK_OPTION_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nereid_backend {

enum class OptionKind {
  kText,            // of `least` bytes or more
  kBool,            // 1/0, true/false, on/off, yes/no, in any case
  kInteger,         // from `least` to `most`, or one of `choices`
  kLeadingInteger,  // the same, and whatever follows the digits is ignored
  kThreads,         // an integer up to `most`; a negative one counts as not given
  kChoice,          // one of `choices`, in any case
};

// One parameter or setting. The functions below make them.
struct OptionSpec {
  std::string_view name;  // one that ends with '*' stands for all names that begin like it
  OptionKind kind = OptionKind::kText;
  int64_t least = 0;
  int64_t most = 0;
  std::string_view choices = "";  // in small letters: "auto|numa"
  // The error for other values, if the usual one does not serve; {name}, {model}, {value} and
  // {lower}, the value in small letters, are filled in.
  std::string_view refusal = "";
  std::string_view no_effect = "";   // why it has no effect here; empty: it has one
  std::string_view stands_for = "";  // the option of which this is another name
  std::string_view remark = "";      // for the log, where it is given
  // Of a name that ends with '*': who gets the options, and the names that it is known to read;
  // some of these may end with '*', too. Others are passed on all the same, with a warning. Empty:
  // all names are known.
  std::string_view reader = "";
  std::span<const std::string_view> read_names = {};

  constexpr bool is_prefix() const { return name.ends_with('*'); }
};

inline constexpr int64_t kMostThreads = 4096;

constexpr OptionSpec TextOption(std::string_view name) { return {.name = name}; }
constexpr OptionSpec NonEmptyOption(std::string_view name) { return {.name = name, .least = 1}; }
constexpr OptionSpec BoolOption(std::string_view name) {
  return {.name = name, .kind = OptionKind::kBool};
}
constexpr OptionSpec IntegerOption(std::string_view name, int64_t least, int64_t most) {
  return {.name = name, .kind = OptionKind::kInteger, .least = least, .most = most};
}
constexpr OptionSpec LeadingIntegerOption(std::string_view name, int64_t least) {
  return {.name = name, .kind = OptionKind::kLeadingInteger, .least = least, .most = INT64_MAX};
}
constexpr OptionSpec ThreadsOption(std::string_view name) {
  return {.name = name, .kind = OptionKind::kThreads, .most = kMostThreads};
}
constexpr OptionSpec ChoiceOption(std::string_view name, std::string_view choices) {
  return {.name = name, .kind = OptionKind::kChoice, .choices = choices};
}
constexpr OptionSpec OtherName(std::string_view name, std::string_view stands_for,
                               std::string_view remark) {
  return {.name = name, .stands_for = stands_for, .remark = remark};
}
// `spec`, and ...
constexpr OptionSpec WithChoices(OptionSpec spec, std::string_view choices) {
  spec.choices = choices;
  return spec;
}
constexpr OptionSpec WithoutEffect(OptionSpec spec, std::string_view why) {
  spec.no_effect = why;
  return spec;
}
constexpr OptionSpec RefusedAs(OptionSpec spec, std::string_view text) {
  spec.refusal = text;
  return spec;
}
constexpr OptionSpec PassedOn(OptionSpec spec, std::span<const std::string_view> read_names,
                              std::string_view reader) {
  spec.read_names = read_names;
  spec.reader = reader;
  return spec;
}
constexpr OptionSpec Remarked(OptionSpec spec, std::string_view remark) {
  spec.remark = remark;
  return spec;
}

// All that can be given to one backend. Settings that the server gives to every backend need no
// entry: kServerSettings.
struct BackendOptions {
  std::string_view backend;
  std::span<const OptionSpec> parameters;
  std::span<const OptionSpec> settings;
  // Its models are programs, which may read parameters of their own. An unknown parameter is
  // remarked upon only if its name resembles a known one.
  bool models_read_parameters = false;
};

inline constexpr OptionSpec kServerSettings[] = {
    TextOption("auto-complete-config"),
    TextOption("backend-directory"),
    IntegerOption("default-max-batch-size", 0, INT32_MAX),
    TextOption("min-compute-capability"),
};

// Values by name, as the table's kinds say. The names asked for must be in the table; asking for
// another one throws std::logic_error.
class OptionValues {
 public:
  explicit OptionValues(std::span<const OptionSpec> specs) : specs_(specs) {}
  OptionValues(OptionValues&&) = default;
  OptionValues& operator=(OptionValues&&) = default;

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // Nothing if the option is not given. In the first, nothing too if it is one of its choices.
  std::optional<int64_t> Integer(std::string_view name) const;
  std::optional<bool> Bool(std::string_view name) const;
  std::optional<std::string> Text(std::string_view name) const;  // a choice: in small letters
  // Those that an entry ending with '*' stands for, in the order in which they are given.
  const std::vector<std::pair<std::string, std::string>>& by_prefix() const { return by_prefix_; }

 private:
  friend class OptionReader;
  using Value = std::variant<std::string, bool, int64_t>;

  const Value* Find(std::string_view name) const;

  std::span<const OptionSpec> specs_;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::pair<std::string, std::string>> by_prefix_;
};

// What there is to say about one option that is given.
struct OptionRemark {
  enum class Level {
    kTaken,    // it has the effect that was asked for
    kNote,     // it is known, and has no effect here, or another name
    kWarning,  // it is unknown, to us or to whom it is passed on
    kError,    // it cannot be what it is
  };
  Level level;
  std::string option;
  std::string text;  // a sentence without a subject's capital: "model 'm': parameter 'x' ..."
};

// Name and value of all that is given.
using GivenOptions = std::vector<std::pair<std::string, std::string>>;

// Reads the parameters of `model`. Those that belong to the server ("nereid.*" and "tfs.*") are
// left out.
std::vector<OptionRemark> ExamineParameters(const BackendOptions& options, std::string_view model,
                                            const GivenOptions& given, OptionValues* values);
// Reads the settings of `backend`: another name than that of `options` if the backend runs it.
std::vector<OptionRemark> ExamineSettings(const BackendOptions& options, std::string_view backend,
                                          const GivenOptions& given, OptionValues* values);

// 1/0, true/false, on/off, yes/no in any case; nothing for any other text.
std::optional<bool> BoolOf(std::string_view text);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_OPTION_TABLE_H_
