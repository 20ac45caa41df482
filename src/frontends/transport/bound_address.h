// SPDX-License-Identifier: Apache-2.0
// BoundAddress: an address that belongs to this process although nobody listens on it yet, so that
// the system refuses connections. A server takes its addresses before it loads models: one that is
// taken is an error at once, and nobody else gets it meanwhile. Thread-compatible.
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
  ~BoundAddress();
  BoundAddress(const BoundAddress&) = delete;
  BoundAddress& operator=(const BoundAddress&) = delete;

  bool is_v6() const { return v6_; }
  // Lets clients connect, and gives the socket to the caller, who closes it. Errors of Bind, except
  // for INVALID_ARGUMENT. REQUIRES: was not called.
  absl::StatusOr<int> Listen();

 private:
  BoundAddress(AddressToBind where, int fd, bool v6);

  const AddressToBind where_;
  int fd_;  // -1: given away
  const bool v6_;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_BOUND_ADDRESS_H_
