// SPDX-License-Identifier: Apache-2.0
// Checks model repositories without loading anything: shows every effective configuration, and
// everything that would keep a model from being served. Stateless; blocks on file I/O.
#ifndef NEREID_LIFECYCLE_REPOSITORY_CHECK_H_
#define NEREID_LIFECYCLE_REPOSITORY_CHECK_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/export.h"
#include "config/explain.h"
#include "filesystem/file_system.h"
#include "repository/snapshot.h"

namespace nereid {

struct CheckedModel {
  std::string name;
  std::string directory;
  std::vector<int64_t> versions;        // that would be served
  std::vector<EffectiveField> fields;   // see config/explain.h
  std::vector<ConfigProblem> problems;  // empty: no problem was found
  std::vector<ConfigProblem> warnings;  // what the model is served without
  std::vector<std::string> notes;
  std::string missing_backend;  // its name, if it was looked for in vain but need not be here
};

// What there is to say about a parameter of a model.
struct ParameterRemark {
  enum class Level {
    kNote,
    kWarning,
    kProblem,  // it keeps the model from being served
  };
  Level level;
  std::string parameter;
  std::string text;
};
// What `backend` says about the parameters of `model`; nothing if it is not known.
using ParameterCheck = std::function<std::vector<ParameterRemark>(
    const std::string& backend, const std::string& model,
    const std::map<std::string, std::string>& parameters)>;

struct CheckOptions {
  RepositoryLayout layout;
  std::string model_config_name;
  bool auto_complete_config = true;
  std::string backend_directory;    // where backends are looked for; empty: nowhere
  bool backends_required = false;   // a missing backend is a problem
  ParameterCheck check_parameters;  // may be empty
  int gpus = 0;                     // of the machine that is to serve, numbered from 0
  uint64_t memory_budget = 0;       // of a server that loads models on demand; 0: it has none
};

// The models in the order of their names. An error of the file system if a repository cannot be
// read.
NEREID_API absl::StatusOr<std::vector<CheckedModel>> CheckRepositories(const FileSystem& fs,
                                                                       const CheckOptions& options);

// For people: each model with its fields and problems, then a summary line, which names the models
// with problems and the backends that are missing. Fields that nobody
// wrote are marked with the reason why they are there. Problems and warnings read
// "<file>:<line>: <text>".
NEREID_API std::string ToText(const std::vector<CheckedModel>& models);
// For programs: {"models":[...],"problems":<how many>,"warnings":<how many>}.
NEREID_API std::string ToJson(const std::vector<CheckedModel>& models);
// The same of problems and warnings alone, without the configurations:
// {"checked":<models>,"problems":[{"model","kind":"problem"|"warning","text"}]}.
NEREID_API std::string ProblemsToJson(const std::vector<CheckedModel>& models);
NEREID_API size_t CountProblems(const std::vector<CheckedModel>& models);
NEREID_API size_t CountWarnings(const std::vector<CheckedModel>& models);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_REPOSITORY_CHECK_H_
