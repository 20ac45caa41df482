// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/port_holder.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace nereid::transport {
namespace {

namespace fs = std::filesystem;
using boost::asio::ip::tcp;

constexpr char kListens[] = "0A";
// The fields of a line of /proc/net/tcp and tcp6.
constexpr size_t kLocal = 1, kState = 3, kUser = 7, kInode = 9;
// Before the address of IPv4 that a socket of IPv6 has.
constexpr char kMapped[] = "0000000000000000FFFF0000";

struct FoundSocket {
  std::string inode;
  std::string user;
  bool listens = false;
};

// As the kernel writes an address: its words as the processor reads them.
template <typename Bytes>
std::string Words(const Bytes& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint32_t)) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    absl::StrAppendFormat(&text, "%08X", word);
  }
  return text;
}

// Of both kinds, IPv4 as IPv6 has it.
std::string Words(const tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  if (address.is_v6()) return Words(address.to_v6().to_bytes());
  return absl::StrCat(kMapped, Words(address.to_v4().to_bytes()));
}

bool IsAny(absl::string_view words) {
  return words.find_first_not_of('0') == absl::string_view::npos;
}

// Whether sockets at both addresses, of one port, are in each other's way.
bool Collide(absl::string_view one, absl::string_view other) {
  if (one == other || IsAny(one) || IsAny(other)) return true;
  const auto is_any_v4 = [](absl::string_view words) {
    return absl::StartsWith(words, kMapped) && IsAny(words.substr(std::strlen(kMapped)));
  };
  const bool both_v4 = absl::StartsWith(one, kMapped) && absl::StartsWith(other, kMapped);
  return both_v4 && (is_any_v4(one) || is_any_v4(other));
}

// The socket of `file`, a list of IPv4 if `v4`, that is in the way of `wanted`.
std::optional<FoundSocket> FindSocket(const fs::path& file, bool v4, const tcp::endpoint& wanted) {
  const std::string words = Words(wanted);
  const std::string port = absl::StrFormat("%04X", wanted.port());
  std::optional<FoundSocket> found;
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (fields.size() <= kInode || fields[kInode] == "0") continue;
    const std::vector<std::string> local = absl::StrSplit(fields[kLocal], ':');
    if (local.size() != 2 || local[1] != port) continue;
    if (!Collide(absl::StrCat(v4 ? kMapped : "", local[0]), words)) continue;
    const bool listens = fields[kState] == kListens;
    if (!found.has_value() || listens) found = {fields[kInode], fields[kUser], listens};
    if (listens) break;
  }
  return found;
}

// Whether one of the descriptors in the folder is the socket that `link` names.
bool HasDescriptor(const fs::path& descriptors, const std::string& link) {
  std::error_code error;  // of processes that have ended, or are of others
  for (fs::directory_iterator it(descriptors, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code unread;
    if (fs::read_symlink(it->path(), unread) == link) return true;
  }
  return false;
}

PortHolder Holder(const fs::path& proc, const FoundSocket& socket) {
  PortHolder holder;
  holder.user = socket.user;
  const std::string link = absl::StrCat("socket:[", socket.inode, "]");
  std::error_code error;
  for (fs::directory_iterator it(proc, error), end; !error && it != end; it.increment(error)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(it->path().filename().string(), &pid)) continue;
    if (holder.pid != 0 && pid > holder.pid) continue;  // children have their parent's sockets
    if (HasDescriptor(it->path() / "fd", link)) holder.pid = pid;
  }
  if (holder.pid != 0) {
    std::ifstream name(proc / std::to_string(holder.pid) / "comm");
    std::getline(name, holder.command);
  }
  return holder;
}

}  // namespace

std::optional<PortHolder> FindPortHolder(const tcp::endpoint& wanted, const fs::path& proc) {
  const auto v4 = FindSocket(proc / "net" / "tcp", true, wanted);
  const auto v6 = FindSocket(proc / "net" / "tcp6", false, wanted);
  const auto& socket = !v4.has_value() || (v6.has_value() && v6->listens && !v4->listens) ? v6 : v4;
  if (!socket.has_value()) return std::nullopt;
  return Holder(proc, *socket);
}

std::string HolderText(const tcp::endpoint& wanted, const std::optional<PortHolder>& holder) {
  if (holder.has_value() && holder->pid != 0) {
    return absl::StrCat("by process ", holder->pid, " (", holder->command, ")");
  }
  const std::string look = absl::StrCat("`ss -tanp 'sport = :", wanted.port(), "'`");
  if (holder.has_value()) {
    return absl::StrCat("by a process of the user with the number ", holder->user,
                        ", which that user and root see with ", look);
  }
  return absl::StrCat(
      "by a process that does not listen yet or is not shown here; once it listens, root sees it "
      "with ",
      look);
}

}  // namespace nereid::transport
