// SPDX-License-Identifier: Apache-2.0
// A worker without TensorFlow, for tests of the server's side. LoadRequest::path determines what it
// does: "echo" (output = input), "refuse" (an error), "abort", "exit", "nonsense" and "hang" (each
// while loading), or "deaf" (as echo, but it does not end by itself). A run returns input 0 as
// output 0, unless the first byte of the input is 'k' (abort), 'x' (exit), 'n' (an invalid answer)
// or 'e' (an error).
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/control_socket.h"
#include "backends/tensorflow/ipc/messages.h"

namespace nereid_tensorflow {
namespace {

RunReply Compute(ChannelMemory* memory, const RunRequest& request, uint64_t* end) {
  RunReply reply;
  const PlacedTensor& input = request.inputs.at(0);
  const char command = input.size > 0 ? memory->data()[input.offset] : ' ';
  if (command == 'k') {
    std::fputs("F0000 00:00:1.5 7 fake.cc:1] Check failed: false\n", stderr);
    std::abort();
  }
  if (command == 'x') _exit(3);
  *end = AlignUp(request.outputs_offset);
  if (command == 'e') {
    reply.status = Status::InvalidArgument("it does not like that");
    return reply;
  }
  if (!memory->Reserve(*end + input.size).ok()) std::abort();
  std::memcpy(memory->data() + *end, memory->data() + input.offset, input.size);
  PlacedTensor output = input;
  output.type = 4;
  output.offset = command == 'n' ? uint64_t{1} << 60 : *end;
  *end += input.size;
  reply.outputs.push_back(output);
  return reply;
}

void Serve(std::unique_ptr<ChannelMemory> memory) {
  Turn& turn = memory->header()->turn;
  while (turn.WaitWhile(Turn::kServer) == Turn::kWorker) {
    if (!memory->Refresh().ok()) std::abort();
    RunRequest request;
    if (!RunRequest::Unpack(memory->message(), &request)) std::abort();
    memory->header()->compute_start_ns = 5;
    memory->header()->compute_end_ns = 7;
    uint64_t end = 0;
    const std::string reply = Compute(memory.get(), request, &end).Pack();
    if (!memory->PutMessage(end, reply).ok()) std::abort();
    turn.Pass(Turn::kWorker, Turn::kServer);
  }
}

std::string Load(const std::string& body) {
  LoadRequest request;
  if (!LoadRequest::Unpack(body, &request)) std::abort();
  LoadReply reply;
  reply.runtime_version = "0.0";
  if (request.path == "refuse") reply.status = Status::InvalidArgument("it is refused");
  if (request.path == "abort") std::abort();
  if (request.path == "exit") _exit(3);
  while (request.path == "hang") pause();
  if (request.path == "nonsense") return "nonsense";
  TensorDescription tensor;
  tensor.name = "X";
  tensor.type = 4;
  tensor.dims = {-1};
  reply.inputs = {tensor};
  tensor.name = "Y";
  reply.outputs = {tensor};
  return reply.Pack();
}

[[noreturn]] void Run() {
  ControlSocket socket{UniqueFd(3)};
  bool deaf = false;
  while (socket.Receive(true)) {
    while (std::optional<ControlSocket::Message> message = socket.Next()) {
      std::string answer = PackStatus({});
      if (message->bytes[0] == static_cast<char>(MessageKind::kLoad)) {
        deaf = message->bytes.find("deaf") != std::string::npos;
        answer = Load(message->bytes.substr(1));
      } else if (message->fd.valid()) {
        std::unique_ptr<ChannelMemory> memory;
        if (!ChannelMemory::Attach(std::move(message->fd), &memory).ok()) std::abort();
        std::thread(&Serve, std::move(memory)).detach();
      }
      if (!socket.Send(answer)) _exit(0);
    }
  }
  while (deaf) pause();
  _exit(0);
}

}  // namespace
}  // namespace nereid_tensorflow

int main() { nereid_tensorflow::Run(); }
