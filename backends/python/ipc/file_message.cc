// SPDX-License-Identifier: Apache-2.0
#include "backends/python/ipc/file_message.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace nereid_python {
namespace {

// A message with room for one descriptor.
struct Message {
  explicit Message(uint64_t* number) : piece{number, sizeof(*number)} {
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }

  iovec piece;
  msghdr header{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
};

}  // namespace

bool SendFile(int socket, uint64_t number, int file) {
  Message message(&number);
  cmsghdr* const head = CMSG_FIRSTHDR(&message.header);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(file));
  std::memcpy(CMSG_DATA(head), &file, sizeof(file));
  return sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(sizeof(number));
}

bool ReceiveFile(int socket, uint64_t* number, nereid_ipc::UniqueFd* file) {
  Message message(number);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof(*number)) return false;
  file->Reset();
  const cmsghdr* const head = CMSG_FIRSTHDR(&message.header);
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int))) {
    return true;
  }
  int received = -1;
  std::memcpy(&received, CMSG_DATA(head), sizeof(received));
  *file = nereid_ipc::UniqueFd(received);
  return true;
}

}  // namespace nereid_python
