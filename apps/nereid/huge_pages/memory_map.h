// SPDX-License-Identifier: Apache-2.0
// What the kernel tells about the memory of a process: pure functions of the texts and numbers
// under /proc/PID. Their format: proc(5) and the kernel's documentation of pagemap.
#ifndef NEREID_APPS_NEREID_HUGE_PAGES_MEMORY_MAP_H_
#define NEREID_APPS_NEREID_HUGE_PAGES_MEMORY_MAP_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <istream>
#include <optional>
#include <vector>

namespace nereid {

// Part of an address space: [begin, end).
struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t anonymous = 0;  // bytes in memory that belong to no file
  uint64_t huge = 0;       // of these, in huge pages
};

// The private, writable mappings without a file, of a text like /proc/PID/smaps.
std::vector<Mapping> AnonymousMappings(std::istream& smaps);

// Bytes in memory that belong to no file, of a text like /proc/PID/statm; nothing if it is not one.
std::optional<uint64_t> AnonymousBytes(absl::string_view statm, uint64_t page_bytes);

// Whether all pages of these entries of /proc/PID/pagemap are in memory, belong to no file, and are
// mapped by this process alone.
bool AllOwnAndPresent(absl::Span<const uint64_t> entries);

// Whether the text of /sys/kernel/mm/transparent_hugepage/enabled lets programs have huge pages.
bool HugePagesAllowed(absl::string_view enabled);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_HUGE_PAGES_MEMORY_MAP_H_
