// SPDX-License-Identifier: Apache-2.0
// Answer: where a TokenLoop puts the tokens of a request. One thread at a time.
//
// ResponseAnswer sends them as responses. While the client reads slowly, tokens gather and go
// together in the next response.
#ifndef NEREID_BACKENDS_GENERATIVE_LOOP_ANSWER_H_
#define NEREID_BACKENDS_GENERATIVE_LOOP_ANSWER_H_

#include <cstdint>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"
#include "backends/sdk/error.h"
#include "backends/sdk/response_factory.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class Answer {
 public:
  virtual ~Answer() = default;

  // Whether nobody waits for the answer any more.
  virtual bool IsCancelled() const = 0;
  virtual void Add(Token token) = 0;
  // Sends the tokens that were added, if there are any and the client wants them now.
  virtual Error Send() = 0;
  // Sends the last of them. Nothing follows, except Fail after an error.
  virtual Error Finish() = 0;
  // Ends the answer with `error`. Nothing follows.
  virtual void Fail(const Error& error) = 0;
};

class ResponseAnswer : public Answer {
 public:
  // With `stream`, Send sends what there is; otherwise only Finish sends.
  ResponseAnswer(TRITONBACKEND_ModelInstance* instance, OwnedFactory factory, bool stream);

  bool IsCancelled() const override;
  void Add(Token token) override { unsent_.push_back(token); }
  Error Send() override;
  Error Finish() override;
  void Fail(const Error& error) override;

 private:
  Error SendTokens(uint32_t flags);
  Error Fill(TRITONBACKEND_Response* response) const;

  TRITONBACKEND_ModelInstance* const instance_;
  const OwnedFactory factory_;
  const bool stream_;
  std::vector<Token> unsent_;
  uint64_t since_;  // the last response, or the beginning
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_LOOP_ANSWER_H_
