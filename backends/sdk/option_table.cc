// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/option_table.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>

#include "backends/sdk/error.h"
#include "plain/nearest.h"

namespace nereid_backend {
namespace {

using Level = OptionRemark::Level;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::vector<std::string_view> SplitChoices(std::string_view choices) {
  std::vector<std::string_view> parts;
  while (!choices.empty()) {
    parts.push_back(choices.substr(0, choices.find('|')));
    choices.remove_prefix(std::min(choices.size(), parts.back().size() + 1));
  }
  return parts;
}

bool IsChoice(std::string_view choices, std::string_view lower) {
  const std::vector<std::string_view> all = SplitChoices(choices);
  return std::find(all.begin(), all.end(), lower) != all.end();
}

// Nothing if `text` is no integer, or one that needs more than 64 bits.
std::optional<int64_t> IntegerOf(std::string_view text, bool may_go_on) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || (at != end && !may_go_on)) return std::nullopt;
  return value;
}

std::string Expected(const OptionSpec& spec) {
  std::string text;
  for (const std::string_view choice : SplitChoices(spec.choices)) {
    text += StrCat(text.empty() ? "" : ", ", "'", choice, "'");
  }
  switch (spec.kind) {
    case OptionKind::kBool:
      return "1 or 0, true or false, on or off, yes or no";
    case OptionKind::kThreads:
      return StrCat("an integer up to ", spec.most);
    case OptionKind::kInteger:
    case OptionKind::kLeadingInteger:
      return StrCat(text, text.empty() ? "" : ", or ", "an integer from ", spec.least, " to ",
                    spec.most);
    case OptionKind::kText:
      return StrCat("a text of ", spec.least, " bytes or more");
    case OptionKind::kChoice:
      break;
  }
  return SplitChoices(spec.choices).size() > 1 ? "one of " + text : text;
}

void Replace(std::string_view what, std::string_view by, std::string* text) {
  const size_t at = text->find(what);
  if (at != std::string::npos) text->replace(at, what.size(), by);
}

// What `name` would be if it were meant to be `spec`.
std::string MeantAs(const OptionSpec& spec, std::string_view name) {
  if (!spec.is_prefix()) return std::string(spec.name);
  const std::string_view prefix = spec.name.substr(0, spec.name.size() - 1);
  const size_t rest = name.find(prefix.back());
  return rest == std::string_view::npos ? "" : StrCat(prefix, name.substr(rest + 1));
}

// `pattern`: a name, or the beginning of names and '*'.
bool Matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

const OptionSpec* FindSpec(std::span<const OptionSpec> specs, std::string_view name) {
  const auto found = std::find_if(specs.begin(), specs.end(),
                                  [&](const OptionSpec& spec) { return Matches(spec.name, name); });
  return found == specs.end() ? nullptr : &*found;
}

bool IsRead(const OptionSpec& spec, std::string_view name) {
  return spec.read_names.empty() ||
         std::any_of(spec.read_names.begin(), spec.read_names.end(),
                     [&](std::string_view pattern) { return Matches(pattern, name); });
}

// Parameters that the server reads itself, and checks.
bool IsServers(std::string_view name) {
  return name.starts_with("nereid.") || name.starts_with("tfs.") || name.starts_with("openai.") ||
         name == "TRITON_BATCH_STRATEGY_PATH";
}

}  // namespace

// Reads options by one table. `what` is "parameter" or "setting", `owner` whose they are.
class OptionReader {
 public:
  OptionReader(std::span<const OptionSpec> specs, std::string what, std::string owner,
               OptionValues* values)
      : specs_(specs), what_(std::move(what)), owner_(std::move(owner)), values_(*values) {}

  // `model`: for texts; empty for settings.
  OptionRemark Take(std::string_view name, std::string_view value, std::string_view model) {
    const OptionSpec* const spec = FindSpec(specs_, name);
    if (spec == nullptr) {
      return Remark(Level::kWarning, name, StrCat("is unknown and has no effect", Advice(name)));
    }
    // Another name has the kind of the option that it stands for.
    const OptionSpec& kind = spec->stands_for.empty() ? *spec : *FindSpec(specs_, spec->stands_for);
    std::optional<OptionValues::Value> read = Read(kind, value);
    if (!read.has_value()) {
      return {Level::kError, std::string(name), Refusal(kind, name, value, model)};
    }
    if (!spec->no_effect.empty()) {
      return Remark(Level::kNote, name, StrCat("has no effect: ", spec->no_effect));
    }
    if (kind.kind == OptionKind::kThreads && std::get<int64_t>(*read) < 0) {
      return Remark(Level::kNote, name,
                    StrCat("is ", value, " and has no effect, as if not given"));
    }
    if (spec->is_prefix()) {
      values_.by_prefix_.emplace_back(name, value);
      if (!IsRead(*spec, name)) {
        return Remark(Level::kWarning, name,
                      StrCat("is passed on to ", spec->reader, ", which is not known to read it",
                             Advice(name)));
      }
    } else if (spec->stands_for.empty()) {
      values_.values_.insert_or_assign(std::string(name), *std::move(read));
    } else {
      // The option's own name counts if both are given.
      values_.values_.try_emplace(std::string(spec->stands_for), *std::move(read));
    }
    if (!spec->remark.empty()) return Remark(Level::kNote, name, std::string(spec->remark));
    return {Level::kTaken, std::string(name),
            StrCat("Configuring '", name, "' to '", value, "' for ", owner_)};
  }

