#include "frontends/http/http_message.h"

#include <absl/strings/match.h>

#include "base/json_writer.h"

namespace nereid {
namespace {

// The path of a target in origin form ("/a?b") or absolute form ("http://host/a?b").
absl::string_view PathOf(absl::string_view target) {
  if (!target.empty() && target.front() != '/') {
    const size_t scheme_end = target.find("://");
    if (scheme_end != absl::string_view::npos) {
      const size_t path = target.find('/', scheme_end + 3);
      target = path == absl::string_view::npos ? absl::string_view("/") : target.substr(path);
    }
  }
  return target.substr(0, target.find_first_of("?#"));
}

absl::string_view QueryOf(absl::string_view target) {
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  return mark == absl::string_view::npos ? absl::string_view() : target.substr(mark + 1);
}

}  // namespace

HttpRequest::HttpRequest(absl::string_view head, HttpMethod method, Range target,
                         absl::Span<const HeaderRange> headers)
    : head_(head), method_(method) {
  const absl::string_view text = head_.view();
  path_ = PathOf(text.substr(target.offset, target.size));
  query_ = QueryOf(text.substr(target.offset, target.size));
  headers_.reserve(headers.size());
  for (const HeaderRange& range : headers) {
    headers_.push_back({text.substr(range.name.offset, range.name.size),
                        text.substr(range.value.offset, range.value.size)});
  }
}

std::optional<absl::string_view> HttpRequest::FindHeader(absl::string_view name) const {
  for (const HttpHeader& header : headers_) {
    if (absl::EqualsIgnoreCase(header.name, name)) return header.value;
  }
  return std::nullopt;
}

HttpResponse MakeErrorResponse(int status, absl::string_view message) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.text = "{\"error\":";
  AppendJsonString(message, &response.text);
  response.text += '}';
  return response;
}

HttpResponder& HttpResponder::operator=(HttpResponder&& other) noexcept {
  if (this != &other) {
    Abandon();
    sink_ = std::move(other.sink_);
  }
  return *this;
}

void HttpResponder::Complete(HttpResponse response) {
  std::shared_ptr<HttpResponseSink> sink = std::move(sink_);
  sink->Complete(std::move(response));
}

void HttpResponder::CompleteWith(absl::AnyInvocable<HttpResponse()> make) {
  std::shared_ptr<HttpResponseSink> sink = std::move(sink_);
  sink->CompleteWith(std::move(make));
}

void HttpResponder::Abandon() {
  if (sink_ != nullptr) Complete(MakeErrorResponse(500, "the request was dropped unanswered"));
}

}  // namespace nereid
