// SchedulerSlot: a scheduler's data about a request that it has. Base class of the scheduler's own
// type, which the request does not know; InferRequest::FindSlot returns it with its type checked.
//
// Owned by the scheduler, which embeds or recycles slots: a request only points to its slot, from
// PutSlot to TakeSlot. A part of a scheduler may put its own slot over the scheduler's, and takes
// that slot out first.
// Thread-compatible; slot and pointers are guarded by the mutex of the scheduler that has the
// request.
#ifndef NEREID_INFER_SCHEDULER_SLOT_H_
#define NEREID_INFER_SCHEDULER_SLOT_H_

namespace nereid {

template <class T>
class SlotOf;

class SchedulerSlot {
 public:
  // This slot as a T, a type derived from SlotOf<T>; null if the slot is no T.
  template <class T>
  T* As() {
    return kind_ == &SlotOf<T>::kind ? static_cast<T*>(this) : nullptr;
  }

 protected:
  SchedulerSlot(const SchedulerSlot&) = default;
  SchedulerSlot& operator=(const SchedulerSlot&) = default;
  ~SchedulerSlot() = default;

 private:
  friend class InferRequest;
  template <class T>
  friend class SlotOf;
  explicit SchedulerSlot(const char* kind) : kind_(kind) {}

  const char* kind_;  // an address for each type
  SchedulerSlot* below_ = nullptr;
};

// The base of `class T : public SlotOf<T>`.
template <class T>
class SlotOf : public SchedulerSlot {
 protected:
  SlotOf() : SchedulerSlot(&kind) {}

 private:
  friend class SchedulerSlot;
  static inline char kind = 0;  // not constant: two kinds must not be merged into one
};

}  // namespace nereid

#endif  // NEREID_INFER_SCHEDULER_SLOT_H_
