// What a model's configuration comes to before its backend has seen it, and why: every field with
// the reason of those that nobody wrote, and everything that is wrong with its place in the file.
// For people who check a repository; loading goes through load_config.h. Stateless; blocks on file
// I/O.
#ifndef NEREID_CONFIG_EXPLAIN_H_
#define NEREID_CONFIG_EXPLAIN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/load_config.h"
#include "config/parsed_config.h"

namespace nereid {

// One value of the configuration.
struct EffectiveField {
  std::string path;   // "input[0].dims[1]"
  std::string value;  // as config.pbtxt has it
  std::string why;    // empty: it stands in the file

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
  std::string file;  // that was read, or is missing
  bool file_exists = false;
  std::vector<EffectiveField> fields;  // none if the file could not be read
  std::vector<ConfigProblem> problems;
  std::vector<std::string> notes;      // what has no effect here, what the backend may complete
  std::optional<ParsedConfig> config;  // unless its text is wrong
  // The line of a field of the file, from 1; 0: none.
  std::function<int(const std::string& field)> line_of = [](const std::string&) { return 0; };
};

ExplainedConfig ExplainModelConfig(const FileSystem& fs, const ConfigSource& source);

}  // namespace nereid

#endif  // NEREID_CONFIG_EXPLAIN_H_
