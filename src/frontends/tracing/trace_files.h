// SPDX-License-Identifier: Apache-2.0
// TraceFiles: writes finished traces into files, as Triton does. Used by one thread.
//
// All traces of a file are one JSON array. With a log frequency of N each N traces make a file of
// their own, FILE.0, FILE.1 and so on, and so do the traces of a count that is used up. All others
// go to FILE, which is a complete array whenever the writer has nothing to do.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_FILES_H_
#define NEREID_FRONTENDS_TRACING_TRACE_FILES_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "frontends/tracing/trace_collector.h"

namespace nereid {

// Where files are written. Every call blocks. Errors name the path.
class TraceStorage {
 public:
  virtual ~TraceStorage() = default;
  // Creates or replaces the file.
  virtual absl::Status Write(const std::string& path, absl::string_view text) = 0;
  // Replaces what the file holds from `offset` on, which is not beyond its end.
  virtual absl::Status Rewrite(const std::string& path, uint64_t offset,
                               absl::string_view text) = 0;
};

// The machine's disks.
std::unique_ptr<TraceStorage> MakeLocalTraceStorage();

class TraceFiles final : public TraceOutput {
 public:
  // Text of a sampler that is held until its file is full; beyond, the file is written earlier.
  static constexpr size_t kMostHeldBytes = 64 << 20;

  TraceFiles(std::string path, std::unique_ptr<TraceStorage> storage)
      : path_(std::move(path)), storage_(std::move(storage)) {}

  void Add(std::unique_ptr<FinishedTrace> trace) override;
  void Retire(std::shared_ptr<const TraceSampler> sampler) override;
  void OnIdle() override { AppendToMain(); }
  void Finish() override;

 private:
  // Traces of one sampler that are not written yet.
  struct Batch {
    std::shared_ptr<const TraceSampler> sampler;
    std::string text;
    uint64_t traces = 0;     // in `text`
    uint64_t collected = 0;  // so far
    bool retired = false;
  };

  Batch* BatchOf(const std::shared_ptr<const TraceSampler>& sampler);
  // Whether the traces of `batch` are a file now.
  static bool IsFull(const Batch& batch);
  void WriteNumbered(Batch* batch);
  // Writes what the sampler has left, where it belongs.
  void WriteRest(Batch* batch);
  // Forgets the batch if no more of it can come.
  void DropIfOver(Batch* batch);
  void MoveToMain(Batch* batch);
  void AppendToMain();
  void NoteResult(const absl::Status& written, uint64_t traces);

  const std::string path_;
  const std::unique_ptr<TraceStorage> storage_;
  std::map<const TraceSampler*, Batch> batches_;
  uint64_t next_number_ = 0;
  uint64_t main_traces_ = 0;  // in main_text_
  std::string main_text_;     // is still to be written to the file without a number
  uint64_t main_size_ = 0;    // of that file
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_FILES_H_
