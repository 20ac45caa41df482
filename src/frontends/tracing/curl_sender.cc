#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <curl/curl.h>

#include <chrono>
#include <utility>

#include "frontends/tracing/http_sender.h"

namespace nereid {
namespace {

constexpr long kConnectSeconds = 3;

size_t Discard(char*, size_t size, size_t count, void*) { return size * count; }

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// Errors that say that nothing is wrong with the message.
bool MayPass(long http_status) {
  return http_status == 429 || http_status == 502 || http_status == 503 || http_status == 504;
}

class CurlSender final : public HttpSender {
 public:
  CurlSender(std::unique_ptr<CURL, FreeHandle> handle,
             std::unique_ptr<curl_slist, FreeList> headers)
      : handle_(std::move(handle)), headers_(std::move(headers)) {}

  absl::Status Post(absl::string_view body, Duration timeout) override {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
    CURL* const curl = handle_.get();
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(milliseconds.count()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    const CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) return absl::UnavailableError(curl_easy_strerror(code));
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) return absl::OkStatus();
    const std::string text = absl::StrCat("the answer is HTTP ", status);
    return MayPass(status) ? absl::UnavailableError(text) : absl::InternalError(text);
  }

 private:
  const std::unique_ptr<CURL, FreeHandle> handle_;
  const std::unique_ptr<curl_slist, FreeList> headers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpSender>> MakeCurlSender(
    const std::string& url, const std::vector<std::string>& headers) {
  if (!absl::StartsWith(url, "http://") && !absl::StartsWith(url, "https://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("the URL of a collector begins with http:// or https://: '", url, "'"));
  }
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<CURL, FreeHandle> handle(global == CURLE_OK ? curl_easy_init() : nullptr);
  if (handle == nullptr) return absl::InternalError("libcurl cannot be used");
  std::unique_ptr<curl_slist, FreeList> list;
  const auto add = [&list](const char* header) {
    curl_slist* const longer = curl_slist_append(list.get(), header);
    if (longer == nullptr) return;
    (void)list.release();
    list.reset(longer);
  };
  add("Content-Type: application/x-protobuf");
  add("Expect:");  // no pause before large messages
  for (const std::string& header : headers) add(header.c_str());
  CURL* const curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list.get());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "nereid/" NEREID_VERSION);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Discard);
  return std::make_unique<CurlSender>(std::move(handle), std::move(list));
}

}  // namespace nereid
