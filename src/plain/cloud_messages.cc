// SPDX-License-Identifier: Apache-2.0
#include "plain/cloud_messages.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace nereid {
namespace {

class Packer {
 public:
  void Number(uint64_t value) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    bytes_.append(bytes, sizeof(bytes));
  }
  void Text(const std::string& text) {
    Number(text.size());
    bytes_ += text;
  }
  void Object(const CloudObject& object) {
    Text(object.path);
    Number(object.size);
    Number(static_cast<uint64_t>(object.mtime_ns));
    Text(object.tag);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}

  uint64_t Number() {
    uint64_t value = 0;
    if (bytes_.size() - at_ < sizeof(value)) {
      ok_ = false;
      return 0;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }
  std::string Text() {
    const uint64_t size = Number();
    if (!ok_ || bytes_.size() - at_ < size) {
      ok_ = false;
      return "";
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  CloudObject Object() {
    CloudObject object;
    object.path = Text();
    object.size = Number();
    object.mtime_ns = static_cast<int64_t>(Number());
    object.tag = Text();
    return object;
  }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && at_ == bytes_.size(); }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

bool SendAll(int socket, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool ReceiveAll(int socket, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = recv(socket, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = ECONNRESET;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// The letter that carries a descriptor.
constexpr char kCarrier = 'c';

union ControlSpace {
  cmsghdr aligned;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

std::string CloudRequest::Pack() const {
  Packer packer;
  packer.Number(static_cast<uint64_t>(kind));
  packer.Text(repository);
  packer.Object(object);
  packer.Text(target);
  return packer.Take();
}

std::optional<CloudRequest> CloudRequest::Unpack(const std::string& bytes) {
  Unpacker unpacker(bytes);
  CloudRequest request;
  const uint64_t kind = unpacker.Number();
  if (kind > static_cast<uint64_t>(Kind::kFetch)) return std::nullopt;
  request.kind = static_cast<Kind>(kind);
  request.repository = unpacker.Text();
  request.object = unpacker.Object();
  request.target = unpacker.Text();
  if (!unpacker.AtEnd()) return std::nullopt;
  return request;
}

std::string CloudReply::Pack() const {
  Packer packer;
  packer.Text(error);
  packer.Number(not_found ? 1 : 0);
  packer.Number(objects.size());
  for (const CloudObject& object : objects) packer.Object(object);
  return packer.Take();
}

std::optional<CloudReply> CloudReply::Unpack(const std::string& bytes) {
  Unpacker unpacker(bytes);
  CloudReply reply;
  reply.error = unpacker.Text();
  reply.not_found = unpacker.Number() != 0;
  const uint64_t count = unpacker.Number();
  for (uint64_t i = 0; i < count && unpacker.ok(); ++i) {
    reply.objects.push_back(unpacker.Object());
  }
  if (!unpacker.AtEnd()) return std::nullopt;
  return reply;
}

bool SendCloudFrame(int socket, const std::string& bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  char head[sizeof(size)];
  std::memcpy(head, &size, sizeof(size));
  return SendAll(socket, head, sizeof(head)) && SendAll(socket, bytes.data(), bytes.size());
}

bool ReceiveCloudFrame(int socket, std::string* bytes) {
  uint32_t size = 0;
  if (!ReceiveAll(socket, reinterpret_cast<char*>(&size), sizeof(size))) return false;
  if (size > kMostCloudFrame) {
    errno = EMSGSIZE;
    return false;
  }
  bytes->resize(size);
  return ReceiveAll(socket, bytes->data(), size);
}

bool SendDescriptor(int control, int descriptor) {
  char letter = kCarrier;
  iovec part{&letter, 1};
  ControlSpace space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof(space.bytes);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return sendmsg(control, &message, MSG_NOSIGNAL) == 1;
}

int ReceiveDescriptor(int control) {
  char letter = 0;
  iovec part{&letter, 1};
  ControlSpace space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof(space.bytes);
  ssize_t got = 0;
  do {
    got = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* const header = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return descriptor;
}

}  // namespace nereid
