// SPDX-License-Identifier: Apache-2.0
// What the server and the program that reads cloud storage (apps/cloud) say to each other. They
// share a control socket. For each question the server makes a pair of sockets and sends one end
// over the control socket; on this pair go one request and its reply, each a frame: four bytes with
// its length, then its bytes. Frames without bytes precede a reply that takes long. Values, and
// functions without state, except that those of frames block on the socket.
#ifndef NEREID_PLAIN_CLOUD_MESSAGES_H_
#define NEREID_PLAIN_CLOUD_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

// The descriptor of the control socket in the program.
inline constexpr int kCloudControl = 3;
// A longer frame is nonsense.
inline constexpr size_t kMostCloudFrame = size_t{1} << 30;

struct CloudObject {
  std::string path;  // below the repository, without a slash in front
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  std::string tag;  // the store's name for this content; lists have none

  friend bool operator==(const CloudObject&, const CloudObject&) = default;
};

struct CloudRequest {
  enum class Kind : uint8_t {
    kList,   // all objects of the repository
    kStat,   // `object.path`, with its tag
    kFetch,  // writes `object`, of that size and tag, to the file `target`
  };

  Kind kind = Kind::kList;
  std::string repository;
  CloudObject object;
  std::string target;

  std::string Pack() const;
  static std::optional<CloudRequest> Unpack(const std::string& bytes);
};

struct CloudReply {
  std::string error;  // empty: it worked
  bool not_found = false;
  std::vector<CloudObject> objects;

  std::string Pack() const;
  static std::optional<CloudReply> Unpack(const std::string& bytes);
};

// False, with errno set, if the peer has gone, or does not take or send anything within the
// socket's time-out. The frame may be empty.
bool SendCloudFrame(int socket, const std::string& bytes);
bool ReceiveCloudFrame(int socket, std::string* bytes);

// Over the control socket: one end of a new pair. Receive: -1 if the peer has gone.
bool SendDescriptor(int control, int descriptor);
int ReceiveDescriptor(int control);

}  // namespace nereid

#endif  // NEREID_PLAIN_CLOUD_MESSAGES_H_
