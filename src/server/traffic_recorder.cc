#include "server/traffic_recorder.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "server/recording_lines.h"

namespace nereid {
namespace {

// Short enough for the rings of a model with 50,000 requests per second and instance.
constexpr std::chrono::milliseconds kInterval{25};

}  // namespace

absl::StatusOr<std::unique_ptr<TrafficRecorder>> TrafficRecorder::Open(
    const TrafficRecorderOptions& options, Clock* clock, Models models) {
  const int fd = open(options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* const file = fd < 0 ? nullptr : fdopen(fd, "w");
  if (file == nullptr) {
    const std::string reason = std::strerror(errno);
    if (fd >= 0) close(fd);
    return absl::InvalidArgumentError(
        absl::StrCat("the recording '", options.file, "' (--record) cannot be written: ", reason));
  }
  return std::unique_ptr<TrafficRecorder>(
      new TrafficRecorder(options, file, clock, std::move(models)));
}

TrafficRecorder::TrafficRecorder(const TrafficRecorderOptions& options, std::FILE* file,
                                 Clock* clock, Models models)
    : options_(options), models_(std::move(models)), file_(file) {
  {
    MutexLock lock(&mu_);
    Write(RecordingHeader(ToNanos(clock->Now()), clock->WallMillis()));
  }
  poller_ = std::make_unique<RepositoryPoller>(clock, kInterval, [this] { Poll(); });
}

TrafficRecorder::~TrafficRecorder() {
  poller_.reset();
  Poll();
  MutexLock lock(&mu_);
  for (const auto& [model, followed] : followed_) Report(followed.cursor, *model);
  if (std::fclose(file_) != 0) {
    LOG_ERROR << "the recording '" << options_.file << "' is incomplete: " << std::strerror(errno);
  }
}

void TrafficRecorder::Poll() {
  const std::vector<std::shared_ptr<const ServingModel>> serving = models_();
  MutexLock lock(&mu_);
  if (full_) return;
  for (auto& [model, followed] : followed_) followed.serves = false;
  for (const auto& model : serving) {
    const auto [it, added] = followed_.try_emplace(model);
    it->second.serves = true;
    if (!added) continue;
    it->second.number = ++last_number_;
    Write(ModelLine(*model, it->second.number));
  }
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
        if (IsChosen(flight)) Write(RequestLine(flight, followed->number));
      },
      [&](const BatchRecord& batch)
          ABSL_NO_THREAD_SAFETY_ANALYSIS { Write(BatchLine(batch, followed->number)); });
}

bool TrafficRecorder::IsChosen(const FlightRecord& flight) const {
  if (options_.sample >= 1) return true;
  // Spreads requests that started at nearly the same time.
  const uint64_t spread = (flight.request_start ^ flight.sent << 20) * 0x9E3779B97F4A7C15u;
  return static_cast<double>(spread >> 11) * 0x1p-53 < options_.sample;
}

void TrafficRecorder::Write(const std::string& line) {
  if (full_) return;
  if (bytes_ + line.size() > options_.max_bytes) {
    full_ = true;
    LOG_WARNING << "the recording '" << options_.file << "' ends: it has reached "
                << options_.max_bytes << " bytes (--record-max-bytes)";
    return;
  }
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) {
    full_ = true;
    LOG_ERROR << "the recording '" << options_.file << "' ends: " << std::strerror(errno);
    return;
  }
  bytes_ += line.size();
}

void TrafficRecorder::Report(const RecordCursor& cursor, const ServingModel& model) {
  if (cursor.lost == 0) return;
  LOG_WARNING << "the recording '" << options_.file << "' lacks " << cursor.lost
              << " requests and executions of model '" << model.config().name
              << "': more came than --record could write; a larger --recorder-events helps";
}

}  // namespace nereid
