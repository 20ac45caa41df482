// How many threads the kernels that the calling thread runs may use. Affects that thread only.
#ifndef NEREID_BACKENDS_PYTORCH_THREADS_H_
#define NEREID_BACKENDS_PYTORCH_THREADS_H_

namespace nereid_backend {

// From now on kernels called by this thread run on `count` threads, this one included. Cheap when
// nothing changes.
void UseIntraOpThreads(int count);

// Threads that PyTorch itself starts (fork, the inter-op pool) compute alone, but for those that
// UseIntraOpThreads tells otherwise. Once, before any model is loaded.
void SetUpThreads();

// The size of the inter-op pool, which the process has one of: the first call decides. Returns the
// size that holds.
int SetInterOpThreads(int count);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_THREADS_H_
