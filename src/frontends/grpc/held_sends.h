// HeldSends: while one exists, the kernel holds back what the calling thread sends on sockets;
// everything goes out when the object is destroyed.
//
// gRPC makes a system call for every answer, each of which sends a packet and wakes the client. If
// a completion queue's thread has several events to handle, HeldSends lets it send packets and wake
// the client only once, which saves a third of the cost of such an answer (docs/adr/0005). gRPC
// offers no option for this, so the program defines sendmsg itself (held_sends.cc) and adds
// MSG_MORE. If a program does not export that definition, as in tests, nothing is held back.
//
// Lives on the stack of a thread; at most one per thread at a time.
#ifndef NEREID_FRONTENDS_GRPC_HELD_SENDS_H_
#define NEREID_FRONTENDS_GRPC_HELD_SENDS_H_

namespace nereid {

class HeldSends {
 public:
  HeldSends();
  ~HeldSends();
  HeldSends(const HeldSends&) = delete;
  HeldSends& operator=(const HeldSends&) = delete;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_HELD_SENDS_H_
