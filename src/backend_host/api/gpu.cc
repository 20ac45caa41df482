// SPDX-License-Identifier: Apache-2.0
// The functions NEREID_Gpu*: streams and events of a GPU, for backends.
#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "backend_host/api/handles.h"
#include "base/status_macros.h"
#include "c_objects/error.h"
#include "device/devices.h"
#include "device/stream.h"
#include "nereid/backend.h"

using nereid::CaughtError;
using nereid::CopyItem;
using nereid::Event;
using nereid::Gpu;
using nereid::MemoryPlace;
using nereid::MemoryType;
using nereid::Stream;
using nereid::ToCError;
using nereid::Unwrap;

namespace {

Stream* Unwrapped(NEREID_GpuStream* stream) { return reinterpret_cast<Stream*>(stream); }
Event* Unwrapped(NEREID_GpuEvent* event) { return reinterpret_cast<Event*>(event); }

absl::StatusOr<Gpu*> GpuOf(TRITONBACKEND_ModelInstance* handle) {
  const nereid::BackendInstance& instance = *Unwrap(handle);
  const nereid::InstanceSpec& spec = instance.spec();
  Gpu* const gpu = spec.kind == nereid::InstanceKind::kGpu
                       ? instance.model()->backend()->devices()->Get(spec.device_id)
                       : nullptr;
  if (gpu != nullptr) return gpu;
  return absl::InvalidArgumentError(
      absl::StrCat("instance '", spec.name, "' has no GPU: its kind is not KIND_GPU"));
}

// Makes a stream or an event.
template <typename Made, typename Handle, typename Make>
absl::Status New(TRITONBACKEND_ModelInstance* instance, Handle** handle, const Make& make) {
  *handle = nullptr;
  ASSIGN_OR_RETURN(Gpu* const gpu, GpuOf(instance));
  ASSIGN_OR_RETURN(std::unique_ptr<Made> made, make(gpu));
  *handle = reinterpret_cast<Handle*>(made.release());
  return absl::OkStatus();
}

}  // namespace

extern "C" {

TRITONSERVER_Error* NEREID_GpuStreamNew(NEREID_GpuStream** stream,
                                        TRITONBACKEND_ModelInstance* instance) try {
  return ToCError(New<Stream>(
      instance, stream, [](Gpu* gpu) { return Stream::Create(gpu, Stream::Priority::kUsual); }));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuStreamDelete(NEREID_GpuStream* stream) try {
  delete Unwrapped(stream);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuStreamNative(NEREID_GpuStream* stream, void** native) try {
  *native = reinterpret_cast<void*>(Unwrapped(stream)->native());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuStreamCopy(NEREID_GpuStream* stream, const NEREID_GpuCopy* copies,
                                         const uint32_t count) try {
  std::vector<CopyItem> items;
  items.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const NEREID_GpuCopy& copy = copies[i];
    items.push_back({copy.to, MemoryPlace{static_cast<MemoryType>(copy.to_type), copy.to_id},
                     copy.from, MemoryPlace{static_cast<MemoryType>(copy.from_type), copy.from_id},
                     copy.byte_size});
  }
  return ToCError(Unwrapped(stream)->Copy(items));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuStreamRecord(NEREID_GpuStream* stream, NEREID_GpuEvent* event) try {
  return ToCError(Unwrapped(stream)->Record(Unwrapped(event)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuStreamWait(NEREID_GpuStream* stream, NEREID_GpuEvent* event) try {
  return ToCError(Unwrapped(stream)->WaitFor(*Unwrapped(event)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuEventNew(NEREID_GpuEvent** event,
                                       TRITONBACKEND_ModelInstance* instance) try {
  return ToCError(New<Event>(instance, event, [](Gpu* gpu) { return Event::Create(gpu); }));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuEventDelete(NEREID_GpuEvent* event) try {
  delete Unwrapped(event);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuEventSynchronize(NEREID_GpuEvent* event) try {
  return ToCError(Unwrapped(event)->Synchronize());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_GpuEventElapsed(NEREID_GpuEvent* start, NEREID_GpuEvent* end,
                                           uint64_t* nanoseconds) try {
  const auto elapsed = Unwrapped(end)->Since(*Unwrapped(start));
  if (!elapsed.ok()) return ToCError(elapsed.status());
  *nanoseconds = static_cast<uint64_t>(elapsed->count());
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
