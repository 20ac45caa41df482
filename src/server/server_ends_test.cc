// SPDX-License-Identifier: Apache-2.0
// The sources of a Server's models (files and repository agents) end with the models.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/temp_dir.h"
#include "server/server.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

class ServerEndsTest : public ::testing::Test {
 protected:
  ServerEndsTest() {
    std::filesystem::create_directories(dir_.Path("tmp"));
    std::filesystem::create_directories(dir_.Path("models/m/1"));
    dir_.Write("models/m/config.pbtxt", "backend: \"identity\"");
    setenv("TMPDIR", dir_.Path("tmp").c_str(), 1);
    ServerOptions options;
    options.model_repositories = {dir_.Path("models")};
    options.backend_directory = NEREID_TEST_BACKENDS;
    options.repoagent_directory = NEREID_TEST_REPOAGENTS;
    options.control_mode = ModelControlMode::kExplicit;
    auto server = Server::Create(options);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  ~ServerEndsTest() override {
    server_.reset();
    unsetenv("TMPDIR");
  }

  // Loads the model from files of the request. The model's agent keeps a journal.
  absl::Status Load() {
    const std::string config = absl::StrCat(
        R"({"backend": "identity",
            "input": [{"name": "in", "data_type": "TYPE_FP32", "dims": [4]}],
            "output": [{"name": "out", "data_type": "TYPE_FP32", "dims": [4]}],
            "model_repository_agents": {"agents": [{"name": "testing", "parameters": {
                "relocate": "file", "whole": "yes", "journal": ")",
        dir_.Path("journal"), R"("}}]}})");
    return server_->LoadModel("m", {{"config", LoadParameter::Type::kString, config},
                                    {"file:1/weights", LoadParameter::Type::kBytes, "weights"}});
  }
  std::vector<std::string> Journal() const {
    std::ostringstream text;
    text << std::ifstream(dir_.Path("journal")).rdbuf();
    return absl::StrSplit(text.str(), '\n', absl::SkipEmpty());
  }
  bool HasFiles() const { return !std::filesystem::is_empty(dir_.Path("tmp")); }

  TempDir dir_;
  Server::Owner server_;
};

// A thread that looks a model up and then only waits, so that it keeps an old snapshot.
class IdleThread {
 public:
  explicit IdleThread(Server* server)
      : thread_([this, server] {
          (void)server->IsModelReady("m", kLatestVersion);
          has_looked_.set_value();
          may_end_.get_future().wait();
        }) {
    has_looked_.get_future().wait();
  }
  ~IdleThread() {
    may_end_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> has_looked_;
  std::promise<void> may_end_;
  std::thread thread_;
};

TEST_F(ServerEndsTest, FilesAndAgentsEndWithTheModelAlthoughAThreadHasLookedItUp) {
  ASSERT_TRUE(Load().ok());
  EXPECT_TRUE(HasFiles());
  const IdleThread idle(server_.get());
  ASSERT_TRUE(server_->UnloadModel("m").ok());
  ASSERT_TRUE(server_->Stop().ok());  // also waits for the unload
  EXPECT_FALSE(HasFiles());
  EXPECT_THAT(Journal(),
              ElementsAre("testing: initialize", "testing: load", "testing: load_complete",
                          "testing: unload", "testing: unload_complete", "testing: finalize",
                          "testing: fini"));
}

TEST_F(ServerEndsTest, StopEndsThemToo) {
  ASSERT_TRUE(Load().ok());
  const IdleThread idle(server_.get());
  (void)server_->IsModelReady("m", kLatestVersion);  // this thread keeps a snapshot, too
  ASSERT_TRUE(server_->Stop().ok());
  EXPECT_FALSE(HasFiles());
  ASSERT_EQ(Journal().size(), 7u);
  EXPECT_EQ(Journal().back(), "testing: fini");
}

TEST_F(ServerEndsTest, AThreadThatKnowsAnOldPictureMayOutliveTheServer) {
  ASSERT_TRUE(Load().ok());
  const IdleThread idle(server_.get());
  server_.reset();
  EXPECT_FALSE(HasFiles());
}

TEST_F(ServerEndsTest, AReplacedVersionEndsWhenTheNewOneServes) {
  ASSERT_TRUE(Load().ok());
  const IdleThread idle(server_.get());
  ASSERT_TRUE(Load().ok());
  ASSERT_TRUE(server_->Stop().ok());
  EXPECT_FALSE(HasFiles());
  const std::vector<std::string> journal = Journal();
  EXPECT_EQ(std::count(journal.begin(), journal.end(), "testing: finalize"), 2);
}

TEST_F(ServerEndsTest, AModelThatCannotBeLoadedLeavesNothing) {
  const absl::Status loaded = server_->LoadModel(
      "m", {{"config", LoadParameter::Type::kString, R"({"backend": "nowhere"})"},
            {"file:1/weights", LoadParameter::Type::kBytes, "weights"}});
  EXPECT_FALSE(loaded.ok());
  EXPECT_FALSE(HasFiles());
}

}  // namespace
}  // namespace nereid
