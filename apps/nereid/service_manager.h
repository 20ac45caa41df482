// SPDX-License-Identifier: Apache-2.0
// ServiceManager: tells the service manager that started this process, systemd for instance, how it
// is getting on: one datagram for each step, to a socket that the manager has named. Immutable;
// thread-safe. A message that cannot be sent is a line in the log, and nothing else.
#ifndef NEREID_APPS_NEREID_SERVICE_MANAGER_H_
#define NEREID_APPS_NEREID_SERVICE_MANAGER_H_

#include <string>
#include <utility>

#include "base/clock.h"

namespace nereid {

class ServiceManager {
 public:
  // `socket`: the manager's NOTIFY_SOCKET, the path of a socket or '@' and a name without a path
  // (the abstract namespace). Empty: there is no manager, and the calls below do nothing.
  explicit ServiceManager(std::string socket) : socket_(std::move(socket)) {}

  // For the manager's status page: models are being loaded.
  void Loading() const;
  // All ports are open.
  void Ready() const;
  // The end has begun and takes no longer than `most`; the manager waits that long, even if its
  // own limit is shorter.
  void Stopping(Duration most) const;

 private:
  void Send(const std::string& message) const;

  const std::string socket_;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SERVICE_MANAGER_H_
