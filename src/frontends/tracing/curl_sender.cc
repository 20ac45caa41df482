// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#define CURL_DISABLE_TYPECHECK  // or else some functions are macros
#include <curl/curl.h>
#include <dlfcn.h>

#include <chrono>
#include <type_traits>
#include <utility>

#include "frontends/tracing/http_sender.h"

namespace nereid {
namespace {

constexpr long kConnectSeconds = 3;

size_t Discard(char*, size_t size, size_t count, void*) { return size * count; }

// libcurl, loaded when traces are sent and never before: it brings some thirty libraries, which
// would cost every server start-up time and memory. Stays loaded.
struct Curl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
};

absl::StatusOr<Curl> LoadCurl() {
  constexpr char kLibrary[] = "libcurl.so.4";
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("sending traces needs libcurl (Debian package libcurl4): ", dlerror()));
  }
  Curl curl;
  const auto find = [library](const char* name, auto* function) {
    *function = reinterpret_cast<std::decay_t<decltype(*function)>>(dlsym(library, name));
    return *function != nullptr;
  };
  const bool complete = find("curl_global_init", &curl.global_init) &&
                        find("curl_easy_init", &curl.easy_init) &&
                        find("curl_easy_cleanup", &curl.easy_cleanup) &&
                        find("curl_easy_setopt", &curl.easy_setopt) &&
                        find("curl_easy_getinfo", &curl.easy_getinfo) &&
                        find("curl_easy_perform", &curl.easy_perform) &&
                        find("curl_easy_strerror", &curl.easy_strerror) &&
                        find("curl_slist_append", &curl.slist_append) &&
                        find("curl_slist_free_all", &curl.slist_free_all);
  if (!complete) return absl::InternalError(absl::StrCat(kLibrary, " lacks functions"));
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return absl::InternalError("libcurl cannot be used");
  }
  return curl;
}

// The same for all callers.
const absl::StatusOr<Curl>& Library() {
  static const absl::StatusOr<Curl> library = LoadCurl();
  return library;
}

// REQUIRES: the library is loaded, without which there is nothing to free.
struct FreeHandle {
  void operator()(CURL* handle) const { Library()->easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { Library()->slist_free_all(list); }
};

// Errors that say that nothing is wrong with the message.
bool MayPass(long http_status) {
  return http_status == 429 || http_status == 502 || http_status == 503 || http_status == 504;
}

class CurlSender final : public HttpSender {
 public:
  CurlSender(const Curl& library, std::unique_ptr<CURL, FreeHandle> handle,
             std::unique_ptr<curl_slist, FreeList> headers)
      : library_(library), handle_(std::move(handle)), headers_(std::move(headers)) {}

  absl::Status Post(absl::string_view body, Duration timeout) override {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
    CURL* const curl = handle_.get();
    library_.easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(milliseconds.count()));
    library_.easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
    library_.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    const CURLcode code = library_.easy_perform(curl);
    if (code != CURLE_OK) return absl::UnavailableError(library_.easy_strerror(code));
    long status = 0;
    library_.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) return absl::OkStatus();
    const std::string text = absl::StrCat("the answer is HTTP ", status);
    return MayPass(status) ? absl::UnavailableError(text) : absl::InternalError(text);
  }

 private:
  const Curl library_;
  const std::unique_ptr<CURL, FreeHandle> handle_;
  const std::unique_ptr<curl_slist, FreeList> headers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpSender>> MakeCurlSender(
    const std::string& url, const std::vector<std::string>& headers) {
  if (absl::StrContains(url, "://") && !absl::StartsWith(url, "http://") &&
      !absl::StartsWith(url, "https://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("the URL of a collector begins with http:// or https://: '", url, "'"));
  }
  const absl::StatusOr<Curl>& library = Library();
  if (!library.ok()) return library.status();
  std::unique_ptr<CURL, FreeHandle> handle(library->easy_init());
  if (handle == nullptr) return absl::InternalError("libcurl cannot be used");
  std::unique_ptr<curl_slist, FreeList> list;
  const auto add = [&](const char* header) {
    curl_slist* const longer = library->slist_append(list.get(), header);
    if (longer == nullptr) return;
    (void)list.release();
    list.reset(longer);
  };
  add("Content-Type: application/x-protobuf");
  add("Expect:");  // no pause before large messages
  for (const std::string& header : headers) add(header.c_str());
  CURL* const curl = handle.get();
  library->easy_setopt(curl, CURLOPT_URL, url.c_str());
  library->easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  library->easy_setopt(curl, CURLOPT_DEFAULT_PROTOCOL, "http");  // of localhost:4318/v1/traces
  library->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  library->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  library->easy_setopt(curl, CURLOPT_POST, 1L);
  library->easy_setopt(curl, CURLOPT_HTTPHEADER, list.get());
  library->easy_setopt(curl, CURLOPT_USERAGENT, "nereid/" NEREID_VERSION);
  library->easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Discard);
  return std::make_unique<CurlSender>(*library, std::move(handle), std::move(list));
}

}  // namespace nereid
