// SPDX-License-Identifier: Apache-2.0
// Sets how many threads the kernels run by the calling thread may use. Affects that thread only.
#ifndef NEREID_BACKENDS_PYTORCH_THREADS_H_
#define NEREID_BACKENDS_PYTORCH_THREADS_H_

namespace nereid_backend {

// From now on kernels called by this thread run on `count` threads, this one included. Cheap if
// nothing changes.
void UseIntraOpThreads(int count);

// Makes threads that PyTorch itself starts (fork, the inter-op pool) compute alone, unless they
// call UseIntraOpThreads. Call once, before any model is loaded.
void SetUpThreads();

// The size of the inter-op pool, of which the process has only one: the first call decides. Returns
// the effective size.
int SetInterOpThreads(int count);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_THREADS_H_
