// SPDX-License-Identifier: Apache-2.0
// Explains a model's configuration as it stands before its backend has seen it: every field with
// its value and, for fields that nobody wrote, the reason; and every problem with its place in the
// file. For people who check a repository; loading goes through load_config.h. Stateless; blocks on
// file I/O.
#ifndef NEREID_CONFIG_EXPLAIN_H_
#define NEREID_CONFIG_EXPLAIN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/load_config.h"
#include "config/parsed_config.h"

namespace nereid {

// One field of the configuration.
struct EffectiveField {
  std::string path;   // "input[0].dims[1]"
  std::string value;  // as written in config.pbtxt
  std::string why;    // empty: it is in the file

  friend bool operator==(const EffectiveField&, const EffectiveField&) = default;
};

struct ConfigProblem {
  std::string text;
  std::string field;  // may be empty
  std::string hint;   // may be empty
  std::string file;
  int line = 0;  // from 1; 0: no line in particular
};

struct ExplainedConfig {
  std::string file;  // the file that was read or is missing
  bool file_exists = false;
  std::vector<EffectiveField> fields;  // none if the file could not be read
  std::vector<ConfigProblem> problems;
  std::vector<std::string> notes;  // fields without effect here, fields the backend may complete
  std::optional<ParsedConfig> config;  // none if its text has errors
  // The line of a field in the file, from 1; 0: unknown.
  std::function<int(const std::string& field)> line_of = [](const std::string&) { return 0; };
};

// What decides where the instances of models of a backend run.
using RulesOfBackend = std::function<PlacementRules(const std::string& backend)>;

// `rules_of`: as a server on a machine with GPUs would have them; null: there are none.
ExplainedConfig ExplainModelConfig(const FileSystem& fs, const ConfigSource& source,
                                   const RulesOfBackend& rules_of = nullptr);

}  // namespace nereid

#endif  // NEREID_CONFIG_EXPLAIN_H_
