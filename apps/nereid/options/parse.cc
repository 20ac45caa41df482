// SPDX-License-Identifier: Apache-2.0
#include "options/parse.h"

#include <absl/algorithm/container.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <ostream>

#include "base/status_macros.h"
#include "plain/nearest.h"

namespace nereid {
namespace {

constexpr int kWrong = 2;

enum class Grammar { kServer, kCommand };

std::vector<const Flag*> AllOf(const std::vector<FlagGroup>& table) {
  std::vector<const Flag*> flags;
  for (const FlagGroup& group : table) {
    for (const Flag& flag : group.flags) flags.push_back(&flag);
  }
  return flags;
}

absl::Status Unknown(const std::vector<const Flag*>& flags, absl::string_view name) {
  std::vector<std::string> names;
  for (const Flag* flag : flags) names.push_back(flag->name);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown option --", name, DidYouMean(names, "--", name)));
}

absl::StatusOr<const Flag*> FindFlag(const std::vector<const Flag*>& flags, absl::string_view name,
                                     Grammar grammar) {
  std::vector<const Flag*> candidates;
  for (const Flag* flag : flags) {
    if (flag->name == name || absl::c_linear_search(flag->aliases, name)) return flag;
    if (absl::StartsWith(flag->name, name)) candidates.push_back(flag);
  }
  if (grammar == Grammar::kCommand || candidates.empty()) return Unknown(flags, name);
  if (candidates.size() == 1) return candidates[0];
  std::string names;
  for (const Flag* flag : candidates) absl::StrAppend(&names, " --", flag->name);
  return absl::InvalidArgumentError(
      absl::StrCat("option --", name, " is ambiguous; it may mean:", names));
}

// One pass over a command line.
class LineParser {
 public:
  LineParser(std::vector<const Flag*> flags, const std::vector<std::string>& args, Grammar grammar)
      : flags_(std::move(flags)), args_(args), grammar_(grammar) {}

  absl::StatusOr<ParsedLine> Parse() {
    for (at_ = 0; at_ < args_.size(); ++at_) {
      const absl::string_view word = args_[at_];
      if (absl::StartsWith(word, "--") && word.size() > 2) {
        RETURN_IF_ERROR(TakeOption(word.substr(2)));
      } else if (absl::StartsWith(word, "-") && word.size() > 1) {
        return absl::InvalidArgumentError(absl::StrCat("unknown option ", word));
      } else {
        line_.arguments.emplace_back(word);
      }
    }
    return std::move(line_);
  }

 private:
  absl::Status TakeOption(absl::string_view word) {
    const size_t equals = word.find('=');
    ASSIGN_OR_RETURN(const Flag* const flag, FindFlag(flags_, word.substr(0, equals), grammar_));
    line_.names.emplace(flag->name);
    if (equals != absl::string_view::npos) {
      if (flag->argument.empty()) {
        return absl::InvalidArgumentError(absl::StrCat("--", flag->name, " takes no value"));
      }
      return Set(*flag, word.substr(equals + 1));
    }
    if (flag->argument.empty() || flag->value_optional) return Set(*flag, "");
    const bool more = at_ + 1 < args_.size();
    if (more && (grammar_ == Grammar::kServer || !absl::StartsWith(args_[at_ + 1], "--"))) {
      return Set(*flag, args_[++at_]);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag->name, " needs a value: --", flag->name, "=", flag->argument));
  }

  absl::Status Set(const Flag& flag, absl::string_view value) const {
    const absl::Status status = flag.set(value);
    return status.ok() || grammar_ == Grammar::kCommand ? status : BadOption(flag.name, status);
  }

  const std::vector<const Flag*> flags_;
  const std::vector<std::string>& args_;
  const Grammar grammar_;
  size_t at_ = 0;
  ParsedLine line_;
};

}  // namespace

Flag HelpFlag() {
  return {"help", "", "", "print this text and exit",
          [](absl::string_view) { return absl::OkStatus(); }};
}

absl::Status BadOption(absl::string_view name, const absl::Status& status) {
  // Some options name the part of theirs that is wrong.
  constexpr char kBegin[] = "Bad option: \"--";
  if (absl::StartsWith(status.message(), kBegin)) return status;
  return absl::InvalidArgumentError(absl::StrCat(kBegin, name, "\".\n", status.message()));
}

absl::StatusOr<ParsedLine> ParseServerLine(const std::vector<FlagGroup>& table,
                                           const std::vector<std::string>& args) {
  return LineParser(AllOf(table), args, Grammar::kServer).Parse();
}

absl::Status ParseCommandArguments(const CommandTable& table,
                                   const std::vector<std::string>& args) {
  const Flag help = HelpFlag();
  std::vector<const Flag*> flags = {&help};
  for (const Flag& flag : table.flags) flags.push_back(&flag);
  ASSIGN_OR_RETURN(const ParsedLine line,
                   LineParser(std::move(flags), args, Grammar::kCommand).Parse());
  const CommandArgument& argument = table.argument;
  for (const std::string& word : line.arguments) {
    if (argument.set == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word, "' is not an option: every option begins with --"));
    }
    if (!argument.repeated && &word != &line.arguments[0]) {
      return absl::InvalidArgumentError(
          absl::StrCat("one ", argument.name, " at a time, not also ", word));
    }
    RETURN_IF_ERROR(argument.set(word));
  }
  return absl::OkStatus();
}

int WrongCommandLine(absl::string_view command, const absl::Status& status, std::ostream& err) {
  err << "nereid " << command << ": " << status.message() << "\n`nereid " << command
      << " --help` lists the options.\n";
  return kWrong;
}

bool AsksForHelp(const std::vector<std::string>& args) {
  return absl::c_linear_search(args, "--help") || absl::c_linear_search(args, "-h");
}

std::string NearestName(absl::Span<const std::string> names, absl::string_view name) {
  for (const std::string& known : names) {
    if (name.size() > 1 && absl::StartsWith(known, name)) return known;
  }
  if (name.size() > kLongestMisspelt) return "";
  std::string nearest;
  size_t nearest_distance = name.size() / 2 + 2;  // a larger distance is no help
  for (const std::string& known : names) {
    const size_t distance = EditDistance({name.data(), name.size()}, known);
    if (distance >= nearest_distance) continue;
    nearest = known;
    nearest_distance = distance;
  }
  return nearest;
}

std::string DidYouMean(absl::Span<const std::string> names, absl::string_view prefix,
                       absl::string_view name) {
  const std::string nearest = NearestName(names, name);
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", prefix, nearest, "?");
}

}  // namespace nereid
