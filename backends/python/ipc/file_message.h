// SPDX-License-Identifier: Apache-2.0
// Files of the shared memory of clients on their way from the server to the process of a Python
// model: messages on a socket pair of the kind SOCK_SEQPACKET (kFilesFd), each a number and a
// descriptor. The numbers ascend; tensors refer to them (value.h). A message that no tensor refers
// to is of no interest: the server has decided otherwise after sending it.
#ifndef NEREID_BACKENDS_PYTHON_IPC_FILE_MESSAGE_H_
#define NEREID_BACKENDS_PYTHON_IPC_FILE_MESSAGE_H_

#include <cstdint>

#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_python {

// Neither function waits.
// False if the socket takes no more, or if no further descriptor may be under way.
bool SendFile(int socket, uint64_t number, int file);
// The next message. False if there is none. `file` is not valid if this process may have no further
// descriptor.
bool ReceiveFile(int socket, uint64_t* number, nereid_ipc::UniqueFd* file);

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_PYTHON_IPC_FILE_MESSAGE_H_
