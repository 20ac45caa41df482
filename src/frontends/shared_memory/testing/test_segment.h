// SPDX-License-Identifier: Apache-2.0
// TestSegment: a POSIX shared-memory segment of a test, as a client makes one. Used by one thread.
#ifndef NEREID_FRONTENDS_SHARED_MEMORY_TESTING_TEST_SEGMENT_H_
#define NEREID_FRONTENDS_SHARED_MEMORY_TESTING_TEST_SEGMENT_H_

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace nereid {

class TestSegment {
 public:
  // The key is made of `name` and the process, so that tests in parallel do not meet.
  TestSegment(const std::string& name, size_t size)
      : key_(absl::StrCat("/nereid-test-", getpid(), "-", name)), size_(size) {
    fd_ = shm_open(key_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    EXPECT_GE(fd_, 0) << key_;
    Resize(size);
    data_ = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
  }
  // Removes the segment, as a client may while the server uses it.
  ~TestSegment() {
    munmap(data_, size_);
    close(fd_);
    shm_unlink(key_.c_str());
  }
  TestSegment(const TestSegment&) = delete;
  TestSegment& operator=(const TestSegment&) = delete;

  const std::string& key() const { return key_; }
  char* data() const { return data_; }
  void Resize(size_t size) const { EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(size)), 0); }

 private:
  const std::string key_;
  const size_t size_;
  int fd_ = -1;
  char* data_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_SHARED_MEMORY_TESTING_TEST_SEGMENT_H_
