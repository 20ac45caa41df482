// SPDX-License-Identifier: Apache-2.0
// BoundAddress: an address that belongs to this process although nobody listens on it yet, so that
// the system refuses connections. A server takes its addresses before it loads models: one that is
// taken is an error at once, and nobody else gets it meanwhile. A Unix socket has one, too: a file.
// Thread-compatible.
#ifndef NEREID_FRONTENDS_TRANSPORT_BOUND_ADDRESS_H_
#define NEREID_FRONTENDS_TRANSPORT_BOUND_ADDRESS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>

namespace nereid::transport {

struct AddressToBind {
  std::string protocol;     // of the port, as errors name it: "HTTP"
  std::string address;      // an address or a host name
  uint16_t port = 0;        // 0: any free one
  bool reuse_port = false;  // other processes may have it, too
  std::string port_option;  // the option that sets the port, which errors name; empty: none
};

class BoundAddress {
 public:
  // UNAVAILABLE if another socket has the address, listening or not, INVALID_ARGUMENT if it cannot
  // be resolved, INTERNAL otherwise. Blocks while a name is looked up.
  static absl::StatusOr<std::shared_ptr<BoundAddress>> Bind(const AddressToBind& where);
  // Makes the file, which only its owner may use, in place of one that nobody listens on any more.
  // The caller removes it. UNAVAILABLE if somebody listens there, INTERNAL otherwise.
  static absl::StatusOr<std::shared_ptr<BoundAddress>> BindFile(const std::string& path);
  ~BoundAddress();
  BoundAddress(const BoundAddress&) = delete;
  BoundAddress& operator=(const BoundAddress&) = delete;

  // AF_INET, AF_INET6 or AF_UNIX.
  int family() const { return family_; }
  // Lets clients connect, and gives the socket to the caller, who closes it. Errors of Bind, except
  // for INVALID_ARGUMENT. REQUIRES: was not called.
  absl::StatusOr<int> Listen();

 private:
  BoundAddress(AddressToBind where, int fd, int family);

  const AddressToBind where_;
  int fd_;  // -1: given away
  const int family_;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_BOUND_ADDRESS_H_
