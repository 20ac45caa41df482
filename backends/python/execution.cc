// SPDX-License-Identifier: Apache-2.0
#include "backends/python/execution.h"

#include <algorithm>
#include <utility>

#include "backends/sdk/batch.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/log.h"
#include "backends/sdk/send_together.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {
namespace {

using nereid_python::Command;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;

Error Damaged() { return Error::Internal("an answer of the process of a Python model is damaged"); }

// Rows of a request of a batching model.
uint64_t RowsOf(TRITONBACKEND_Request* request) {
  const Result<InputView> input = InputView::At(request, 0);
  if (!input.ok() || input->dim_count == 0) return 1;
  return static_cast<uint64_t>(std::max<int64_t>(1, input->dims[0]));
}

bool IsLarge(const nereid_python::Tensor& tensor) {
  return tensor.size >= nereid_python::kLeastLent;
}

}  // namespace

Execution::Execution(TRITONBACKEND_ModelInstance* instance, OpenRequests* open,
                     std::vector<TRITONBACKEND_Request*> requests, bool batching)
    : instance_(instance), open_(open), batching_(batching), start_(NowNs()) {
  for (TRITONBACKEND_Request* const request : requests) {
    Item item;
    item.request = request;
    item.number = open->Open(request);
    items_.push_back(item);
  }
}

Error Execution::Run(const std::shared_ptr<Transport>& transport) {
  const CommandTurn turn(transport.get());
  std::vector<uint64_t> blocks;
  ClientFiles files(transport.get());
  for (const Item& item : items_) files.LookAt(item.request);
  ValueWriter message;
  if (!Write({transport.get(), &files, &blocks}, &message)) return Error();
  Result<std::string_view> reply = transport->Run(Command::kExecute, message);
  if (!reply.ok()) {
    // The process has not taken over the blocks.
    for (const uint64_t block : blocks) transport->Free(block);
    return reply.TakeError();
  }
  Take({*reply, transport->compute_start(), transport->compute_end()}, start_,
       OutputSource(transport, /*lends=*/true));
  return Error();
}

bool Execution::Write(const RequestMemory& memory, ValueWriter* message) {
  ValueWriter requests;
  size_t count = 0;
  for (Item& item : items_) {
    Result<WrittenRequest> written = WriteRequest(item.request, item.number, memory, &requests);
    item.sent = written.ok();
    if (written.ok()) {
      item.places = std::move(written->places);
      has_large_tensors_ = has_large_tensors_ || written->has_large_inputs;
      ++count;
    } else {
      Fail(&item, written.error());
    }
  }
  if (count == 0) return false;
  message->List(count);
  message->Append(requests);
  return true;
}

void Execution::Take(const Transport::PartReply& reply, uint64_t begun, OutputSource source) {
  start_ = std::max(start_, begun);
  MarkComputed(reply.compute_start, reply.compute_end);
  const Error read = Read(reply.message, std::move(source));
  if (!read.ok()) FailAll(read);
}

// The reply is ("ok", responses, release flags) or ("error", text).
Error Execution::Read(std::string_view reply, OutputSource source) {
  const auto sent =
      std::count_if(items_.begin(), items_.end(), [](const Item& i) { return i.sent; });
  ValueReader reader(reply);
  const size_t parts = reader.List();
  const std::string what = reader.Text();
  if (what == "error" && parts == 2) {
    const std::string text = reader.Text();
    return reader.ok() ? Error::Internal(text) : Damaged();
  }
  if (what != "ok" || parts != 3 || reader.List() != static_cast<size_t>(sent)) return Damaged();
  NB_RETURN_IF_ERROR(ReadAnswers(&reader, &source));
  if (reader.List() != static_cast<size_t>(sent)) return Damaged();
  for (Item& item : items_) {
    if (item.sent) item.release = static_cast<uint32_t>(reader.Uint());
  }
  return reader.ok() ? Error() : Damaged();
}

