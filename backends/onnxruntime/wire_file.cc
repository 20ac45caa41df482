// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/wire_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace nereid_backend {
namespace {

constexpr uint64_t kMostText = 64 << 10;  // bytes of a name

}  // namespace

WireFile::WireFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  const off_t end = fd_ < 0 ? 0 : lseek(fd_, 0, SEEK_END);
  if (end > 0) size_ = static_cast<uint64_t>(end);
}

WireFile::~WireFile() {
  if (fd_ >= 0) close(fd_);
}

int WireFile::ByteAt(uint64_t at) {
  if (at < begin_ || at >= begin_ + filled_) {
    const ssize_t got = pread(fd_, window_.data(), window_.size(), static_cast<off_t>(at));
    begin_ = at;
    filled_ = got > 0 ? static_cast<uint64_t>(got) : 0;
  }
  if (at - begin_ >= filled_) return -1;
  return static_cast<unsigned char>(window_[at - begin_]);
}

bool WireFile::Append(uint64_t begin, uint64_t end, std::string* bytes) const {
  size_t filled = bytes->size();
  bytes->resize(filled + (end - begin));
  while (begin < end) {
    const ssize_t got = pread(fd_, bytes->data() + filled, end - begin, static_cast<off_t>(begin));
    if (got <= 0) return false;
    begin += static_cast<uint64_t>(got);
    filled += static_cast<size_t>(got);
  }
  return true;
}

bool WireMessage::Next(WireField* field) {
  if (damaged_ || at_ == end_) return false;
  const uint64_t start = at_;
  uint64_t key = 0;
  if (!ReadVarint(&key)) return false;
  *field = WireField();
  field->number = key >> 3;
  field->start = start;
  switch (key & 7) {
    case 0:
      field->kind = WireField::Kind::kVarint;
      return ReadVarint(&field->value);
    case 1:
      return Skip(8);
    case 2:
      return ReadVarint(&field->value) && TakeBytes(field);
    case 5:
      return Skip(4);
    default:
      damaged_ = true;
      return false;
  }
}

bool WireMessage::ReadVarint(uint64_t* value) {
  for (int shift = 0; shift < 64; shift += 7) {
    const int byte = at_ < end_ ? file_->ByteAt(at_) : -1;
    if (byte < 0) break;
    ++at_;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  damaged_ = true;
  return false;
}

bool WireMessage::Skip(uint64_t size) {
  damaged_ = size > end_ - at_;
  if (!damaged_) at_ += size;
  return !damaged_;
}

bool WireMessage::TakeBytes(WireField* field) {
  field->kind = WireField::Kind::kBytes;
  field->begin = at_;
  if (!Skip(std::exchange(field->value, 0))) return false;
  field->end = at_;
  return true;
}

bool ReadText(WireFile* file, const WireField& bytes, std::string* text) {
  if (bytes.end - bytes.begin > kMostText) return false;
  text->clear();
  for (uint64_t at = bytes.begin; at < bytes.end; ++at) {
    const int byte = file->ByteAt(at);
    if (byte < 0) return false;
    text->push_back(static_cast<char>(byte));
  }
  return true;
}

}  // namespace nereid_backend
