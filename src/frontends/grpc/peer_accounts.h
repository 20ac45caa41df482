// PeerAccounts: approximately how many calls each connection has open, for the rule that refuses
// the biggest holder first. Thread-safe, without locks.
//
// gRPC identifies a connection only by its name, so the account is looked up only when there are
// many calls in total; below that, there is no cost. Connections whose names collide share an
// account.
#ifndef NEREID_FRONTENDS_GRPC_PEER_ACCOUNTS_H_
#define NEREID_FRONTENDS_GRPC_PEER_ACCOUNTS_H_

#include <absl/hash/hash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace nereid {

class PeerAccounts {
 public:
  // One call in an account, until the entry is destroyed. Thread-compatible, move-only.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept : account_(std::exchange(other.account_, nullptr)) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(account_, other.account_);
      return *this;
    }
    ~Entry() {
      if (account_ != nullptr) account_->fetch_sub(1, std::memory_order_relaxed);
    }
    // Calls of the account besides this one; 0 for an entry without an account.
    uint64_t others() const {
      return account_ == nullptr ? 0 : account_->load(std::memory_order_relaxed) - 1;
    }

   private:
    friend class PeerAccounts;
    explicit Entry(std::atomic<uint64_t>* account) : account_(account) {
      account_->fetch_add(1, std::memory_order_relaxed);
    }
    std::atomic<uint64_t>* account_ = nullptr;
  };

  // The limits on requests of the server and of a model; 0: none.
  PeerAccounts(uint64_t server_limit, uint64_t model_limit)
      : many_(std::min(ManyOf(server_limit), ManyOf(model_limit))) {}

  // Whether `open` requests in total are so many that their owners matter.
  bool AreMany(uint64_t open) const { return open >= many_; }

  Entry Enter(const std::string& peer) {
    return Entry(&accounts_[absl::HashOf(peer) % accounts_.size()]);
  }

 private:
  static uint64_t ManyOf(uint64_t limit) { return limit == 0 ? UINT64_MAX : limit / 8; }

  const uint64_t many_;
  std::array<std::atomic<uint64_t>, 1024> accounts_{};
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_PEER_ACCOUNTS_H_
