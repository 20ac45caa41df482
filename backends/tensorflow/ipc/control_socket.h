// SPDX-License-Identifier: Apache-2.0
// ControlSocket: one end of the socket between server and worker: messages of any length, each
// possibly with a descriptor. One thread may send while another receives.
#ifndef NEREID_BACKENDS_TENSORFLOW_IPC_CONTROL_SOCKET_H_
#define NEREID_BACKENDS_TENSORFLOW_IPC_CONTROL_SOCKET_H_

#include <optional>
#include <string>
#include <string_view>

#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_tensorflow {

using nereid_ipc::UniqueFd;

class ControlSocket {
 public:
  // Longest message.
  static constexpr uint64_t kMaxMessage = uint64_t{256} << 20;

  struct Message {
    std::string bytes;
    UniqueFd fd;  // a descriptor sent with the message, if any
  };

  explicit ControlSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  // Blocks until all is sent; false if the other end has gone.
  bool Send(std::string_view bytes, int fd_to_pass = -1);
  // Receives what has arrived; if `wait`, blocks for the first byte. False if the other end has
  // gone or sends nonsense.
  bool Receive(bool wait);
  // The next complete message.
  std::optional<Message> Next();

 private:
  const UniqueFd fd_;
  std::string received_;
  UniqueFd received_fd_;
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_IPC_CONTROL_SOCKET_H_
