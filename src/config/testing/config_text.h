// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests in config/: configurations and problems as text. Pure functions.
#ifndef NEREID_CONFIG_TESTING_CONFIG_TEXT_H_
#define NEREID_CONFIG_TESTING_CONFIG_TEXT_H_

#include <absl/functional/function_ref.h>
#include <absl/strings/string_view.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/parse.h"
#include "model_config.pb.h"

namespace nereid {

inline inference::ModelConfig ConfigFromText(absl::string_view text) {
  inference::ModelConfig config;
  EXPECT_EQ(ParseModelConfigText("config.pbtxt", text, &config), absl::OkStatus());
  return config;
}

using CheckFunction = absl::FunctionRef<void(const inference::ModelConfig&, Diagnostics*)>;

// What `check` reports about a configuration, as "<field>: <text>".
inline std::vector<std::string> ProblemsOf(CheckFunction check,
                                           const inference::ModelConfig& config) {
  Diagnostics diagnostics;
  check(config, &diagnostics);
  std::vector<std::string> problems;
  for (const Problem& problem : diagnostics.problems()) {
    EXPECT_NE(problem.hint, "");
    problems.push_back(problem.field + ": " + problem.text);
  }
  return problems;
}

inline std::vector<std::string> ProblemsOf(CheckFunction check, absl::string_view text) {
  return ProblemsOf(check, ConfigFromText(text));
}

}  // namespace nereid

#endif  // NEREID_CONFIG_TESTING_CONFIG_TEXT_H_
