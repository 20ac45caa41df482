// SPDX-License-Identifier: Apache-2.0
// The local cache: the C functions of libtritoncache_local.so, and its metrics.
#include <array>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "backends/sdk/error.h"
#include "backends/sdk/log.h"
#include "caches/local/lru.h"
#include "caches/sdk/entry.h"
#include "caches/sdk/settings.h"
#include "triton/core/tritoncache.h"

using nereid_backend::Error;
using nereid_backend::Result;
using nereid_backend::StrCat;
using nereid_cache::Lru;
using nereid_cache::LruValue;
using nereid_cache::Settings;

namespace {

// --- Metrics.

// CacheMetrics: shows the state of the local cache as gauges of the server's metrics page, under
// the names that Triton's cache uses. A separate thread updates them every second, so that
// look-ups pay nothing for them. Owned by the cache. Thread-compatible.
class CacheMetrics {
 public:
  CacheMetrics() = default;
  ~CacheMetrics();  // joins
  CacheMetrics(const CacheMetrics&) = delete;
  CacheMetrics& operator=(const CacheMetrics&) = delete;

  // Creates the gauges and starts to show `lru`, which outlives the object. UNSUPPORTED if the
  // server has no metrics. Called at most once.
  Error Start(const Lru* lru);

 private:
  Error MakeGauges();
  void Show(const Lru::Counts& counts);
  void Run(const Lru* lru);

  static constexpr size_t kCount = 6;
  struct Gauge {
    TRITONSERVER_MetricFamily* family = nullptr;
    TRITONSERVER_Metric* metric = nullptr;
  };
  std::array<Gauge, kCount> gauges_;
  std::mutex mu_;
  std::condition_variable ended_;
  bool end_ = false;  // guarded by mu_
  std::thread thread_;
};

struct Description {
  const char* name;
  const char* help;
};

constexpr Description kGauges[] = {
    {"nv_cache_util", "Cache utilization [0.0 - 1.0]"},
    {"nv_cache_num_entries", "Number of responses stored in response cache"},
    {"nv_cache_num_lookups", "Number of cache lookups in response cache"},
    {"nv_cache_num_hits", "Number of cache hits in response cache"},
    {"nv_cache_num_misses", "Number of cache misses in response cache"},
    {"nv_cache_num_evictions", "Number of cache evictions in response cache"},
};

// For calls whose failure is impossible or has no consequence.
void Ignore(TRITONSERVER_Error* error) {
  if (error != nullptr) TRITONSERVER_ErrorDelete(error);
}

Error CacheMetrics::Start(const Lru* lru) {
  NB_RETURN_IF_ERROR(MakeGauges());
  Show(lru->counts());
  thread_ = std::thread([this, lru] { Run(lru); });
  return {};
}

void CacheMetrics::Run(const Lru* lru) {
  std::unique_lock<std::mutex> lock(mu_);
  while (!end_) {
    ended_.wait_for(lock, std::chrono::seconds(1));
    Show(lru->counts());
  }
}

Error CacheMetrics::MakeGauges() {
  static_assert(std::size(kGauges) == kCount);
  for (size_t i = 0; i < kCount; ++i) {
    NB_RETURN_IF_ERROR(TRITONSERVER_MetricFamilyNew(
        &gauges_[i].family, TRITONSERVER_METRIC_KIND_GAUGE, kGauges[i].name, kGauges[i].help));
    NB_RETURN_IF_ERROR(TRITONSERVER_MetricNew(&gauges_[i].metric, gauges_[i].family, nullptr, 0));
  }
  return {};
}

CacheMetrics::~CacheMetrics() {
  if (thread_.joinable()) {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      end_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }
  for (const Gauge& gauge : gauges_) {
    if (gauge.metric != nullptr) Ignore(TRITONSERVER_MetricDelete(gauge.metric));
    if (gauge.family != nullptr) Ignore(TRITONSERVER_MetricFamilyDelete(gauge.family));
  }
}

void CacheMetrics::Show(const Lru::Counts& counts) {
  const double used = static_cast<double>(counts.bytes) / static_cast<double>(counts.limit);
  const double values[] = {used,
                           static_cast<double>(counts.entries),
                           static_cast<double>(counts.lookups),
                           static_cast<double>(counts.hits),
                           static_cast<double>(counts.lookups - counts.hits),
                           static_cast<double>(counts.evictions)};
  for (size_t i = 0; i < kCount; ++i) {
    Ignore(TRITONSERVER_MetricSet(gauges_[i].metric, values[i]));
  }
}

// --- The cache.

Result<uint64_t> ReadSize(const char* config) {
  NB_ASSIGN_OR_RETURN(const Settings settings, Settings::Parse("local", config, {"size"}));
  if (!settings.Has("size")) {
    return Error::InvalidArg(
        "Failed to initialize LocalCache: config didn't contain a valid 'size' field.");
  }
  const std::optional<uint64_t> size = settings.Number("size");
  if (!size.has_value() || *size == 0) {
    return Error::InvalidArg(
        StrCat("Failed to initialize LocalCache: 'size' must be a number of bytes above 0, got '",
               settings.Text("size"), "'"));
  }
  return *size;
}

Error Refused(Lru::Inserted inserted, const std::string& key, size_t size, const Lru& lru) {
  if (inserted == Lru::Inserted::kExists) {
    return Error(TRITONSERVER_ERROR_ALREADY_EXISTS, StrCat("key [", key, "] is in the cache"));
  }
  return Error::InvalidArg(StrCat("Failed to insert key [", key,
                                  "]: Requested byte_size: ", Lru::Weight(key, size),
                                  " is greater than total cache size: ", lru.counts().limit));
}

class LocalCache {
 public:
  explicit LocalCache(uint64_t limit) : lru_(limit) {}

