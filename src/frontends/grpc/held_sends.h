// HeldSends: while one exists, what the calling thread sends on sockets is left with the kernel,
// and all of it goes out when this is destroyed.
//
// gRPC makes a system call for every answer, and each sends a packet and wakes the client. A
// completion queue's thread that has several events to handle saves all but the last of these,
// which is a third of what such an answer costs (docs/adr/0005). gRPC offers nothing for this. So
// the program defines sendmsg itself (held_sends.cc) and adds MSG_MORE; where a program does not
// export that definition, as in tests, nothing is held.
//
// Owned by a thread's stack; one at a time on each thread.
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
