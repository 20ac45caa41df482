// SPDX-License-Identifier: Apache-2.0
// A program that loads libtritonserver.so, serves, deletes the server and closes the library, many
// times: then no thread, and no code that runs when a thread ends, may still need the library.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <thread>

#include "tests/conformance/capi/unload/guest.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kModels[] = {"plain", "batched", nullptr};

int IterationCount() {
  const char* const asked = getenv("NEREID_UNLOAD_ITERATIONS");
  return asked == nullptr ? 20 : atoi(asked);
}

// Threads of this process.
size_t ThreadCount() {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

bool IsMapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

class UnloadTest : public ::testing::Test {
 protected:
  UnloadTest() {
    std::string pattern = testing::TempDir() + "/unload_test_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    repository_ = pattern;
    Add(kModels[0], "");
    // Uses the timer's thread for the delay, and two threads for two instances.
    Add(kModels[1],
        "dynamic_batching { max_queue_delay_microseconds: 200 }\n"
        "instance_group { count: 2 kind: KIND_CPU }\n");
  }
  ~UnloadTest() override {
    std::error_code ignored;
    fs::remove_all(repository_, ignored);
  }

  void Add(const std::string& name, const std::string& more) const {
    fs::create_directories(repository_ + "/" + name + "/1");
    std::ofstream(repository_ + "/" + name + "/config.pbtxt")
        << "backend: \"identity\" max_batch_size: 8\n"
           "input { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ 4 ] }\n"
           "output { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ 4 ] }\n"
        << more;
  }

  void Serve(void* guest) const {
    const auto serve = reinterpret_cast<decltype(&GuestServe)>(dlsym(guest, "GuestServe"));
    ASSERT_NE(serve, nullptr);
    const char* const problem = serve(repository_.c_str(), NEREID_TEST_BACKENDS, kModels);
    EXPECT_EQ(problem, nullptr) << problem;
  }

  static void* Open() {
    void* const guest = dlopen(NEREID_TEST_GUEST, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(guest, nullptr) << dlerror();
    return guest;
  }

  std::string repository_;
};

TEST_F(UnloadTest, EveryThreadOfOursIsGoneWhenTheServerIsDeleted) {
  void* const guest = Open();
  std::thread([] {}).join();  // ThreadSanitizer starts its own thread with the first one
  const size_t before = ThreadCount();
  Serve(guest);
  EXPECT_EQ(ThreadCount(), before);
  dlclose(guest);
}

TEST_F(UnloadTest, TheLibraryMayBeClosedAndOpenedAgain) {
  for (int i = 0; i < IterationCount(); ++i) {
    void* const guest = Open();
    // In a separate thread, whose thread-local objects are destroyed when it ends.
    std::thread([&] { Serve(guest); }).join();
    dlclose(guest);
  }
  EXPECT_FALSE(IsMapped("libcapi_unload_guest.so")) << "nothing was closed";
  EXPECT_TRUE(IsMapped("libtritonserver.so")) << "a second copy would meet what protobuf remembers";
}

TEST_F(UnloadTest, AThreadThatUsedTheServerMayEndAfterTheLibraryIsClosed) {
  for (int i = 0; i < 3; ++i) {
    std::promise<void> served;
    std::promise<void> closed;
    void* const guest = Open();
    std::thread user([&] {
      Serve(guest);
      served.set_value();
      closed.get_future().wait();
    });
    served.get_future().wait();
    dlclose(guest);
    closed.set_value();
    user.join();
  }
}

}  // namespace
