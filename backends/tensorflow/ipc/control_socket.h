// ControlSocket: one end of the socket between server and worker: messages of any length, with
// which a descriptor may come. Compatible with one thread that sends and one that receives.
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
  // No message is longer.
  static constexpr uint64_t kMaxMessage = uint64_t{256} << 20;

  struct Message {
    std::string bytes;
    UniqueFd fd;  // the one that came along, if any
  };

  explicit ControlSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  // Blocks until all is sent; false when the other end has gone.
  bool Send(std::string_view bytes, int fd_to_pass = -1);
  // Takes in what has come; blocks for the first byte when `wait`. False when the other end has
  // gone or sends nonsense.
  bool Receive(bool wait);
  // The next message that is complete.
  std::optional<Message> Next();

 private:
  const UniqueFd fd_;
  std::string received_;
  UniqueFd received_fd_;
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_IPC_CONTROL_SOCKET_H_