  static Result<std::unique_ptr<LocalCache>> Create(const char* config) {
    NB_ASSIGN_OR_RETURN(const uint64_t size, ReadSize(config));
    auto made = std::make_unique<LocalCache>(size);
    if (const Error shown = made->metrics_.Start(&made->lru_); !shown.ok()) {
      NB_LOG_WARNING("local cache: no metrics: ", shown.message());
    }
    return made;
  }

  Error Lookup(const char* key, TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator) {
    const std::shared_ptr<const LruValue> value = lru_.Find(key);
    if (value == nullptr) return Error::NotFound(StrCat("key [", key, "] is not in the cache"));
    const char* at = value->bytes.get();
    for (const size_t size : value->sizes) {
      NB_RETURN_IF_ERROR(nereid_cache::AddBuffer(entry, at, size));
      at += size;
    }
    return Error(TRITONCACHE_Copy(allocator, entry));
  }

  Error Insert(const std::string& key, TRITONCACHE_CacheEntry* entry,
               TRITONCACHE_Allocator* allocator) {
    auto value = std::make_shared<LruValue>();
    NB_ASSIGN_OR_RETURN(value->sizes, nereid_cache::BufferSizes(entry));
    const size_t size = value->total();
    // Checked before anything is copied. Another thread may still insert the key first.
    const Lru::Inserted possible = lru_.CanInsert(key, size);
    if (possible != Lru::Inserted::kYes) return Refused(possible, key, size, lru_);
    value->bytes.reset(new char[size]);
    char* at = value->bytes.get();
    for (size_t i = 0; i < value->sizes.size(); ++i) {
      NB_RETURN_IF_ERROR(nereid_cache::SetBuffer(entry, i, at));
      at += value->sizes[i];
    }
    NB_RETURN_IF_ERROR(TRITONCACHE_Copy(allocator, entry));
    const Lru::Inserted inserted = lru_.Insert(key, std::move(value));
    if (inserted != Lru::Inserted::kYes) return Refused(inserted, key, size, lru_);
    return {};
  }

 private:
  Lru lru_;
  CacheMetrics metrics_;  // shows lru_
};

}  // namespace

NC_CACHE_FUNCTIONS(LocalCache)

// Tells the server that look-ups and insertions wait for nothing but a mutex.
extern "C" TRITONCACHE_ISPEC void NEREIDCACHE_AnswersAtOnce() {}
