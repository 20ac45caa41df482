// SPDX-License-Identifier: Apache-2.0
#include "server/traffic_recorder.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.h"
#include "observe/record/record_sample.h"
#include "server/recording_lines.h"

namespace nereid {
namespace {

void LogAll(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) LOG_WARNING << note;
}

// Short enough for the rings of a model with 50,000 requests per second and instance.
constexpr std::chrono::milliseconds kInterval{25};

}  // namespace

absl::StatusOr<std::unique_ptr<TrafficRecorder>> TrafficRecorder::Open(
    const TrafficRecorderOptions& options, Clock* clock, InputRecorder* inputs, Models models) {
  const int fd = open(options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* const file = fd < 0 ? nullptr : fdopen(fd, "w");
  if (file == nullptr) {
    const std::string reason = std::strerror(errno);
    if (fd >= 0) close(fd);
    return absl::InvalidArgumentError(
        absl::StrCat("the recording '", options.file, "' (--record) cannot be written: ", reason));
  }
  return std::unique_ptr<TrafficRecorder>(
      new TrafficRecorder(options, file, clock, inputs, std::move(models)));
}

TrafficRecorder::TrafficRecorder(const TrafficRecorderOptions& options, std::FILE* file,
                                 Clock* clock, InputRecorder* inputs, Models models)
    : options_(options), inputs_(inputs), models_(std::move(models)), file_(file) {
  {
    MutexLock lock(&mu_);
    Write(RecordingHeader(ToNanos(clock->Now()), clock->WallMillis()));
  }
  ticker_ = std::make_unique<Ticker>(clock, kInterval, "record", [this] { Poll(); });
}

TrafficRecorder::~TrafficRecorder() {
  ticker_.reset();
  Poll();
  std::vector<std::string> notes;
  {
    MutexLock lock(&mu_);
    for (const auto& [model, followed] : followed_) Report(followed.cursor, *model);
    notes.swap(notes_);
  }
  LogAll(notes);
  if (inputs_ != nullptr && inputs_->lost() > 0) {
    LOG_WARNING << "the recording '" << options_.file << "' lacks the inputs of " << inputs_->lost()
                << " requests: they had more than " << InputRecorder::kMostRequestBytes
                << " bytes, or came faster than --record-tensors could write";
  }
  if (std::fclose(file_) != 0) {
    LOG_ERROR << "the recording '" << options_.file << "' is incomplete: " << std::strerror(errno);
  }
}

void TrafficRecorder::Poll() {
  // Taken first, so that their models are known.
  std::vector<KeptInputs> inputs;
  if (inputs_ != nullptr) inputs = inputs_->Take();
  const std::vector<std::shared_ptr<const ServingModel>> serving = models_();
  std::vector<std::string> notes;
  {
    MutexLock lock(&mu_);
    if (full_) return;
    WriteNews(inputs, serving);
    notes.swap(notes_);
  }
  LogAll(notes);
}

void TrafficRecorder::WriteNews(const std::vector<KeptInputs>& inputs,
                                const std::vector<std::shared_ptr<const ServingModel>>& serving) {
  for (auto& [model, followed] : followed_) followed.serves = false;
  for (const auto& model : serving) {
    const auto [it, added] = followed_.try_emplace(model);
    it->second.serves = true;
    if (!added) continue;
    it->second.number = ++last_number_;
    Write(ModelLine(*model, it->second.number));
  }
  WriteInputs(inputs);
  for (auto it = followed_.begin(); it != followed_.end();) {
    Follow(*it->first, &it->second);
    if (it->second.serves || it->first.use_count() > 1) {
      ++it;
      continue;
    }
    Report(it->second.cursor, *it->first);
    it = followed_.erase(it);
  }
  std::fflush(file_);
}

void TrafficRecorder::Follow(const ServingModel& model, Followed* followed) {
  model.recorder().Follow(
      &followed->cursor,
      [&](const FlightRecord& flight) ABSL_NO_THREAD_SAFETY_ANALYSIS {
        if (!IsInSample(flight.request_start, options_.sample)) return;
        Write(RequestLine(flight, followed->number));
      },
      [&](const BatchRecord& batch)
          ABSL_NO_THREAD_SAFETY_ANALYSIS { Write(BatchLine(batch, followed->number)); });
}

void TrafficRecorder::WriteInputs(const std::vector<KeptInputs>& all) {
  if (all.empty()) return;
  std::map<const ServingModel*, uint64_t> numbers;
  for (const auto& [model, followed] : followed_) numbers[model.get()] = followed.number;
  for (const KeptInputs& inputs : all) {
    const auto found = numbers.find(inputs.model);
    if (found != numbers.end()) Write(InputsLine(inputs, found->second));
  }
}

void TrafficRecorder::Write(const std::string& line) {
  if (full_) return;
  if (bytes_ + line.size() > options_.max_bytes) {
    return Stop(absl::StrCat("it has reached ", options_.max_bytes, " bytes (--record-max-bytes)"));
  }
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) {
    return Stop(std::strerror(errno));
  }
  bytes_ += line.size();
}

void TrafficRecorder::Stop(const std::string& why) {
  full_ = true;
  if (inputs_ != nullptr) inputs_->Stop();
  try {
    notes_.push_back(absl::StrCat("the recording '", options_.file, "' ends: ", why));
  } catch (const std::bad_alloc&) {  // the note is lost
  }
}

void TrafficRecorder::Report(const RecordCursor& cursor, const ServingModel& model) {
  if (cursor.lost == 0) return;
  try {
    notes_.push_back(
        absl::StrCat("the recording '", options_.file, "' lacks ", cursor.lost,
                     " requests and executions of model '", model.config().name,
                     "': more came than --record could write; a larger --recorder-events helps"));
  } catch (const std::bad_alloc&) {  // the note is lost
  }
}

}  // namespace nereid
