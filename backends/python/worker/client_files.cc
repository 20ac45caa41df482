// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/client_files.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/python/ipc/control.h"
#include "backends/python/ipc/file_message.h"
#include "backends/python/worker/process.h"
#include "backends/python/worker/stream_copy.h"
#include "backends/sdk/ipc/memory_file.h"

namespace nereid_python::worker {
namespace {

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// How many page faults this process has had. The first write to a page of a mapping is one.
int64_t Faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt + used.ru_majflt;
}

// The bytes of a part of a file, zeros behind its end. Null if there is no memory.
char* CopyOf(int file, uint64_t offset, uint64_t size, Keeper* keeper) {
  const uint64_t room = (size + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  char* const copy = static_cast<char*>(std::aligned_alloc(kBlockAlignment, room));
  if (copy == nullptr) return nullptr;
  *keeper = Keeper(copy, [](void* bytes) { std::free(bytes); });
  uint64_t done = 0;
  while (done < size) {
    const ssize_t got = pread(file, copy + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<uint64_t>(got);
  }
  std::memset(copy + done, 0, size - done);
  return copy;
}

uint64_t PageSize() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// The request PAGEMAP_SCAN (Linux 6.7), which older headers lack.
struct ScanArguments {
  uint64_t size = sizeof(ScanArguments);
  uint64_t flags = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t walk_end = 0;
  uint64_t regions = 0;
  uint64_t region_count = 0;
  uint64_t max_pages = 0;
  uint64_t category_inverted = 0;
  uint64_t category_mask = 0;
  uint64_t category_anyof_mask = 0;
  uint64_t return_mask = 0;
};
struct ScanRegion {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t categories = 0;
};
constexpr auto kScan = _IOWR('f', 16, ScanArguments);
constexpr uint64_t kIsFile = 1 << 2;
constexpr uint64_t kIsPresent = 1 << 3;
constexpr uint64_t kIsSwapped = 1 << 4;

// Bits of an entry of the page map.
constexpr uint64_t kEntryPresent = uint64_t{1} << 63;
constexpr uint64_t kEntrySwapped = uint64_t{1} << 62;
constexpr uint64_t kEntryFile = uint64_t{1} << 61;

}  // namespace

PrivatePages::PrivatePages()
    : pagemap_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)),
      page_size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
  if (!pagemap_.valid()) return;
  works_ = Try();
  if (works_) return;
  scans_ = false;
  works_ = Try();
}

bool PrivatePages::Any(const char* base, size_t size) const {
  const auto begin = reinterpret_cast<uintptr_t>(base);
  bool any = false;
  const bool known = scans_ ? Scan(begin, begin + size, &any) : Read(begin, begin + size, &any);
  return !known || any;
}

bool PrivatePages::Scan(uintptr_t begin, uintptr_t end, bool* any) const {
  ScanRegion found;
  ScanArguments arguments;
  arguments.start = begin;
  arguments.end = end;
  arguments.regions = reinterpret_cast<uint64_t>(&found);
  arguments.region_count = 1;
  arguments.max_pages = 1;
  arguments.category_inverted = kIsFile;
  arguments.category_mask = kIsFile;
  arguments.category_anyof_mask = kIsPresent | kIsSwapped;
  arguments.return_mask = kIsPresent;
  const int regions = ioctl(pagemap_.get(), kScan, &arguments);
  *any = regions > 0;
  return regions >= 0;
}

bool PrivatePages::Read(uintptr_t begin, uintptr_t end, bool* any) const {
  std::array<uint64_t, 512> entries;
  uintptr_t page = begin / page_size_;
  uintptr_t left = (end - begin) / page_size_;
  while (left > 0 && !*any) {
    const size_t bytes = std::min<size_t>(left, entries.size()) * sizeof(entries[0]);
    const ssize_t got =
        pread(pagemap_.get(), entries.data(), bytes, static_cast<off_t>(page * sizeof(entries[0])));
    if (got <= 0) return false;
    const size_t count = static_cast<size_t>(got) / sizeof(entries[0]);
    if (count == 0) return false;
    *any = std::any_of(entries.begin(), entries.begin() + count, [](uint64_t entry) {
      return (entry & (kEntryPresent | kEntrySwapped)) != 0 && (entry & kEntryFile) == 0;
    });
    page += count;
    left -= count;
  }
  return true;
}

bool PrivatePages::Try() const {
  const nereid_ipc::UniqueFd file = nereid_ipc::CreateMemoryFile("nereid-python-try", page_size_);
  if (!file.valid()) return false;
  void* const mapped =
      mmap(nullptr, page_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) return false;
  char* const bytes = static_cast<char*>(mapped);
  const char before = *static_cast<volatile char*>(bytes);
  const bool clean = !Any(bytes, page_size_);
  *static_cast<volatile char*>(bytes) = static_cast<char>(before + 1);
  const bool written = Any(bytes, page_size_);
  munmap(mapped, page_size_);
  return clean && written;
}

bool FileMapping::PartOf(int file, Kind kind, uint64_t offset, uint64_t size, Part* part) {
  struct stat status {};
  if (fstat(file, &status) != 0) return false;
  *part = {kind, status.st_dev, status.st_ino, offset, size};
  return true;
}

