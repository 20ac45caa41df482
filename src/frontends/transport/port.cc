// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/port.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid::transport {
namespace {

std::vector<std::shared_ptr<IoLoop>> MakeLoops(const PortOptions& options,
                                               const MakeChannelConnection& make) {
  const auto connect = [make, tls = options.tls](std::shared_ptr<IoLoop> loop, Socket socket,
                                                 BudgetUnits slot) {
    if (tls != nullptr) tls->ReloadIfChanged();
    return make(std::move(loop), Channel(std::move(socket), tls), std::move(slot));
  };
  std::vector<std::shared_ptr<IoLoop>> loops;
  for (int i = 0; i < options.loops; ++i) {
    loops.push_back(std::make_shared<IoLoop>(options.loop, connect));
  }
  return loops;
}

// A text could not be read by a client that expects TLS.
ListenOptions ToListen(const PortOptions& options) {
  ListenOptions listen = options.listen;
  listen.room = options.room;
  listen.may_use_reserve = !options.counts;
  if (options.tls != nullptr) listen.refusal = nullptr;
  return listen;
}

}  // namespace

Port::Port(PortOptions options, MakeChannelConnection make)
    : options_(std::move(options)),
      connections_(options_.connections_name, options_.max_connections,
                   options_.connections_option),
      loops_(MakeLoops(options_, make)),
      listener_(ToListen(options_), loops_, &connections_) {}

Port::~Port() = default;

absl::Status Port::Open() {
  RETURN_IF_ERROR(listener_.Open());
  for (size_t i = 0; i < loops_.size(); ++i) {
    loops_[i]->Start(absl::StrCat(options_.thread_name, "-", i));
  }
  if (options_.room != nullptr && options_.counts) {
    options_.room->Join({&connections_, loops_, options_.goes_last});
  }
  listener_.Start();
  return absl::OkStatus();
}

void Port::Announce() {
  for (const auto& loop : loops_) {
    loop->Visit([](LoopConnection* connection) { connection->Announce(); });
  }
}

void Port::Stop(TimePoint deadline) {
  if (options_.room != nullptr) options_.room->Leave(&connections_);
  for (const auto& loop : loops_) loop->Drain();
  for (const auto& loop : loops_) loop->WaitEmpty(deadline);
  for (const auto& loop : loops_) loop->Join();
}

}  // namespace nereid::transport
