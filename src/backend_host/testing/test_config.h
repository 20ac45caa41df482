// SPDX-License-Identifier: Apache-2.0
// Configurations of models that use the test backends, in the state after loading. Pure functions.
#ifndef NEREID_BACKEND_HOST_TESTING_TEST_CONFIG_H_
#define NEREID_BACKEND_HOST_TESTING_TEST_CONFIG_H_

#include <gtest/gtest.h>

#include <string>

#include "config/load_config.h"
#include "filesystem/fake_file_system.h"

namespace nereid {

// A model with one INT8 input and one INT8 output of one element. `more` is config.pbtxt text.
inline std::string TestConfigText(const std::string& backend, const std::string& more = "") {
  return "backend: \"" + backend + "\"\n" +
         "input { name: \"in\" data_type: TYPE_INT8 dims: [ 1 ] }\n"
         "output { name: \"out\" data_type: TYPE_INT8 dims: [ 1 ] }\n" +
         more + "\n";
}

// Normalised for a backend without preferences.
inline ParsedConfig MakeTestConfig(const std::string& name, const std::string& backend,
                                   const std::string& more = "") {
  FakeFileSystem fs;
  fs.WriteFile("/models/" + name + "/config.pbtxt", TestConfigText(backend, more));
  ConfigSource source;
  source.model_dir = "/models/" + name;
  source.expected_name = name;
  absl::StatusOr<ParsedConfig> config = LoadModelConfig(fs, source);
  EXPECT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->NormalizeInstanceGroups({}).ok());
  return *std::move(config);
}

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_TESTING_TEST_CONFIG_H_