Error Execution::ReadAnswers(ValueReader* reader, OutputSource* source) {
  std::vector<Answer> answers;
  answers.reserve(items_.size());
  Error read = Guarded("the answers of a Python model", [&]() -> Error {
    for (Item& item : items_) {
      if (!item.sent || reader->TakeNone()) continue;
      const PythonResponse response = PythonResponse::Read(reader);
      if (!reader->ok()) return Damaged();
      if (std::optional<Answer> answer = Make(&item, response, source)) {
        answers.push_back(std::move(*answer));
      }
    }
    return Error();
  });
  // After a failure, too: nobody else would send the responses that are ready.
  SendTogether([&answers] {
    for (const Answer& answer : answers) {
      NB_LOG_IF_ERROR(
          TRITONBACKEND_ResponseSend(answer.response, TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                                     answer.error.get()),
          "failed to send a response");
    }
  });
  return read;
}

std::optional<Execution::Answer> Execution::Make(Item* item, const PythonResponse& response,
                                                 OutputSource* source) {
  if (response.failure.has_value()) {
    Fail(item, Error(response.failure->code, response.failure->message));
    return std::nullopt;
  }
  if (!open_->Take(item->number)) return std::nullopt;
  open_->outputs().LookAt(response);
  TRITONBACKEND_Response* made = nullptr;
  Error error(TRITONBACKEND_ResponseNew(&made, item->request));
  source->set_places(&item->places);
  has_large_tensors_ =
      has_large_tensors_ || std::any_of(response.outputs.begin(), response.outputs.end(), IsLarge);
  if (error.ok()) {
    error = Guarded("an answer of a Python model", [&] { return Fill(response, source, made); });
  }
  item->failed = !error.ok();
  if (made == nullptr) {
    NB_LOG_ERROR("no response: ", error.message());
    return std::nullopt;
  }
  return Answer{made, std::move(error)};
}

// Does nothing for a request that has had its last response.
void Execution::Fail(Item* item, const Error& error) {
  if (!open_->Take(item->number)) return;
  item->failed = true;
  TRITONBACKEND_Response* made = nullptr;
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNew(&made, item->request), "no response");
  if (made == nullptr) return;
  NB_LOG_IF_ERROR(
      TRITONBACKEND_ResponseSend(made, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()),
      "failed to send an error");
}

void Execution::FailAll(const Error& error) {
  for (Item& item : items_) Fail(&item, error);
}

// The times reported by the process are accepted only within this execution.
void Execution::MarkComputed(uint64_t start, uint64_t end) {
  const uint64_t now = NowNs();
  compute_start_ = std::clamp(start, start_, now);
  compute_end_ = std::clamp(end, compute_start_, now);
}

void Execution::Report(uint64_t end) {
  if (compute_end_ == 0) MarkComputed(start_, end);
  uint64_t rows = 0;
  for (const Item& item : items_) {
    NB_LOG_IF_ERROR(
        TRITONBACKEND_ModelInstanceReportStatistics(instance_, item.request, !item.failed, start_,
                                                    compute_start_, compute_end_, end),
        "statistics of a request");
    if (!item.failed) rows += batching_ ? RowsOf(item.request) : 1;
  }
  if (rows == 0) return;
  NB_LOG_IF_ERROR(TRITONBACKEND_ModelInstanceReportBatchStatistics(
                      instance_, rows, start_, compute_start_, compute_end_, end),
                  "statistics of a batch");
}

std::vector<TRITONBACKEND_Request*> Execution::requests() const {
  std::vector<TRITONBACKEND_Request*> all;
  for (const Item& item : items_) all.push_back(item.request);
  return all;
}

void Execution::Finish() {
  Report(NowNs());
  for (const Item& item : items_) {
    open_->EndExecution(item.number);
    const Error released(TRITONBACKEND_RequestRelease(item.request, item.release));
    if (released.ok()) continue;
    NB_LOG_ERROR("Failed to release request: ", released.message());
    NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(item.request, TRITONSERVER_REQUEST_RELEASE_ALL),
                    "failed to release a request");
  }
}

}  // namespace nereid_backend
