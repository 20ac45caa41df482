// CompletionTag: what a completion queue returns when an operation has ended. Knows which method of
// which object to call then. Lives inside that object. Immutable.
#ifndef NEREID_FRONTENDS_GRPC_COMPLETION_TAG_H_
#define NEREID_FRONTENDS_GRPC_COMPLETION_TAG_H_

namespace nereid {

class CompletionTag {
 public:
  // `ok`: the operation succeeded; false if its call or its queue has ended.
  virtual void Run(bool ok) = 0;

 protected:
  ~CompletionTag() = default;
};

template <typename Owner, void (Owner::*kMethod)(bool)>
class MemberTag final : public CompletionTag {
 public:
  explicit MemberTag(Owner* owner) : owner_(owner) {}
  void Run(bool ok) override { (owner_->*kMethod)(ok); }

 private:
  Owner* const owner_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_COMPLETION_TAG_H_
