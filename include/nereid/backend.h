// SPDX-License-Identifier: Apache-2.0
/* What this library offers to backends beyond the interface of triton/core/tritonbackend.h. A
 * backend that is to work with Triton, too, looks the functions up by dlsym(RTLD_DEFAULT,
 * ...), and does without those that are not there. */
#ifndef NEREID_NEREID_BACKEND_H_
#define NEREID_NEREID_BACKEND_H_

#include "triton/core/tritonbackend.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Instead of TRITONBACKEND_OutputBuffer: lets the server send the bytes of an output from where
/// they are. If `*lent` is true, the bytes at `base` belong to the response: they are read, and
/// must not be changed, until the server calls `release` with `userp`, once, from any thread, when
/// the response has been sent or is deleted. Otherwise nothing has happened, and the backend asks
/// for a buffer as usual: whoever issued the request wants the output in memory of its own, or in a
/// form that is not that of the bytes. Only for outputs in CPU memory, and of a data type with
/// elements of a fixed size. `release` must not call the server.
///
/// Errors are those of TRITONBACKEND_OutputBuffer; after an error the bytes were not taken.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_OutputLend(
    struct TRITONBACKEND_Output* output, const void* base, uint64_t byte_size,
    void (*release)(void* userp), void* userp, bool* lent);

/// Memory of the server that is a part of a file: the system shared memory of a client. A backend
/// may hand the file to a process of its own, which then reads or writes the bytes without copies
/// in between. Clients can do anything with such a file meanwhile: change its bytes, or truncate
/// it, so that an access raises SIGBUS there. The server guards its own accesses at `base`.
typedef struct NEREID_FileMemory {
  int descriptor;      ///< -1: the memory is no part of a file. Belongs to the server.
  uint64_t offset;     ///< of the memory in the file
  uint64_t byte_size;  ///< of the memory
  void* base;          ///< where it is in this process
} NEREID_FileMemory;

/// The file behind buffer `index` of an input, as TRITONBACKEND_InputBuffer gives it. `memory` is
/// valid until the request is released.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_InputFileMemory(
    struct TRITONBACKEND_Input* input, uint32_t index, NEREID_FileMemory* memory);

/// Where output `name` of a request's response has to be, if that is a part of a file: a backend
/// may write the bytes there, from the first one on, before it makes the response. It still has to
/// ask for the buffer of the output, which is then `base`; one with more than `byte_size` bytes is
/// refused. `memory` is valid until the final response is sent.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_RequestOutputFileMemory(
    struct TRITONBACKEND_Request* request, const char* name, NEREID_FileMemory* memory);

/// The priority that a request asks for, as its sender gave it: 1 comes first, 0 stands for the
/// model's default. For backends that order requests themselves, whatever queue the model has.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_RequestPriority(
    struct TRITONBACKEND_Request* request, uint64_t* priority);

/// From now on, TRITONBACKEND_ModelInstanceExecute of this instance may get up to `count` requests
/// that do not belong together, oldest first: each is a batch of its own, to be executed one after
/// the other, answered as soon as it is done, and reported as a batch, before
/// TRITONBACKEND_ModelInstanceExecute returns. 1 at first. It gets those that are waiting at that
/// moment, and waits for none.
///
/// For backends where handing a request on, to another process for example, costs as much as its
/// execution. What an instance has taken, no other instance can take, and it is executed even if
/// its client cancels it, so `count` should be small, and 1 where executions are long.
///
/// Only requests of models with neither dynamic batching nor sequence batching are handed out in
/// this way, and not while a rate limiter is at work; otherwise the function has no effect. Any
/// thread may call it. INVALID_ARG if `count` is 0.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_ModelInstanceSetMostSeparate(
    struct TRITONBACKEND_ModelInstance* instance, uint32_t count);

/// Says that executions of this model may be short, and need not wait for anything. While its
/// executions are known to be short, the server may then lend an idle instance to a thread of its
/// own that serves connections, or to one of the program that embeds the server, and
/// TRITONBACKEND_ModelInstanceExecute is called there. A backend whose models are all like that
/// exports a function NEREID_BackendExecutesBriefly instead. Only within
/// TRITONBACKEND_ModelInitialize; otherwise INVALID_ARG.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_ModelExecutesBriefly(
    struct TRITONBACKEND_Model* model);

/// Sets `*on_loan` to whether the server has lent this instance to the calling thread. Such a
/// thread must not wait, and should not start other threads to compute: it has other clients to
/// serve. Only from the thread that executes TRITONBACKEND_ModelInstanceExecute of this instance,
/// and within it.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_ModelInstanceOnLoan(
    struct TRITONBACKEND_ModelInstance* instance, bool* on_loan);

/// Says whether the server may lend this instance from now on; true at first. For an instance whose
/// next execution would have to wait, until a process has started for example: that belongs on its
/// own thread. Executions that have begun are not affected. Any thread may call it, at any time.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_ModelInstanceSetLendable(
    struct TRITONBACKEND_ModelInstance* instance, bool lendable);

/// Says whether this instance can execute from now on; true at first. For an instance that lacks
/// what its executions need, until its process has started again for example. While another
/// instance of the model can execute, one that cannot gets no requests, and is not asked whether it
/// is ready (TRITONBACKEND_ModelInstanceReady); while none can, all get requests, which they answer
/// as they see fit. Requests that it has got are not taken back, and those of a sequence stay with
/// the instance of that sequence; new sequences go to other instances, or wait for their slots. Any
/// thread may call it, at any time until TRITONBACKEND_ModelInstanceFinalize returns, but not while
/// it holds a lock that TRITONBACKEND_ModelInstanceExecute needs.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_ModelInstanceSetAvailable(
    struct TRITONBACKEND_ModelInstance* instance, bool available);

