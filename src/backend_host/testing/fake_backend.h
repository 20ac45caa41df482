// SPDX-License-Identifier: Apache-2.0
// FakeBackend: lets a test control libtriton_fake.so (testing/plugins/fake.cc): gives access to its
// journal and to the requests it holds. One per process. Thread-safe.
#ifndef NEREID_BACKEND_HOST_TESTING_FAKE_BACKEND_H_
#define NEREID_BACKEND_HOST_TESTING_FAKE_BACKEND_H_

#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/shared_library.h"

namespace nereid {

class FakeBackend {
 public:
  // Begins with an empty journal.
  FakeBackend() {
    auto library = SharedLibrary::Open(NEREID_TEST_PLUGINS "/fake/libtriton_fake.so");
    EXPECT_TRUE(library.ok()) << library.status();
    library_ = *std::move(library);
    Forget();
  }

  std::vector<std::string> Journal() const {
    std::string text(16384, '\0');
    library_->Function<void (*)(char*, size_t)>("nereid_fake_journal")(text.data(), text.size());
    return absl::StrSplit(text.c_str(), '\n', absl::SkipEmpty());
  }
  void Forget() { library_->Function<void (*)()>("nereid_fake_forget")(); }
  void AwaitHeld(size_t count) {
    library_->Function<void (*)(size_t)>("nereid_fake_await_held")(count);
  }
  void LetGo() { library_->Function<void (*)()>("nereid_fake_let_go")(); }

 private:
  std::unique_ptr<SharedLibrary> library_;
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_TESTING_FAKE_BACKEND_H_