  // The known name that is most like `name`, if less than a third of the longer one differs.
  std::string Nearest(std::string_view name) const {
    std::vector<std::string> meant;
    const std::string_view* listed = nullptr;
    for (const OptionSpec& spec : specs_) {
      if (spec.read_names.empty()) meant.push_back(MeantAs(spec, name));
      // Usually several entries of a table share one list.
      if (spec.read_names.data() == listed) continue;
      listed = spec.read_names.data();
      meant.insert(meant.end(), spec.read_names.begin(), spec.read_names.end());
    }
    return nereid::FewestEdits(name, meant);
  }

 private:
  std::string Advice(std::string_view name) const {
    const std::string nearest = Nearest(name);
    return nearest.empty() ? "" : StrCat(" (did you mean '", nearest, "'?)");
  }
  OptionRemark Remark(Level level, std::string_view name, const std::string& text) const {
    return {level, std::string(name), StrCat(owner_, ": ", what_, " '", name, "' ", text)};
  }

  static std::optional<OptionValues::Value> Read(const OptionSpec& spec, std::string_view text) {
    if (spec.kind == OptionKind::kText) {
      const bool long_enough = text.size() >= static_cast<size_t>(spec.least);
      return long_enough ? std::optional<OptionValues::Value>(std::string(text)) : std::nullopt;
    }
    const std::string lower = Lower(text);
    if (IsChoice(spec.choices, lower)) return lower;
    if (spec.kind == OptionKind::kChoice) return std::nullopt;
    if (spec.kind == OptionKind::kBool) {
      const std::optional<bool> value = BoolOf(text);
      return value ? std::optional<OptionValues::Value>(*value) : std::nullopt;
    }
    const std::optional<int64_t> value = IntegerOf(text, spec.kind == OptionKind::kLeadingInteger);
    const bool any_below = spec.kind == OptionKind::kThreads;
    if (!value || *value > spec.most || (*value < spec.least && !any_below)) return std::nullopt;
    return *value;
  }

  std::string Refusal(const OptionSpec& spec, std::string_view name, std::string_view value,
                      std::string_view model) const {
    if (spec.refusal.empty()) {
      const std::string subject = model.empty() ? StrCat("backend setting '", name, "'")
                                                : StrCat("parameter '", name, "' of ", owner_);
      return StrCat(subject, " must be ", Expected(spec), ", got '", value, "'");
    }
    std::string text(spec.refusal);
    Replace("{name}", name, &text);
    Replace("{model}", model, &text);
    Replace("{lower}", Lower(value), &text);
    Replace("{value}", value, &text);
    return text;
  }

  const std::span<const OptionSpec> specs_;
  const std::string what_;
  const std::string owner_;
  OptionValues& values_;
};

std::optional<bool> BoolOf(std::string_view text) {
  const std::string lower = Lower(text);
  if (lower == "1" || lower == "true" || lower == "on" || lower == "yes") return true;
  if (lower == "0" || lower == "false" || lower == "off" || lower == "no") return false;
  return std::nullopt;
}

const OptionValues::Value* OptionValues::Find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return &found->second;
  if (FindSpec(specs_, name) != nullptr || FindSpec(kServerSettings, name) != nullptr) {
    return nullptr;
  }
  throw std::logic_error(StrCat("the option '", name, "' is in no table"));
}

std::optional<int64_t> OptionValues::Integer(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr || !std::holds_alternative<int64_t>(*value)) return std::nullopt;
  return std::get<int64_t>(*value);
}

std::optional<bool> OptionValues::Bool(std::string_view name) const {
  const Value* const value = Find(name);
  return value == nullptr ? std::nullopt : std::optional<bool>(std::get<bool>(*value));
}

std::optional<std::string> OptionValues::Text(std::string_view name) const {
  const Value* const value = Find(name);
  if (value == nullptr || !std::holds_alternative<std::string>(*value)) return std::nullopt;
  return std::get<std::string>(*value);
}

std::vector<OptionRemark> ExamineParameters(const BackendOptions& options, std::string_view model,
                                            const GivenOptions& given, OptionValues* values) {
  OptionReader reader(options.parameters, "parameter", StrCat("model '", model, "'"), values);
  std::vector<OptionRemark> remarks;
  for (const auto& [name, value] : given) {
    if (IsServers(name)) continue;
    OptionRemark remark = reader.Take(name, value, model);
    const bool models_own = options.models_read_parameters && remark.level == Level::kWarning &&
                            reader.Nearest(name).empty();
    if (!models_own) remarks.push_back(std::move(remark));
  }
  return remarks;
}

std::vector<OptionRemark> ExamineSettings(const BackendOptions& options, std::string_view backend,
                                          const GivenOptions& given, OptionValues* values) {
  std::vector<OptionSpec> specs(options.settings.begin(), options.settings.end());
  specs.insert(specs.end(), std::begin(kServerSettings), std::end(kServerSettings));
  OptionReader reader(specs, "setting", StrCat("backend '", backend, "'"), values);
  std::vector<OptionRemark> remarks;
  for (const auto& [name, value] : given) {
    remarks.push_back(reader.Take(name, value, ""));
  }
  return remarks;
}

}  // namespace nereid_backend
