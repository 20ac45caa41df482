// SPDX-License-Identifier: Apache-2.0
// Gives answers another form than that of the v2 protocol: the one that clients of another API, or
// a cloud platform, expect.
#ifndef NEREID_FRONTENDS_HTTP_ANSWER_FORM_H_
#define NEREID_FRONTENDS_HTTP_ANSWER_FORM_H_

#include <absl/strings/string_view.h>

#include <memory>
#include <utility>

#include "frontends/http/http_message.h"

namespace nereid {

// `client`, whose answer gets the form `form`. REQUIRES: not completed yet.
inline HttpResponder InForm(AnswerForm form, HttpResponder client) {
  class Observer final : public HttpAnswerObserver {
   public:
    explicit Observer(AnswerForm form) : form_(form) {}
    void OnAnswer(HttpResponse* response) override { form_(response); }

   private:
    const AnswerForm form_;
  };
  client.Add(std::make_unique<Observer>(form));
  return client;
}

// An answer with the status alone, as health checks of platforms expect it.
inline void KeepStatusOnly(HttpResponse* response) {
  response->content_type = absl::string_view();
  response->text.clear();
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_ANSWER_FORM_H_
