// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/http_message.h"

#include <absl/strings/match.h>

#include "base/json_writer.h"

namespace nereid {
namespace {

// The part of `text` from `position` on; empty if there is none.
absl::string_view From(absl::string_view text, size_t position) {
  return position < text.size() ? text.substr(position) : absl::string_view();
}

// Removes scheme and authority from a target in absolute form ("http://host/a?b"), and returns the
// authority. What stands behind the first '/', '?' or '#' is none of it.
absl::string_view TakeAuthority(absl::string_view* target) {
  const size_t scheme_end = target->find_first_of(":/?#");
  if (scheme_end == 0 || !absl::StartsWith(From(*target, scheme_end), "://")) return {};
  const absl::string_view rest = target->substr(scheme_end + 3);
  const size_t end = rest.find_first_of("/?#");
  *target = From(rest, end);
  return rest.substr(0, end);
}

}  // namespace

HttpRequest::HttpRequest(absl::string_view head, HttpMethod method, Range target,
                         absl::Span<const HeaderRange> headers, Range authority)
    : head_(head), method_(method) {
  const absl::string_view text = head_.view();
  absl::string_view rest = text.substr(target.offset, target.size);
  const bool absolute = !rest.empty() && rest.front() != '/';
  if (absolute) authority_ = TakeAuthority(&rest);
  if (authority.size > 0) authority_ = text.substr(authority.offset, authority.size);
  rest = rest.substr(0, rest.find('#'));
  const size_t mark = rest.find('?');
  path_ = rest.substr(0, mark);
  if (path_.empty() && absolute) path_ = "/";
  if (mark != absl::string_view::npos) query_ = rest.substr(mark + 1);
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

const char* HttpMethodName(HttpMethod method) {
  switch (method) {
    case HttpMethod::kGet:
      return "GET";
    case HttpMethod::kHead:
      return "HEAD";
    case HttpMethod::kPost:
      return "POST";
    case HttpMethod::kDelete:
      return "DELETE";
    case HttpMethod::kOptions:
      return "OPTIONS";
    case HttpMethod::kOther:
      return "OTHER";
  }
  return "OTHER";
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
    observers_ = std::move(other.observers_);
  }
  return *this;
}

void HttpResponder::Show(const Observers& observers, HttpResponse* response) {
  for (auto it = observers.rbegin(); it != observers.rend(); ++it) (*it)->OnAnswer(response);
}

void HttpResponder::Complete(HttpResponse response) {
  std::shared_ptr<HttpResponseSink> sink = std::move(sink_);
  Show(std::exchange(observers_, {}), &response);
  sink->Complete(std::move(response));
}

void HttpResponder::CompleteWith(absl::AnyInvocable<HttpResponse()> make) {
  std::shared_ptr<HttpResponseSink> sink = std::move(sink_);
  if (observers_.empty()) return sink->CompleteWith(std::move(make));
  sink->CompleteWith([observers = std::exchange(observers_, {}), make = std::move(make)]() mutable {
    HttpResponse response = make();
    Show(observers, &response);
    return response;
  });
}

std::function<void()> HttpResponder::PutOff(absl::AnyInvocable<void(HttpResponder)> go_on) {
  const std::shared_ptr<HttpResponseSink> sink = std::move(sink_);
  // The sink keeps the function, so that it must not keep the sink.
  return sink->PutOff([weak = std::weak_ptr<HttpResponseSink>(sink),
                       observers = std::exchange(observers_, {}),
                       go_on = std::move(go_on)]() mutable {
    HttpResponder responder(weak.lock());
    responder.observers_ = std::move(observers);
    go_on(std::move(responder));
  });
}

void HttpResponder::NoteRequest(absl::FunctionRef<LogAbout()> about) {
  for (const auto& observer : observers_) observer->NoteRequest(about);
  sink_->NoteRequest(about);
}

void HttpResponder::Abandon() {
  if (sink_ != nullptr) Complete(MakeErrorResponse(500, "the request was dropped unanswered"));
}

}  // namespace nereid
