// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/ubjson.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace nereid_backend {
namespace {

constexpr size_t kMostDepth = 64;

// Bytes of a number of `type`; 0 for a type without a fixed size.
size_t SizeOfType(char type) {
  switch (type) {
    case 'i':
    case 'U':
      return 1;
    case 'I':
      return 2;
    case 'l':
    case 'd':
      return 4;
    case 'L':
    case 'D':
      return 8;
    default:
      return 0;
  }
}

// Numbers are big-endian. REQUIRES: sizeof(T) bytes.
template <typename T, typename Bits>
T FromBigEndian(const char* bytes) {
  Bits bits = 0;
  for (size_t i = 0; i < sizeof(Bits); ++i) {
    bits = static_cast<Bits>(bits << 8 | static_cast<uint8_t>(bytes[i]));
  }
  return std::bit_cast<T>(bits);
}

DocumentNumber Whole(int64_t value) {
  return {static_cast<double>(value), static_cast<float>(value)};
}

DocumentNumber NumberOfType(char type, const char* bytes) {
  switch (type) {
    case 'i':
      return Whole(static_cast<int8_t>(*bytes));
    case 'U':
      return Whole(static_cast<uint8_t>(*bytes));
    case 'I':
      return Whole(FromBigEndian<int16_t, uint16_t>(bytes));
    case 'l':
      return Whole(FromBigEndian<int32_t, uint32_t>(bytes));
    case 'L':
      return Whole(FromBigEndian<int64_t, uint64_t>(bytes));
    case 'd': {
      const auto value = FromBigEndian<float, uint32_t>(bytes);
      return {double{value}, value};
    }
    default: {
      const auto value = FromBigEndian<double, uint64_t>(bytes);
      return {value, static_cast<float>(value)};
    }
  }
}

class Reader {
 public:
  Reader(std::string_view bytes, DocumentEvents* events) : bytes_(bytes), events_(*events) {}

  Error Read() {
    bool good = Value();
    while (good && !open_.empty()) good = Continue();
    if (good && at_ != bytes_.size()) good = Refuse("there is more after the end of the value");
    if (good) return Error();
    return Error::InvalidArg(StrCat(problem_, " at offset ", at_));
  }

 private:
  // An array or object that is being read.
  struct Level {
    bool is_object;
    std::optional<int64_t> left;  // values that follow, if the container states their number
  };

  bool Refuse(std::string_view problem) {
    problem_ = problem;
    return false;
  }
  bool Reported(bool reported) { return reported || Refuse("the document is not such a model"); }

  bool Take(size_t count, const char** start) {
    if (bytes_.size() - at_ < count) return Refuse("the file ends too early");
    *start = bytes_.data() + at_;
    at_ += count;
    return true;
  }
  bool TakeMarker(char* marker) {
    const char* start = nullptr;
    if (!Take(1, &start)) return false;
    *marker = *start;
    return true;
  }
  bool Next(char wanted) {
    if (at_ >= bytes_.size() || bytes_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool TakeCount(int64_t* count) {
    char type = 0;
    const char* start = nullptr;
    if (!TakeMarker(&type)) return false;
    if (SizeOfType(type) == 0 || type == 'd' || type == 'D') {
      return Refuse("a length is not a whole number");
    }
    if (!Take(SizeOfType(type), &start)) return false;
    const double value = NumberOfType(type, start).value;
    if (value < 0) return Refuse("a length is negative");
    // Whatever is counted takes a byte or more.
    if (value > static_cast<double>(bytes_.size())) return Refuse("the file ends too early");
    *count = static_cast<int64_t>(value);
    return true;
  }

  bool TakeText(std::string_view* text) {
    int64_t size = 0;
    const char* start = nullptr;
    if (!TakeCount(&size) || !Take(static_cast<size_t>(size), &start)) return false;
    *text = {start, static_cast<size_t>(size)};
    return true;
  }

  // The next part of the innermost container.
  bool Continue() {
    Level& level = open_.back();
    while (Next('N')) {
    }
    const bool ends = level.left.has_value() ? *level.left == 0 : Next(level.is_object ? '}' : ']');
    if (ends) {
      open_.pop_back();
      return Reported(events_.OnClose());
    }
    if (level.left.has_value()) --*level.left;
    if (level.is_object) {
      std::string_view key;
      if (!TakeText(&key) || !Reported(events_.OnKey(key))) return false;
    }
    return Value();
  }

  bool Value() {
    char type = 0;
    std::string_view text;
    const char* start = nullptr;
    if (!TakeMarker(&type)) return false;
    if (SizeOfType(type) > 0) {
      return Take(SizeOfType(type), &start) &&
             Reported(events_.OnNumber(NumberOfType(type, start)));
    }
    switch (type) {
      case '{':
      case '[':
        return Open(type == '{');
      case 'S':
      case 'H':
        return TakeText(&text) && Reported(events_.OnString(text));
      case 'C':
        return Take(1, &start) && Reported(events_.OnString({start, 1}));
      case 'T':
      case 'F':
        return Reported(events_.OnNumber(Whole(type == 'T' ? 1 : 0)));
      case 'Z':
        return Reported(events_.OnString(""));
      default:
        --at_;
        return Refuse("there is a byte that begins no value");
    }
  }

  bool Open(bool is_object) {
    if (open_.size() >= kMostDepth) return Refuse("values are nested too deeply");
    if (!Reported(events_.OnOpen(is_object))) return false;
    char type = 0;
    if (Next('$')) {
      if (!TakeMarker(&type)) return false;
      if (is_object || SizeOfType(type) == 0) {
        return Refuse("only arrays of numbers can have a type");
      }
      if (at_ >= bytes_.size() || bytes_[at_] != '#') {
        return Refuse("an array with a type has no length");
      }
    }
    Level level{is_object, std::nullopt};
    if (Next('#')) {
      int64_t count = 0;
      if (!TakeCount(&count)) return false;
      if (type != 0) return Numbers(type, static_cast<size_t>(count));
      level.left = count;
    }
    open_.push_back(level);
    return true;
  }

  // An array of `count` numbers without markers.
  bool Numbers(char type, size_t count) {
    const size_t size = SizeOfType(type);
    const char* start = nullptr;
    if (!Take(count * size, &start)) return false;
    for (size_t i = 0; i < count; ++i) {
      if (!Reported(events_.OnNumber(NumberOfType(type, start + i * size)))) return false;
    }
    return Reported(events_.OnClose());
  }

  const std::string_view bytes_;
  DocumentEvents& events_;
  size_t at_ = 0;
  std::vector<Level> open_;
  std::string_view problem_;
};

}  // namespace

Error ReadUbjson(std::string_view bytes, DocumentEvents* events) {
  return Reader(bytes, events).Read();
}

}  // namespace nereid_backend
