#include "backends/python/separate_executions.h"

#include <vector>

#include "backends/python/ipc/control.h"
#include "backends/python/ipc/value.h"
#include "backends/sdk/boundary.h"

namespace nereid_backend {
namespace {

using nereid_python::Control;
using nereid_python::ValueWriter;

// Sends the first of `executions`. Returns for each of them whether the process has got it: its
// requests may have turned out to be impossible to pass on.
Result<std::vector<bool>> Send(Transport* transport, std::deque<Execution>* executions) {
  std::vector<uint64_t> blocks;
  ClientFiles none;  // so small tensors are copied
  ValueWriter parts;
  std::vector<bool> sent;
  uint32_t count = 0;
  for (Execution& execution : *executions) {
    if (sent.size() == Control::kMostParts) break;
    sent.push_back(execution.Write({transport, &none, &blocks}, &parts));
    count += sent.back() ? 1 : 0;
  }
  if (count == 0) return sent;
  ValueWriter message;
  message.List(count);
  message.Append(parts);
  Error begun = transport->BeginEach(message, count);
  if (begun.ok()) return sent;
  // The process has not taken over the blocks.
  for (const uint64_t block : blocks) transport->Free(block);
  return begun;
}

// An error, whatever it is, must not keep the caller from waiting for the other parts, which the
// process executes.
Error TakePart(const std::shared_ptr<Transport>& transport, uint32_t part, uint64_t begun,
               Execution* execution) {
  return Guarded("ModelInstanceExecute", [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const Transport::PartReply reply, transport->AwaitPart(part));
    execution->Take(reply, begun, OutputSource(transport, /*lends=*/false));
    return Error();
  });
}

}  // namespace

Error RunSeparately(const std::shared_ptr<Transport>& transport, std::deque<Execution>* left,
                    const std::function<void(const Execution&)>& done) {
  const CommandTurn turn(transport.get());
  NB_ASSIGN_OR_RETURN(const std::vector<bool> sent, Send(transport.get(), left));
  uint32_t part = 0;
  uint64_t begun = 0;
  for (const bool has_part : sent) {
    Execution& execution = left->front();
    if (has_part) {
      Error taken = TakePart(transport, part++, begun, &execution);
      if (!taken.ok() && transport->closed()) return taken;
      if (!taken.ok()) execution.FailAll(taken);
      begun = execution.compute_end();
      done(execution);
    }
    execution.Finish();
    left->pop_front();
  }
  return Error();
}

}  // namespace nereid_backend
