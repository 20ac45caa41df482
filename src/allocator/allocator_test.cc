// SPDX-License-Identifier: Apache-2.0
// operator new and delete, and pvalloc: linked into this test as into a program.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

// Volatile, so that the compiler knows no value and cannot optimise the calls away.
volatile size_t g_too_much = std::numeric_limits<size_t>::max() / 2;
volatile size_t g_zero = 0;

bool IsAligned(const void* memory, size_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) % alignment == 0;
}

// Sets a handler for one test.
class NewHandler {
 public:
  explicit NewHandler(std::new_handler handler) : before_(std::set_new_handler(handler)) {
    calls = 0;
  }
  ~NewHandler() { std::set_new_handler(before_); }

  static inline int calls = 0;

 private:
  const std::new_handler before_;
};

// A new-handler that gives up at its third call, like one that cannot free any more memory.
void GiveUpAtThird() {
  if (++NewHandler::calls == 3) std::set_new_handler(nullptr);
}
void ThrowOfItsOwn() { throw std::runtime_error("no memory, says the handler"); }

struct Form {
  const char* name;
  void* (*take)(size_t size);
};
constexpr auto kAligned = std::align_val_t(256);
const Form kThrowing[] = {
    {"new", [](size_t size) { return ::operator new(size); }},
    {"new[]", [](size_t size) { return ::operator new[](size); }},
    {"aligned new", [](size_t size) { return ::operator new(size, kAligned); }},
    {"aligned new[]", [](size_t size) { return ::operator new[](size, kAligned); }},
};
const Form kNoThrow[] = {
    {"nothrow new", [](size_t size) { return ::operator new(size, std::nothrow); }},
    {"nothrow new[]", [](size_t size) { return ::operator new[](size, std::nothrow); }},
    {"aligned nothrow new",
     [](size_t size) { return ::operator new(size, kAligned, std::nothrow); }},
    {"aligned nothrow new[]",
     [](size_t size) { return ::operator new[](size, kAligned, std::nothrow); }},
};

TEST(OperatorNewTest, ThrowsBadAllocWhenThereIsNoMemory) {
  for (const Form& form : kThrowing)
    EXPECT_THROW(form.take(g_too_much), std::bad_alloc) << form.name;
}

TEST(OperatorNewTest, NoThrowFormsReturnNullWhenThereIsNoMemory) {
  for (const Form& form : kNoThrow) EXPECT_EQ(form.take(g_too_much), nullptr) << form.name;
}

TEST(OperatorNewTest, AsksTheHandlerUntilThereIsNone) {
  for (const Form& form : kThrowing) {
    const NewHandler handler(&GiveUpAtThird);
    EXPECT_THROW(form.take(g_too_much), std::bad_alloc) << form.name;
    EXPECT_EQ(NewHandler::calls, 3) << form.name;
  }
  for (const Form& form : kNoThrow) {
    const NewHandler handler(&GiveUpAtThird);
    EXPECT_EQ(form.take(g_too_much), nullptr) << form.name;
    EXPECT_EQ(NewHandler::calls, 3) << form.name;
  }
}

TEST(OperatorNewTest, LetsPassWhatTheHandlerThrows) {
  const NewHandler handler(&ThrowOfItsOwn);
  for (const Form& form : kThrowing) {
    EXPECT_THROW(form.take(g_too_much), std::runtime_error) << form.name;
  }
  for (const Form& form : kNoThrow) EXPECT_EQ(form.take(g_too_much), nullptr) << form.name;
}

TEST(OperatorNewTest, NoBytesAreABlockOfTheirOwn) {
  for (const Form& form : kThrowing) {
    void* const one = form.take(g_zero);
    void* const other = form.take(g_zero);
    EXPECT_NE(one, nullptr) << form.name;
    EXPECT_NE(one, other) << form.name;
    free(one);
    free(other);
  }
}

TEST(OperatorNewTest, KeepsTheAlignmentAskedFor) {
  for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    for (const size_t size : {size_t{1}, size_t{100}, size_t{100000}}) {
      void* const memory = ::operator new(size, std::align_val_t(alignment));
      EXPECT_TRUE(IsAligned(memory, alignment)) << alignment;
      ::operator delete(memory);
    }
  }
}

// Passes the size of a small block for a large one, and the other way round. An allocator that
// trusts the size would then hand out memory that is too small or still in use.
TEST(OperatorDeleteTest, LooksAtNoSizeAndNoAlignment) {
  using Give = void (*)(void*, size_t);
  const Give kForms[] = {
      [](void* memory, size_t size) { ::operator delete(memory, size); },
      [](void* memory, size_t size) { ::operator delete[](memory, size); },
      [](void* memory, size_t size) { ::operator delete(memory, size, kAligned); },
      [](void* memory, size_t size) { ::operator delete[](memory, size, kAligned); },
  };
  constexpr size_t kSizes[] = {4, 20, 64, 500, 4000};
  for (const Give give : kForms) {
    for (const size_t size : kSizes) {
      for (const size_t claimed : kSizes) {
        for (int i = 0; i < 8; ++i) give(malloc(size), claimed);
        std::vector<void*> blocks(16);
        for (void*& block : blocks) block = malloc(claimed);
        for (void* const block : blocks) EXPECT_GE(malloc_usable_size(block), claimed);
        for (void* const block : blocks) free(block);
      }
    }
  }
}

TEST(OperatorDeleteTest, NullIsNothing) {
  ::operator delete(nullptr);
  ::operator delete[](nullptr, size_t{8});
  ::operator delete(nullptr, size_t{8}, kAligned);
  SUCCEED();
}

// Libraries that are loaded later must find the program's forms, not those of jemalloc.
TEST(OperatorDeleteTest, AllFormsAreExported) {
  Dl_info program;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&GiveUpAtThird), &program), 0);
  for (const char* const name : {"_Znwm",
                                 "_Znam",
                                 "_ZnwmRKSt9nothrow_t",
                                 "_ZnamRKSt9nothrow_t",
                                 "_ZnwmSt11align_val_t",
                                 "_ZnamSt11align_val_t",
                                 "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                 "_ZnamSt11align_val_tRKSt9nothrow_t",
                                 "_ZdlPv",
                                 "_ZdaPv",
                                 "_ZdlPvRKSt9nothrow_t",
                                 "_ZdaPvRKSt9nothrow_t",
                                 "_ZdlPvm",
                                 "_ZdaPvm",
                                 "_ZdlPvSt11align_val_t",
                                 "_ZdaPvSt11align_val_t",
                                 "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                 "_ZdaPvSt11align_val_tRKSt9nothrow_t",
                                 "_ZdlPvmSt11align_val_t",
                                 "_ZdaPvmSt11align_val_t",
                                 "pvalloc"}) {
    Dl_info found;
    ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, name), &found), 0) << name;
    EXPECT_EQ(found.dli_fbase, program.dli_fbase) << name << " comes from " << found.dli_fname;
  }
}

TEST(PvallocTest, WholePagesOfTheSameAllocator) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = pvalloc(page + 1);
  EXPECT_TRUE(IsAligned(memory, page));
  EXPECT_GE(malloc_usable_size(memory), 2 * page);
  memset(memory, 1, 2 * page);
  free(memory);
  EXPECT_EQ(pvalloc(g_too_much * 2 + 1), nullptr);
}

}  // namespace
