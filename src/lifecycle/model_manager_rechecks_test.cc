// SPDX-License-Identifier: Apache-2.0
// Ensembles, several members of which change at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lifecycle/model_manager.h"
#include "lifecycle/testing/fake_repository.h"

namespace nereid {
namespace {

// A file system that blocks the reading of certain files. Thread-safe.
class HoldingFileSystem final : public FileSystem {
 public:
  explicit HoldingFileSystem(const FileSystem* files) : files_(files) {}

  void Hold(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    held_.insert(path);
  }
  void LetGo(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    held_.erase(path);
    changed_.NotifyAll();
  }
  // Waits until a thread reads a held `path`.
  void AwaitReader(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (readers_.count(path) == 0) changed_.Wait(&mu_);
  }

  absl::StatusOr<std::string> ReadFile(const std::string& path) const override
      ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(&mu_);
      while (held_.count(path) > 0) {
        readers_.insert(path);
        changed_.NotifyAll();
        changed_.Wait(&mu_);
      }
    }
    return files_->ReadFile(path);
  }
  absl::StatusOr<std::vector<DirEntry>> ListDirectory(const std::string& path) const override {
    return files_->ListDirectory(path);
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override {
    return files_->Stat(path);
  }

 private:
  const FileSystem* const files_;
  mutable Mutex mu_;
  mutable CondVar changed_;
  std::set<std::string> held_ ABSL_GUARDED_BY(mu_);
  mutable std::set<std::string> readers_ ABSL_GUARDED_BY(mu_);
};

// The models a and b, whose loads can be held, and the ensemble e of both.
class ModelRechecksTest : public ::testing::Test {
 protected:
  ModelRechecksTest() : files_(&repository_.fs) {
    for (const std::string name : {"a", "b"}) {
      Change(name);
      repository_.fs.MakeDirectory("/models/" + name + "/1");
    }
    repository_.WriteEnsemble("e", Steps());
    ModelManagerOptions options;
    options.repositories = {"/models"};
    options.load_threads = 4;
    LoadContext context = repository_.Context();
    context.file_system = &files_;
    manager_ = std::make_unique<ModelManager>(std::move(options), context);
    EXPECT_TRUE(manager_->LoadAll().empty());
  }
  ~ModelRechecksTest() override {
    manager_->UnloadAll();
    EXPECT_TRUE(manager_->WaitUnloaded(repository_.clock.Now() + std::chrono::hours(1)));
  }

  static std::string Steps() {
    return FakeRepository::Step("a", "in", "t") + FakeRepository::Step("b", "t", "out");
  }
  static std::string Labels(const std::string& model) { return "/models/" + model + "/labels"; }

  // Changes the files of `model`, so that a load replaces the model.
  void Change(const std::string& model) {
    repository_.fs.WriteFile("/models/" + model + "/config.pbtxt",
                             "backend: 'fake' "
                             "input { name: 'in' data_type: TYPE_INT8 dims: [ 1 ] } "
                             "output { name: 'out' data_type: TYPE_INT8 dims: [ 1 ] "
                             "label_filename: 'labels' }");
    repository_.fs.WriteFile(Labels(model), "label\n");
  }
  // Starts a load of `model` and returns when it blocks at the labels.
  std::thread LoadHeld(const std::string& model) {
    files_.Hold(Labels(model));
    std::thread loading([this, model] { EXPECT_EQ(manager_->Load(model), absl::OkStatus()); });
    files_.AwaitReader(Labels(model));
    return loading;
  }
  void Finish(const std::string& model, std::thread* loading) {
    files_.LetGo(Labels(model));
    loading->join();
  }
  // Starts an unload of `model`, and gives it time to finish unless it has to wait.
  std::thread UnloadBeside(const std::string& model) {
    std::thread unloading([this, model] { EXPECT_EQ(manager_->Unload(model), absl::OkStatus()); });
    for (int i = 0; i < 10'000 && manager_->Find(model, -1).ok(); ++i) std::this_thread::yield();
    return unloading;
  }
  bool Serves() const { return manager_->Find("e", -1).ok(); }

  FakeRepository repository_;
  HoldingFileSystem files_;
  std::unique_ptr<ModelManager> manager_;
};

TEST_F(ModelRechecksTest, AMemberThatComesLaterThanTheCheckBringsItsEnsembleBack) {
  ASSERT_TRUE(manager_->Unload("b").ok());
  ASSERT_FALSE(Serves());
  Change("a");
  std::thread a = LoadHeld("a");  // has claimed the ensemble, too
  std::thread b = LoadHeld("b");
  Finish("a", &a);
  EXPECT_FALSE(Serves()) << "b is not there yet";
  Finish("b", &b);
  EXPECT_TRUE(Serves());
}

TEST_F(ModelRechecksTest, AMemberGoesWhenItsEnsembleHasLoaded) {
  Change("a");
  std::thread a = LoadHeld("a");
  std::thread unloading = UnloadBeside("b");
  EXPECT_TRUE(manager_->Find("b", -1).ok()) << "the ensemble counts on it";
  Finish("a", &a);
  unloading.join();
  EXPECT_FALSE(manager_->Find("b", -1).ok());
  EXPECT_FALSE(Serves());
  ASSERT_TRUE(manager_->Load("b").ok());
  while (!Serves()) std::this_thread::yield();  // the load of "e" may still be under way
}

TEST_F(ModelRechecksTest, AMemberGoesWhenItsEnsembleHasLoadedForTheFirstTime) {
  repository_.WriteEnsemble("f", Steps());
  ASSERT_TRUE(manager_->Unload("a").ok());
  files_.Hold(Labels("a"));
  std::thread f([this] { EXPECT_EQ(manager_->Load("f"), absl::OkStatus()); });
  files_.AwaitReader(Labels("a"));  // the load of f includes that of a
  std::thread unloading = UnloadBeside("b");
  Finish("a", &f);
  unloading.join();
  EXPECT_FALSE(manager_->Find("f", -1).ok());
  ASSERT_TRUE(manager_->Load("b").ok());
  EXPECT_TRUE(manager_->Find("f", -1).ok());
}

TEST_F(ModelRechecksTest, AnEnsembleThatIsBeingLoadedKeepsNoOtherModel) {
  repository_.Write("alone");
  ASSERT_TRUE(manager_->Load("alone").ok());
  Change("a");
  std::thread a = LoadHeld("a");
  EXPECT_TRUE(manager_->Unload("alone").ok());
  Finish("a", &a);
}

}  // namespace
}  // namespace nereid
