// SPDX-License-Identifier: Apache-2.0
// FakeRepository: a repository in memory with models of libtriton_fake.so, and a LoadContext to
// load them. Thread-compatible.
#ifndef NEREID_LIFECYCLE_TESTING_FAKE_REPOSITORY_H_
#define NEREID_LIFECYCLE_TESTING_FAKE_REPOSITORY_H_

#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_registry.h"
#include "backend_host/testing/fake_backend.h"
#include "backend_host/testing/test_config.h"
#include "filesystem/fake_file_system.h"
#include "lifecycle/model/loaded_model.h"

namespace nereid {

class FakeRepository {
 public:
  FakeRepository() { fs.MakeDirectory("/models"); }

  // Creates or replaces a model; `more` is config.pbtxt text.
  void Write(const std::string& name, const std::vector<int64_t>& versions = {1},
             const std::string& more = "", const std::string& repository = "/models") {
    const std::string dir = repository + "/" + name;
    fs.WriteFile(dir + "/config.pbtxt", TestConfigText("fake", more));
    for (const int64_t version : versions) fs.MakeDirectory(dir + "/" + std::to_string(version));
  }

  // The configuration text of a step of an ensemble, for a model that Write has made.
  static std::string Step(const std::string& model, const std::string& from, const std::string& to,
                          int64_t version = -1) {
    return "step { model_name: '" + model + "' model_version: " + std::to_string(version) +
           " input_map { key: 'in' value: '" + from + "' } output_map { key: 'out' value: '" + to +
           "' } } ";
  }
  // Creates an ensemble with the input "in" and the output "out".
  void WriteEnsemble(const std::string& name, const std::string& steps,
                     const std::string& more = "") {
    const std::string dir = "/models/" + name;
    fs.WriteFile(dir + "/config.pbtxt",
                 "platform: 'ensemble' "
                 "input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] } "
                 "output { name: 'out' data_type: TYPE_INT8 dims: [ 1 ] } "
                 "ensemble_scheduling { " +
                     steps + " } " + more);
    fs.MakeDirectory(dir + "/1");
  }

  LoadContext Context() {
    LoadContext context;
    context.file_system = &fs;
    context.backends = backends.get();
    context.clock = &clock;
    context.rate_limiter = rate_limiter.get();
    context.host_policies = &host_policies;
    return context;
  }

  FakeBackend backend;
  FakeFileSystem fs;
  FakeClock clock;
  std::unique_ptr<RateLimiter> rate_limiter;  // null: off
  HostPolicySettings host_policies;
  std::unique_ptr<BackendRegistry> backends = std::make_unique<BackendRegistry>(
      BackendRegistry::Options{.directory = NEREID_TEST_PLUGINS, .settings = {}});
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_TESTING_FAKE_REPOSITORY_H_