std::unique_ptr<FileMapping> FileMapping::Map(int file, const Part& part) {
  std::unique_ptr<FileMapping> made(new FileMapping(part));
  const uint64_t before = part.offset % PageSize();
  const uint64_t size = (before + part.size + PageSize() - 1) / PageSize() * PageSize();
  const int sharing = part.kind == Kind::kInput ? MAP_PRIVATE : MAP_SHARED;
  void* const base = mmap(nullptr, size, PROT_READ | PROT_WRITE, sharing | MAP_NORESERVE, file,
                          static_cast<off_t>(part.offset - before));
  if (base == MAP_FAILED) return nullptr;
  made->base_ = static_cast<char*>(base);
  made->mapped_ = size;
  made->data_ = made->base_ + before;
  made->guard_ = nereid::PageGuard::Make(base, size);
  return made->guard_.has_value() ? std::move(made) : nullptr;
}

FileMapping::~FileMapping() {
  guard_.reset();
  if (base_ != nullptr) munmap(base_, mapped_);
}

// Writing to a page of a private mapping makes it a copy. Each page gets a byte that it has
// already, unless another thread has written there meanwhile.
void FileMapping::Detach() {
  for (uint64_t at = 0; at < mapped_; at += PageSize()) {
    char byte = __atomic_load_n(base_ + at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(base_ + at, &byte, byte, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
  }
}

struct ClientFiles::Use {
  Use(ClientFiles* files, std::unique_ptr<FileMapping> mapping)
      : files(files), mapping(std::move(mapping)), faults(Faults()) {}
  ~Use() { files->GiveBack(std::move(mapping), faults); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  ClientFiles* const files;
  std::unique_ptr<FileMapping> mapping;
  const int64_t faults;  // before
};

std::optional<ClientFiles::File> ClientFiles::Receive(uint64_t number, FileMapping::Kind kind,
                                                      uint64_t offset, uint64_t size) {
  File file;
  while (received_ < number) {
    if (!ReceiveFile(kFilesFd, &received_, &file.descriptor)) return std::nullopt;
  }
  if (!file.descriptor.valid()) {
    errno = EMFILE;
    return std::nullopt;
  }
  if (!FileMapping::PartOf(file.descriptor.get(), kind, offset, size, &file.part)) {
    return std::nullopt;
  }
  return file;
}

char* ClientFiles::Input(uint64_t number, uint64_t offset, uint64_t size, Keeper* keeper) {
  const std::optional<File> file = Receive(number, FileMapping::Kind::kInput, offset, size);
  if (!file.has_value()) return nullptr;
  char* const mapped = Map(*file, keeper);
  return mapped != nullptr ? mapped : CopyOf(file->descriptor.get(), offset, size, keeper);
}

char* ClientFiles::Place(uint64_t number, uint64_t offset, uint64_t size, Keeper* keeper,
                         bool* cold) {
  const std::optional<File> file = Receive(number, FileMapping::Kind::kOutput, offset, size);
  if (!file.has_value()) return nullptr;
  char* const place = Map(*file, keeper);
  if (place != nullptr) *cold = UseCold(static_cast<Use*>(keeper->get())->mapping.get());
  return place;
}

// An output is usually as large as what was read for it.
bool ClientFiles::UseCold(FileMapping* place) {
  const uint64_t moved = 2 * (placed_ - place->last_use());
  const bool cold = place->last_use() > 0 && moved > BytesUntilCold();
  placed_ += place->part().size;
  place->set_last_use(placed_);
  return cold;
}

char* ClientFiles::Map(const File& file, Keeper* keeper) {
  std::unique_ptr<FileMapping> mapping = Take(file.part);
  if (mapping == nullptr) mapping = FileMapping::Map(file.descriptor.get(), file.part);
  if (mapping == nullptr) return nullptr;
  char* const data = mapping->data();
  if (file.part.kind == FileMapping::Kind::kInput) inputs_.insert(mapping.get());
  *keeper = std::make_shared<Use>(this, std::move(mapping));
  return data;
}

std::unique_ptr<FileMapping> ClientFiles::Take(const FileMapping::Part& part) {
  const auto found = std::find_if(unused_.begin(), unused_.end(), [&](const Unused& unused) {
    return unused.mapping->part() == part;
  });
  if (found == unused_.end()) return nullptr;
  std::unique_ptr<FileMapping> mapping = std::move(found->mapping);
  unused_.erase(found);
  return mapping;
}

void ClientFiles::Detach() {
  for (FileMapping* const input : inputs_) {
    input->Detach();
    taken_ = true;
  }
  inputs_.clear();
}

// Pages are looked at, which takes a quarter of the time of a copy, only if there were faults. A
// forked process shares the page map of its parent, which says nothing about its own memory.
void ClientFiles::GiveBack(std::unique_ptr<FileMapping> mapping, int64_t faults_before) {
  const bool is_input = mapping->part().kind == FileMapping::Kind::kInput;
  const bool detached = is_input && inputs_.erase(mapping.get()) == 0;
  if (InForkedChild() || detached || mapping->damaged()) return;
  if (is_input && Faults() != faults_before && mapping->IsWritten(pages_)) {
    taken_ = true;
    return;
  }
  unused_.push_back({std::move(mapping), NowNs()});
  if (unused_.size() > kMostUnused) unused_.pop_front();
}

void ClientFiles::EndUnused() {
  const uint64_t now = NowNs();
  while (!unused_.empty() && now - unused_.front().since_ns >= kKeptNs) unused_.pop_front();
}

}  // namespace nereid_python::worker
