// SPDX-License-Identifier: Apache-2.0
// PageGuard: keeps a mapping usable when the pages behind it vanish.
//
// Whoever shares a segment with this process can truncate it at any time. The next access to a page
// behind the new end raises SIGBUS, which would end the process. While a PageGuard exists, such an
// access finds zeros instead: the handler of SIGBUS replaces the rest of the mapping by memory of
// this process and marks the guard as damaged. All other signals take the course they had before. A
// process that installs its own handler of SIGBUS later does without this.
//
// The first guard installs the handler, for the rest of the process. Thread-safe.
#ifndef NEREID_PLAIN_PAGE_GUARD_H_
#define NEREID_PLAIN_PAGE_GUARD_H_

#include <cstddef>
#include <optional>

namespace nereid {

class PageGuard {
 public:
  // As many guards can exist at a time; the handler looks at each of them.
  static constexpr size_t kMaxGuards = 4096;

  // Guards [base, base + size), the pages of one mapping, which outlives the guard. Nothing, with
  // errno set, if that is not possible: ENOMEM if there are kMaxGuards already.
  static std::optional<PageGuard> Make(void* base, size_t size);

  PageGuard(PageGuard&& other) noexcept;
  PageGuard& operator=(PageGuard&& other) noexcept;
  ~PageGuard();

  // Whether pages have been replaced. Stays true.
  bool damaged() const;

 private:
  struct Slot;
  struct Handler;

  explicit PageGuard(Slot* slot) : slot_(slot) {}
  static Slot* TakeSlot();

  Slot* slot_;
};

}  // namespace nereid

#endif  // NEREID_PLAIN_PAGE_GUARD_H_
