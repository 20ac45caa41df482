#include "frontends/grpc/received_message.h"

#include "base/status_macros.h"
#include "frontends/grpc/tree_cost.h"

namespace nereid {
namespace {

constexpr size_t kKeptHeaderBytes = 16384;  // memory of larger messages is freed
constexpr size_t kKeptSlices = 1024;
constexpr uint64_t kFreeTreeBytes = 4096;

}  // namespace

absl::Status ReceivedMessage::Parse(Budget* budget, uint64_t held) {
  if (!bytes_.Dump(&slices_).ok()) return absl::InternalError("Unable to read request");
  slice_views_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) {
    slice_views_.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  if (!SplitMessage(slice_views_, &split_)) {
    return absl::InvalidArgumentError("Unable to parse request");
  }
  // Charged before parsing; the little that a typical message needs is part of every request's
  // charge.
  const std::optional<uint64_t> tree = TreeCost(split_.header);
  if (!tree.has_value()) return absl::InvalidArgumentError("Unable to parse request");
  if (*tree > kFreeTreeBytes) {
    ASSIGN_OR_RETURN(tree_units_, budget->TakeFairly(*tree, held, ShareUse::kAdmission));
  }
  if (!message_.has_value()) message_.emplace();
  if (!message_->ParseFromArray(split_.header.data(), static_cast<int>(split_.header.size()))) {
    return absl::InvalidArgumentError("Unable to parse request");
  }
  parsed_ = true;
  return absl::OkStatus();
}

void ReceivedMessage::Clear() {
  const bool large = split_.header.size() > kKeptHeaderBytes;
  if (large) {
    message_.reset();
  } else if (message_.has_value()) {
    message_->Clear();
  }
  parsed_ = false;
  split_.Clear();
  slice_views_.clear();
  slices_.clear();
  if (slices_.capacity() > kKeptSlices) {
    slices_ = {};
    slice_views_ = {};
  }
  bytes_.Clear();
  tree_units_.Return();
}

}  // namespace nereid
