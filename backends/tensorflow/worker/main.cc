// SPDX-License-Identifier: Apache-2.0
// nereid-tensorflow-worker: runs one model with TensorFlow for a server. The server starts it,
// exchanges messages with it over descriptor 3, and ends it by closing that. See docs/adr/0017.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "backends/tensorflow/ipc/control_socket.h"
#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/worker/loaded_model.h"
#include "backends/tensorflow/worker/runner.h"

namespace nereid_tensorflow {
namespace {

constexpr int kControlFd = 3;

class Worker {
 public:
  // The answer to `message`.
  std::string Answer(ControlSocket::Message message) {
    const std::string bytes = std::move(message.bytes);
    Unpacker unpacker(bytes);
    const auto kind = static_cast<MessageKind>(unpacker.Number<uint8_t>());
    if (kind == MessageKind::kLoad) {
      LoadReply reply;
      const Status tried = Try([&] { return Load(bytes.substr(1), &reply); });
      if (!tried.ok()) reply.status = tried;
      return reply.Pack();
    }
    const auto channel = unpacker.Number<uint64_t>();
    return PackStatus(Try([&]() -> Status {
      if (!unpacker.Done()) return Status::Internal("a message is damaged");
      if (kind == MessageKind::kOpenChannel) return Open(channel, std::move(message.fd));
      runners_.erase(channel);
      return {};
    }));
  }

 private:
  // A lack of memory or threads is answered like any other error.
  template <typename Body>
  static Status Try(Body&& body) {
    try {
      return body();
    } catch (const std::exception& error) {
      return Status::Unavailable(error.what());
    }
  }

  Status Load(const std::string& body, LoadReply* reply) {
    LoadRequest request;
    if (!LoadRequest::Unpack(body, &request)) return Status::Internal("a message is damaged");
    model_ = LoadedModel::Load(request, reply);
    return reply->status;
  }

  Status Open(uint64_t channel, UniqueFd fd) {
    if (model_ == nullptr) return Status::Internal("no model is loaded");
    std::unique_ptr<ChannelMemory> memory;
    Status attached = ChannelMemory::Attach(std::move(fd), &memory);
    if (!attached.ok()) return attached;
    runners_[channel] = std::make_unique<Runner>(*model_, std::move(memory));
    return {};
  }

  std::unique_ptr<LoadedModel> model_;
  std::map<uint64_t, std::unique_ptr<Runner>> runners_;
};

// Runs until the server has gone.
void Serve() {
  ControlSocket socket{UniqueFd(kControlFd)};
  Worker worker;
  while (socket.Receive(true)) {
    while (std::optional<ControlSocket::Message> message = socket.Next()) {
      if (!socket.Send(worker.Answer(std::move(*message)))) _exit(0);
    }
  }
  // No clean-up: threads may be computing, and all that is owned ends with the process.
  _exit(0);
}

}  // namespace
}  // namespace nereid_tensorflow

int main(int argc, char** argv) {
  // Signals to all processes of a service or a terminal are meant for the server, which ends this
  // process when it no longer needs it.
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(signal_number, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t server = argc >= 2 ? static_cast<pid_t>(std::atol(argv[1])) : 0;
  if (server <= 0 || fcntl(3, F_GETFD) < 0) {
    std::fprintf(stderr, "%s is started by the server's TensorFlow backend\n", argv[0]);
    return 2;
  }
  if (getppid() != server) return 0;  // the server ended before prctl was called
  nereid_tensorflow::Serve();
}
