// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/gpu_work.h"

#include <utility>
#include <vector>

#include "backends/sdk/log.h"
#include "backends/sdk/server_function.h"
#include "nereid/backend.h"

namespace nereid_backend {
namespace {

struct Functions {
  template <typename FunctionT>
  bool Find(const char* name, FunctionT** function) {
    *function = ServerFunction<FunctionT>(name);
    return *function != nullptr;
  }
  bool FindAll() {
    return Find("NEREID_GpuStreamNew", &stream_new) &&
           Find("NEREID_GpuStreamDelete", &stream_delete) &&
           Find("NEREID_GpuStreamNative", &stream_native) &&
           Find("NEREID_GpuStreamCopy", &stream_copy) &&
           Find("NEREID_GpuStreamRecord", &stream_record) &&
           Find("NEREID_GpuStreamWait", &stream_wait) && Find("NEREID_GpuEventNew", &event_new) &&
           Find("NEREID_GpuEventDelete", &event_delete) &&
           Find("NEREID_GpuEventSynchronize", &event_synchronize) &&
           Find("NEREID_GpuEventElapsed", &event_elapsed);
  }

  decltype(NEREID_GpuStreamNew)* stream_new = nullptr;
  decltype(NEREID_GpuStreamDelete)* stream_delete = nullptr;
  decltype(NEREID_GpuStreamNative)* stream_native = nullptr;
  decltype(NEREID_GpuStreamCopy)* stream_copy = nullptr;
  decltype(NEREID_GpuStreamRecord)* stream_record = nullptr;
  decltype(NEREID_GpuStreamWait)* stream_wait = nullptr;
  decltype(NEREID_GpuEventNew)* event_new = nullptr;
  decltype(NEREID_GpuEventDelete)* event_delete = nullptr;
  decltype(NEREID_GpuEventSynchronize)* event_synchronize = nullptr;
  decltype(NEREID_GpuEventElapsed)* event_elapsed = nullptr;
};

class ServerGpuWork final : public GpuWork {
 public:
  explicit ServerGpuWork(const Functions& functions) : call_(functions) {}
  ~ServerGpuWork() override {
    for (NEREID_GpuStream* const stream : streams_) {
      NB_LOG_IF_ERROR(call_.stream_delete(stream), "failed to delete a stream");
    }
    for (NEREID_GpuEvent* const event : events_) {
      NB_LOG_IF_ERROR(call_.event_delete(event), "failed to delete an event");
    }
  }

  Error Make(TRITONBACKEND_ModelInstance* instance, int slots) {
    for (int i = 0; i < kLines; ++i) {
      NEREID_GpuStream* stream = nullptr;
      NB_RETURN_IF_ERROR(call_.stream_new(&stream, instance));
      streams_.push_back(stream);
    }
    for (int i = 0; i < slots * kPoints; ++i) {
      NEREID_GpuEvent* event = nullptr;
      NB_RETURN_IF_ERROR(call_.event_new(&event, instance));
      events_.push_back(event);
    }
    return Error();
  }

  Error Copy(Line line, const std::vector<NEREID_GpuCopy>& copies) override {
    if (copies.empty()) return Error();
    return Error(call_.stream_copy(Of(line), copies.data(), static_cast<uint32_t>(copies.size())));
  }
  void* Native(Line line) override {
    void* native = nullptr;
    NB_LOG_IF_ERROR(call_.stream_native(Of(line), &native), "failed to find a stream");
    return native;
  }
  Error Record(Line line, int slot, Point point) override {
    return Error(call_.stream_record(Of(line), Of(slot, point)));
  }
  Error Wait(Line line, int slot, Point point) override {
    return Error(call_.stream_wait(Of(line), Of(slot, point)));
  }
  Error Synchronize(int slot, Point point) override {
    return Error(call_.event_synchronize(Of(slot, point)));
  }
  Result<uint64_t> ElapsedNs(int slot, Point from, Point to) override {
    uint64_t elapsed = 0;
    NB_RETURN_IF_ERROR(call_.event_elapsed(Of(slot, from), Of(slot, to), &elapsed));
    return elapsed;
  }

 private:
  NEREID_GpuStream* Of(Line line) const { return streams_[static_cast<size_t>(line)]; }
  NEREID_GpuEvent* Of(int slot, Point point) const {
    return events_[static_cast<size_t>(slot * kPoints + static_cast<int>(point))];
  }

  const Functions call_;
  std::vector<NEREID_GpuStream*> streams_;  // by line
  std::vector<NEREID_GpuEvent*> events_;    // of slot 0 by point, then of slot 1, and so on
};

}  // namespace

Result<std::unique_ptr<GpuWork>> MakeGpuWork(TRITONBACKEND_ModelInstance* instance, int slots) {
  Functions functions;
  if (!functions.FindAll()) {
    return Error::Unsupported("this server gives backends no streams of GPUs");
  }
  auto work = std::make_unique<ServerGpuWork>(functions);
  NB_RETURN_IF_ERROR(work->Make(instance, slots));
  return std::unique_ptr<GpuWork>(std::move(work));
}

Error GpuBlock::Reserve(TRITONBACKEND_ModelInstance* instance, TRITONSERVER_MemoryType type,
                        int64_t id, size_t byte_size) {
  if (data_ != nullptr && type == type_ && id == id_ && byte_size <= byte_size_) return Error();
  Free();
  TRITONBACKEND_Model* model = nullptr;
  TRITONBACKEND_Backend* backend = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceModel(instance, &model));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelBackend(model, &backend));
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendMemoryManager(backend, &manager_));
  void* data = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_MemoryManagerAllocate(manager_, &data, type, id, byte_size));
  data_ = data;
  type_ = type;
  id_ = id;
  byte_size_ = byte_size;
  return Error();
}

void GpuBlock::Free() {
  if (data_ == nullptr) return;
  NB_LOG_IF_ERROR(TRITONBACKEND_MemoryManagerFree(manager_, data_, type_, id_),
                  "failed to free a block");
  data_ = nullptr;
}

}  // namespace nereid_backend
