// SPDX-License-Identifier: Apache-2.0
// ChildRequest: one inference request that a model's process sends to another model. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_CHILD_REQUEST_H_
#define NEREID_BACKENDS_PYTHON_CHILD_REQUEST_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/python/ipc/value.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"
#include "backends/sdk/request_life.h"

namespace nereid_backend {

class ChildRequest final : public RequestLife, public std::enable_shared_from_this<ChildRequest> {
 public:
  // The content of the request.
  struct Spec {
    std::string model;
    int64_t version = -1;
    std::string id;
    uint64_t correlation = 0;
    std::string correlation_text;  // used instead unless empty
    uint32_t flags = 0;
    uint64_t timeout_us = 0;
    uint64_t priority = 0;
    std::string parameters;  // a JSON object; empty if there are none
    std::vector<std::string> outputs;
    std::vector<nereid_python::Tensor> inputs;
    uint64_t trace = 0;  // number of the open request whose trace it belongs to; 0: none
    bool decoupled = false;
    bool blocks_execute = false;
    bool waits = false;  // the thread that asks does nothing until it has the answer

    // The reader fails if the bytes are not a request.
    static Spec Read(nereid_python::ValueReader* reader);
  };

  // `over` is called once, on any thread, when the request has ended.
  ChildRequest(std::shared_ptr<Transport> transport, uint32_t slot, bool decoupled,
               std::function<void()> over)
      : transport_(std::move(transport)),
        slot_(slot),
        decoupled_(decoupled),
        over_(std::move(over)) {}
  ~ChildRequest();
  ChildRequest(const ChildRequest&) = delete;
  ChildRequest& operator=(const ChildRequest&) = delete;

  // After success `over` follows; after an error it does not. Takes `trace`, which may be null.
  Error Send(const Spec& spec, TRITONSERVER_Server* server,
             TRITONSERVER_ResponseAllocator* allocator, TRITONSERVER_InferenceTrace* trace);
  // Answers with the next response as soon as it arrives.
  void Next(uint32_t slot);
  // Next will not be called any more.
  void Close();

  // The allocator of outputs. Its user pointer is the Transport.
  static Error NewAllocator(TRITONSERVER_ResponseAllocator** allocator);

 private:
  // A response as a value, with the blocks that belong to it.
  struct Response {
    std::string value;
    std::vector<uint64_t> blocks;
  };

  Error Build(const Spec& spec, TRITONSERVER_Server* server);
  Error AddInputs(const Spec& spec);
  void OnResponse(TRITONSERVER_InferenceResponse* response, bool final) override;
  void OnReleased(TRITONSERVER_InferenceRequest* request) override;
  void OnEnded() override;
  Response Take(TRITONSERVER_InferenceResponse* response);
  static Response NoOutputs();
  void Add(Response response, bool final);
  // Answers the Next that waits, if there is something to tell it. REQUIRES: mu_ is not held.
  void AnswerNext();
  // Answers the call in `slot`; `last`: nothing follows (for a decoupled request).
  void Answer(uint32_t slot, const std::optional<Response>& response, bool last);
  std::optional<Response> TakeFirst();  // REQUIRES: mu_ is held
  void Free(const Response& response);

  const std::shared_ptr<Transport> transport_;
  const uint32_t slot_;  // slot of the call that sent the request
  const bool decoupled_;
  const std::function<void()> over_;
  // For a decoupled request, whose call is answered at once: the inputs, until the release.
  std::string input_copy_;

  std::mutex mu_;
  // Guarded by mu_.
  bool final_ = false;  // the last response has arrived
  bool closed_ = false;
  std::deque<Response> responses_;
  std::optional<uint32_t> waiting_;  // the slot of a Next
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_CHILD_REQUEST_H_