/// Calls `send(userp)` once and returns after it. `send` sends responses, by
/// TRITONBACKEND_ResponseSend as usual; the server wakes its I/O threads for all of them together,
/// instead of for each. Meant for the responses of a batch, when the outputs of all are there:
/// where a model and an I/O thread share a core, every wake-up interrupts the model.
///
/// Order, callbacks and the rules of release stay the same. `send` may also release requests, but
/// should do nothing that takes time, since clients may get no response before `send` has
/// returned. `send` must not wait for a client. Calls may be nested. Thread-safe. Returns null, or
/// an error for an exception of `send`.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_SendTogether(void (*send)(void* userp),
                                                                      void* userp);

/// Sets `*has_credit` to whether further responses of the request are wanted now. It is false while
/// too many of the responses sent so far wait for a client that reads slowly. Sending needs no
/// credit, and never waits for a client. But a backend that goes on without credit makes the server
/// keep what it sends; when the server has no more room for that, the request ends with an error,
/// counts as cancelled (TRITONBACKEND_ResponseFactoryIsCancelled), and its further responses are
/// dropped. The last response and the final flag should not wait for credit: they end the request.
///
/// There is always credit for a request that has been cancelled or has ended, whose model is being
/// unloaded, or that does not come from a client over the network. Thread-safe; does not block.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_ResponseFactoryCredit(
    struct TRITONBACKEND_ResponseFactory* factory, bool* has_credit);

/// Calls `callback(userp)` exactly once, as soon as the request has credit as above: within this
/// call if it has credit now, and later on a thread of the server otherwise. Only then may `userp`
/// be freed. The factory may be deleted before.
///
/// `callback` must return soon: it may run on a thread that serves connections. It should wake the
/// thread of the backend that makes the request's responses, or queue the work, rather than make
/// them; it may send a response, and ask for the next callback. It must not throw.
///
/// A backend that has a thread for each request may wait on that thread until it is called; a
/// thread that others need, too, must not wait. After an error `callback` is not called.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_ResponseFactoryOnCredit(
    struct TRITONBACKEND_ResponseFactory* factory, void (*callback)(void* userp), void* userp);

/// GPUs, for instances of TRITONSERVER_INSTANCEGROUPKIND_GPU. A backend needs no CUDA for these
/// functions: the server calls the driver, with the GPU's primary context, and leaves the thread's
/// own context as it was. Errors of the driver are UNAVAILABLE if they end all work on the GPU, and
/// INTERNAL otherwise.

/// Work of a GPU in order. Thread-safe; what two threads put on it at a time comes in any order.
struct NEREID_GpuStream;
/// A point in the work of a stream. Thread-safe.
struct NEREID_GpuEvent;

/// One piece of a list of copies. Each side says what its address is. Memory of the host that is
/// not pinned makes a copy slow, and may make the caller wait.
typedef struct NEREID_GpuCopy {
  void* to;
  TRITONSERVER_MemoryType to_type;
  int64_t to_id;
  const void* from;
  TRITONSERVER_MemoryType from_type;
  int64_t from_id;
  uint64_t byte_size;
} NEREID_GpuCopy;

/// Makes a stream on the GPU of an instance; INVALID_ARG if the instance is not of KIND_GPU. May
/// take a second, when it is the first on that GPU. Must be deleted before
/// TRITONBACKEND_ModelInstanceFinalize returns.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuStreamNew(
    struct NEREID_GpuStream** stream, struct TRITONBACKEND_ModelInstance* instance);

/// What the stream still holds goes on: wait for an event before memory is freed that it uses.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuStreamDelete(
    struct NEREID_GpuStream* stream);

/// The driver's own stream, a CUstream, for libraries that put work on it. Belongs to `stream`.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuStreamNative(
    struct NEREID_GpuStream* stream, void** native);

/// Puts all copies on the stream and returns; they are done after what it holds already. After an
/// error some of them may be on the stream.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuStreamCopy(
    struct NEREID_GpuStream* stream, const NEREID_GpuCopy* copies, uint32_t count);

/// The event stands for what the stream holds now, and for nothing that it has stood for before.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuStreamRecord(
    struct NEREID_GpuStream* stream, struct NEREID_GpuEvent* event);

/// What is put on the stream from now on is done after the event, as it was recorded last. Does not
/// wait itself.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuStreamWait(
    struct NEREID_GpuStream* stream, struct NEREID_GpuEvent* event);

/// Makes an event for streams of the GPU of an instance. As NEREID_GpuStreamNew.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuEventNew(
    struct NEREID_GpuEvent** event, struct TRITONBACKEND_ModelInstance* instance);

TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuEventDelete(
    struct NEREID_GpuEvent* event);

/// Blocks until what the event stands for is done; returns at once if it was never recorded.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuEventSynchronize(
    struct NEREID_GpuEvent* event);

/// The GPU's time between two events that are done. An error if one was never recorded.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_GpuEventElapsed(
    struct NEREID_GpuEvent* start, struct NEREID_GpuEvent* end, uint64_t* nanoseconds);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_NEREID_BACKEND_H_ */
