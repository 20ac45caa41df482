// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tree_cost.h"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <utility>

namespace nereid {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Sizes of protobuf's objects, including what their owner needs to reference them.
constexpr uint64_t kMessage = 256;
constexpr uint64_t kMapEntry = 256;  // with its value, if that is a message
// A message has room for so many fields, and takes more for each further one.
constexpr int kFieldsOfMessage = 8;
constexpr uint64_t kField = 32;
constexpr uint64_t kString = 80;
constexpr uint64_t kArray = 64;  // however few numbers it has
constexpr uint64_t kGroup = 128;
// Per element of a repeated field, and per unknown field.
constexpr uint64_t kNumber = 32;
// A growing array reserves up to twice its size.
constexpr uint64_t kRoom = 2;
// Of bytes that are only copied, so many cost as much time as one that is looked at.
constexpr uint64_t kCopiedPerWork = 16;
// Parsed messages up to this size are not charged.
constexpr uint64_t kFreeTreeBytes = 4096;
// As in protobuf's parser.
constexpr int kMostDepth = 100;

struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  absl::string_view bytes;  // for a field with a length
};

// The fields of a message, one after another. Fields of a group count as the message's own with the
// number 0: our messages have no groups, so groups are kept unparsed.
class Fields {
 public:
  explicit Fields(absl::string_view message) : rest_(message) {}

  size_t left() const { return rest_.size(); }
  // False if the next bytes are not a field.
  bool Read(Field* field) {
    uint64_t tag;
    if (!ReadVarint(&tag)) return false;
    field->number = groups_ == 0 ? static_cast<uint32_t>(tag >> 3) : 0;
    field->wire_type = static_cast<uint32_t>(tag & 7);
    field->bytes = {};
    uint64_t value;
    switch (field->wire_type) {
      case 0:
        return ReadVarint(&value);
      case 1:
        return Skip(8);
      case 2:
        if (!ReadVarint(&value)) return false;
        field->bytes = rest_.substr(0, value);
        return Skip(value);
      case 3:
        ++groups_;
        return true;
      case 4:
        return --groups_ >= 0;
      case 5:
        return Skip(4);
      default:
        return false;
    }
  }

 private:
  bool ReadVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Skip(uint64_t size) {
    if (size > rest_.size()) return false;
    rest_.remove_prefix(size);
    return true;
  }

  absl::string_view rest_;
  int groups_ = 0;  // open groups
};

uint64_t FurtherFields(const Descriptor& type) {
  return static_cast<uint64_t>(std::max(type.field_count() - kFieldsOfMessage, 0)) * kField;
}

// Of a message, or of an entry of a map, which has its value also if the bytes have none.
uint64_t SizeOfMessage(const Descriptor& type) {
  if (!type.options().map_entry()) return kMessage + FurtherFields(type);
  const Descriptor* const value = type.map_value()->message_type();
  return kMapEntry + (value == nullptr ? 0 : FurtherFields(*value));
}

uint64_t SizeInMemory(const FieldDescriptor& number) {
  switch (number.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return sizeof(bool);
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_ENUM:
      return sizeof(uint32_t);
    default:
      return sizeof(uint64_t);
  }
}

// Whether numbers of the field have the same size on the wire as in memory.
bool IsFixed(const FieldDescriptor& number) {
  switch (number.type()) {
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED32:
    case FieldDescriptor::TYPE_SFIXED64:
      return true;
    default:
      return false;
  }
}

// Adds up the cost of one message.
class Scan {
 public:
  explicit Scan(uint64_t most_work) : most_work_(most_work) {}

  // False if the message, or one within it, is malformed.
  bool AddMessage(const Descriptor& type, absl::string_view message, int depth) {
    if (depth > kMostDepth) return false;
    cost_.bytes += SizeOfMessage(type);
    return AddFields(type, message, depth);
  }

  const TreeCost& cost() const { return cost_; }

 private:
  bool AddFields(const Descriptor& type, absl::string_view message, int depth) {
    Fields fields(message);
    Field field;
    while (fields.left() > 0 && cost_.work <= most_work_) {
      const size_t before = fields.left();
      if (!fields.Read(&field)) return false;
      // What the field holds is counted below.
      cost_.work += before - fields.left() - field.bytes.size();
      if (field.wire_type != 2) {
        // A single number, or the beginning or end of a group.
        cost_.bytes += field.wire_type == 3 ? kGroup : kNumber;
      } else if (!AddLong(type.FindFieldByNumber(static_cast<int>(field.number)), field.bytes,
                          depth)) {
        return false;
      }
    }
    return true;
  }

  // A field with a length; null: it is unknown.
  bool AddLong(const FieldDescriptor* field, absl::string_view bytes, int depth) {
    if (field == nullptr) return AddText(bytes, bytes.size() / kCopiedPerWork);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (field->containing_type()->options().map_entry()) {
          return AddFields(*field->message_type(), bytes, depth + 1);
        }
        return AddMessage(*field->message_type(), bytes, depth + 1);
      case FieldDescriptor::CPPTYPE_STRING:
        return AddText(bytes, field->type() == FieldDescriptor::TYPE_BYTES
                                  ? bytes.size() / kCopiedPerWork
                                  : bytes.size());
      default:
        return field->is_repeated() ? AddNumbers(*field, bytes)
                                    : AddText(bytes, bytes.size() / kCopiedPerWork);
    }
  }

  bool AddText(absl::string_view bytes, uint64_t work) {
    cost_.bytes += kString + bytes.size();
    cost_.work += work;
    return true;
  }

  // Packed.
  bool AddNumbers(const FieldDescriptor& field, absl::string_view bytes) {
    cost_.bytes += kArray;
    if (IsFixed(field)) {
      cost_.bytes += bytes.size() * kRoom;
      cost_.work += bytes.size() / kCopiedPerWork;
      return true;
    }
    cost_.work += bytes.size();
    if (cost_.work > most_work_) return true;
    const auto is_last = [](char byte) { return (static_cast<uint8_t>(byte) & 0x80) == 0; };
    const auto count = std::count_if(bytes.begin(), bytes.end(), is_last);
    cost_.bytes += static_cast<uint64_t>(count) * SizeInMemory(field) * kRoom;
    return true;
  }

  const uint64_t most_work_;
  TreeCost cost_;
};

absl::Status NoSuchMessage() { return absl::InvalidArgumentError("Unable to parse request"); }

}  // namespace

std::optional<TreeCost> ForetellTree(const Descriptor& type, absl::string_view message,
                                     uint64_t most_work) {
  Scan scan(most_work);
  if (!scan.AddMessage(type, message, /*depth=*/1)) return std::nullopt;
  return scan.cost();
}

absl::StatusOr<BudgetUnits> ParseCharged(absl::string_view bytes, Budget* budget,
                                         const std::shared_ptr<Holder>& holder,
                                         google::protobuf::Message* message) {
  const std::optional<TreeCost> cost = ForetellTree(*message->GetDescriptor(), bytes);
  if (!cost.has_value()) return NoSuchMessage();
  BudgetUnits units;
  if (budget != nullptr && cost->bytes > kFreeTreeBytes) {
    absl::StatusOr<BudgetUnits> taken = budget->TakeFor(holder, cost->bytes, ShareUse::kAdmission);
    if (!taken.ok()) return taken.status();
    units = *std::move(taken);
  }
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return NoSuchMessage();
  }
  return units;
}

}  // namespace nereid
