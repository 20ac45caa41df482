// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_files.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "frontends/tracing/trace_text.h"

namespace nereid {
namespace {

// Text for the file without a number that is not put off until there is nothing else to do.
constexpr size_t kMostMainBytes = 1 << 20;

void AppendJoined(absl::string_view text, std::string* out) {
  if (text.empty()) return;
  if (!out->empty()) out->push_back(',');
  out->append(text.data(), text.size());
}

}  // namespace

TraceFiles::Batch* TraceFiles::BatchOf(const std::shared_ptr<const TraceSampler>& sampler) {
  Batch& batch = batches_[sampler.get()];
  if (batch.sampler == nullptr) batch.sampler = sampler;
  return &batch;
}

bool TraceFiles::IsFull(const Batch& batch) {
  const uint64_t frequency = batch.sampler->log_frequency();
  if (frequency != 0 && batch.traces >= frequency) return true;
  if (batch.text.size() >= kMostHeldBytes) return true;
  return batch.sampler->left() == 0 && batch.sampler->AllCollected(batch.collected);
}

void TraceFiles::Add(std::unique_ptr<FinishedTrace> trace) {
  Batch* const batch = BatchOf(trace->sampler);
  std::string text;
  AppendTraceText(*trace, &text);
  trace.reset();
  AppendJoined(text, &batch->text);
  ++batch->traces;
  ++batch->collected;
  const bool limited = batch->sampler->left() >= 0;
  if (batch->sampler->log_frequency() == 0 && !limited) {
    MoveToMain(batch);
    if (main_text_.size() >= kMostMainBytes) AppendToMain();
  } else if (IsFull(*batch)) {
    WriteNumbered(batch);
  } else if (batch->retired) {
    WriteRest(batch);
  }
  DropIfOver(batch);
}

void TraceFiles::DropIfOver(Batch* batch) {
  if (!batch->retired || !batch->sampler->AllCollected(batch->collected)) return;
  const std::shared_ptr<const TraceSampler> sampler = batch->sampler;
  batches_.erase(sampler.get());
}

void TraceFiles::Retire(std::shared_ptr<const TraceSampler> sampler) {
  Batch* const batch = BatchOf(sampler);
  batch->retired = true;
  WriteRest(batch);
  DropIfOver(batch);
}

void TraceFiles::WriteNumbered(Batch* batch) {
  const std::string path = absl::StrCat(path_, ".", next_number_++);
  NoteResult(storage_->Write(path, absl::StrCat("[", batch->text, "]")), batch->traces);
  batch->text.clear();
  batch->traces = 0;
}

void TraceFiles::WriteRest(Batch* batch) {
  if (batch->text.empty()) return;
  if (batch->sampler->log_frequency() != 0) {
    WriteNumbered(batch);
  } else {
    MoveToMain(batch);
  }
}

void TraceFiles::MoveToMain(Batch* batch) {
  AppendJoined(batch->text, &main_text_);
  main_traces_ += batch->traces;
  batch->text.clear();
  batch->traces = 0;
}

void TraceFiles::AppendToMain() {
  if (main_text_.empty()) return;
  absl::Status written;
  if (main_size_ == 0) {
    const std::string text = absl::StrCat("[", main_text_, "]");
    written = storage_->Write(path_, text);
    if (written.ok()) main_size_ = text.size();
  } else {
    // Over the bracket at the end.
    const std::string text = absl::StrCat(",", main_text_, "]");
    written = storage_->Rewrite(path_, main_size_ - 1, text);
    if (written.ok()) main_size_ += text.size() - 1;
  }
  NoteResult(written, std::exchange(main_traces_, 0));
  main_text_.clear();
}

void TraceFiles::NoteResult(const absl::Status& written, uint64_t traces) {
  if (written.ok()) return;
  LOG_ERROR << traces << " traces are lost: " << written.message();
  CountLost(traces);
}

void TraceFiles::Finish() {
  for (auto& [sampler, batch] : batches_) WriteRest(&batch);
  AppendToMain();
}

}  // namespace nereid
