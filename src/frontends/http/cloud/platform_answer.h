// PlatformAnswer: between the REST frontend and a client of a cloud platform: gives answers the
// form that the platform expects. Thread rules as for HttpResponseSink.
#ifndef NEREID_FRONTENDS_HTTP_CLOUD_PLATFORM_ANSWER_H_
#define NEREID_FRONTENDS_HTTP_CLOUD_PLATFORM_ANSWER_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "frontends/http/http_message.h"

namespace nereid {

// Changes an answer on its way. Must live as long as the program.
using AnswerForm = void (*)(HttpResponse* response);

class PlatformAnswer final : public HttpResponseSink {
 public:
  PlatformAnswer(HttpResponder client, AnswerForm form) : client_(std::move(client)), form_(form) {}

  // HttpResponseSink
  void Complete(HttpResponse response) override;
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make) override;
  void SetOnCancel(absl::AnyInvocable<void()> on_cancel) override {
    client_.SetOnCancel(std::move(on_cancel));
  }
  void AddHeader(absl::string_view name, std::string value) override {
    client_.AddHeader(name, std::move(value));
  }
  InlineTurn* inline_turn() override { return client_.inline_turn(); }
  uint64_t other_requests() const override { return client_.other_requests(); }

 private:
  HttpResponder client_;
  const AnswerForm form_;
};

// A responder whose answers go to `client` in the form `form`.
inline HttpResponder InForm(AnswerForm form, HttpResponder client) {
  return HttpResponder(std::make_shared<PlatformAnswer>(std::move(client), form));
}

// An answer with the status alone, as health checks of platforms expect it.
void KeepStatusOnly(HttpResponse* response);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CLOUD_PLATFORM_ANSWER_H_
