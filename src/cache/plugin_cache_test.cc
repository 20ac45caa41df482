// SPDX-License-Identifier: Apache-2.0
#include "cache/plugin_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace nereid {
namespace {

using testing::HasSubstr;

absl::StatusOr<std::unique_ptr<PluginCache>> LoadTesting(const std::string& behaviour) {
  return PluginCache::Load(NEREID_TEST_CACHES, "testing", "{\"behaviour\": \"" + behaviour + "\"}");
}

absl::Status Insert(PluginCache* cache, const std::string& key, const std::string& bytes) {
  return cache->Insert(key, bytes.size(),
                       [&](char* to) { std::memcpy(to, bytes.data(), bytes.size()); });
}

// Copies the bytes found under the key to `found`.
absl::Status Lookup(PluginCache* cache, const std::string& key, std::string* found) {
  return cache->Lookup(key, [&](absl::string_view bytes) {
    *found = std::string(bytes);
    return absl::OkStatus();
  });
}

// The results of an insertion and of the look-up after it.
std::pair<absl::Status, absl::Status> Use(const std::string& behaviour) {
  auto cache = LoadTesting(behaviour);
  EXPECT_TRUE(cache.ok()) << cache.status();
  std::string found;
  const absl::Status inserted = Insert(cache->get(), "key", "value");
  return {inserted, Lookup(cache->get(), "key", &found)};
}

TEST(PluginCacheTest, KeepsAndFinds) {
  // "probes" also calls every function of the C API with wrong arguments.
  for (const char* behaviour : {"works", "probes", "copies_twice"}) {
    auto cache = LoadTesting(behaviour);
    ASSERT_TRUE(cache.ok()) << cache.status();
    EXPECT_EQ((*cache)->name(), "testing");
    EXPECT_FALSE((*cache)->answers_at_once());
    std::string found;
    EXPECT_EQ(Lookup(cache->get(), "key", &found).code(), absl::StatusCode::kNotFound);
    const absl::Status inserted = Insert(cache->get(), "key", "value");
    EXPECT_TRUE(inserted.ok()) << behaviour << ": " << inserted;
    EXPECT_EQ(Insert(cache->get(), "key", "other").code(), absl::StatusCode::kAlreadyExists);
    const absl::Status looked_up = Lookup(cache->get(), "key", &found);
    EXPECT_TRUE(looked_up.ok()) << behaviour << ": " << looked_up;
    EXPECT_EQ(found, "value");
  }
}

TEST(PluginCacheTest, ErrorsAndExceptionsAreStatuses) {
  EXPECT_EQ(Use("insert_fails").first, absl::InternalError("this cache fails to insert"));
  EXPECT_EQ(Use("lookup_fails").second, absl::InternalError("this cache fails to look up"));
  EXPECT_EQ(Use("insert_throws").first,
            absl::InternalError("cache 'testing' threw an exception in TRITONCACHE_CacheInsert: "
                                "this cache throws"));
  EXPECT_EQ(Use("lookup_throws").second,
            absl::InternalError("cache 'testing' threw an exception in TRITONCACHE_CacheLookup: "
                                "this cache throws"));
}

TEST(PluginCacheTest, SuccessThatIsNoneIsFound) {
  EXPECT_THAT(std::string(Use("no_copy").second.message()),
              HasSubstr("found an entry but did not call TRITONCACHE_Copy"));
  EXPECT_THAT(std::string(Use("two_buffers").second.message()),
              HasSubstr("expected one buffer for a response, got 2"));
  EXPECT_THAT(std::string(Use("ignores_copy_error").first.message()),
              HasSubstr("expected one buffer of 5 bytes"));
}

TEST(PluginCacheTest, AnErrorOfTheReaderIsTheResult) {
  auto cache = LoadTesting("works");
  ASSERT_TRUE(cache.ok()) << cache.status();
  ASSERT_TRUE(Insert(cache->get(), "key", "value").ok());
  EXPECT_EQ((*cache)
                ->Lookup("key", [](absl::string_view) { return absl::DataLossError("unreadable"); })
                .message(),
            "unreadable");
}

TEST(PluginCacheTest, TheLocalCacheAnswersAtOnceAndIsBounded) {
  auto cache = PluginCache::Load(NEREID_TEST_CACHES, "local", R"({"size": 1000})");
  ASSERT_TRUE(cache.ok()) << cache.status();
  EXPECT_TRUE((*cache)->answers_at_once());
  std::string found;
  EXPECT_EQ(Lookup(cache->get(), "key", &found).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Insert(cache->get(), "key", "value").ok());
  EXPECT_EQ(Insert(cache->get(), "key", "other").code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(Lookup(cache->get(), "key", &found).ok());
  EXPECT_EQ(found, "value");
  const absl::Status too_large = Insert(cache->get(), "large", std::string(1000, 'x'));
  EXPECT_EQ(too_large.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(too_large.message()),
              testing::MatchesRegex("Failed to insert key \\[large\\]: Requested byte_size: [0-9]+ "
                                    "is greater than total cache size: 1000"));
  EXPECT_TRUE(Lookup(cache->get(), "key", &found).ok());
}

TEST(PluginCacheTest, WhatCannotBeLoaded) {
  const auto error = [](const std::string& directory, const std::string& name,
                        const std::string& config) {
    const auto cache = PluginCache::Load(directory, name, config);
    EXPECT_FALSE(cache.ok());
    return std::string(cache.status().message());
  };
  const std::string caches = NEREID_TEST_CACHES;
  EXPECT_EQ(error("", "local", "{}"), "cache directory can not be empty");
  EXPECT_EQ(error(caches, "nobody", "{}"),
            "unable to find 'libtritoncache_nobody.so' for cache. Searched: " + caches + "/nobody");
  EXPECT_THAT(error(caches, "../caches/local", "{}"), HasSubstr("unable to find"));
  EXPECT_EQ(error(caches, "testing", R"({"behaviour": "refuses"})"),
            "this cache refuses to initialise");
  EXPECT_EQ(error(caches, "local", "{}"),
            "Failed to initialize LocalCache: config didn't contain a valid 'size' field.");
  for (const char* size : {"0", "\"-1\"", "\"1k\"", "true"}) {
    EXPECT_THAT(error(caches, "local", std::string("{\"size\": ") + size + "}"),
                HasSubstr("'size' must be a number of bytes above 0"));
  }
  EXPECT_THAT(error(caches, "local", R"({"size": "5", "sise": "7"})"),
              HasSubstr("cache 'local' has no setting 'sise'; it has: size"));
}

}  // namespace
}  // namespace nereid
