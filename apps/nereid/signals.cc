#include "signals.h"

#include <unistd.h>

#include <thread>

#include "base/log.h"

namespace nereid {

ShutdownSignals::ShutdownSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // A client that goes away while it is written to is an error of that write, not of the process.
  signal(SIGPIPE, SIG_IGN);
  std::thread([this] { Receive(); }).detach();
}

int ShutdownSignals::Wait() {
  received_.wait(0);
  return received_.load();
}

void ShutdownSignals::Receive() {
  while (true) {
    int number = 0;
    if (sigwait(&signals_, &number) != 0) continue;
    if (!serving_.load()) {
      LOG_WARNING << "signal " << number << " received while starting: exiting";
      _exit(128 + number);
    }
    if (received_.exchange(number) != 0) {
      LOG_WARNING << "second signal received: exiting without waiting any longer";
      _exit(128 + number);
    }
    received_.notify_all();
  }
}

}  // namespace nereid
