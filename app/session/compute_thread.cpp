#include "app/session/compute_thread.h"

#include <chrono>

namespace headroom {
namespace {

constexpr int kNice = 15;

}  // namespace

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ComputeThread::ComputeThread(const SessionParts& parts)
    : SessionParts(parts),
      worker_(std::make_unique<Worker>(WorkerOptions{.at_start = [] { become_background_thread("compute", kNice); }})) {
}

void ComputeThread::finish() {
  for (const auto& [job, stop] : stops_) *stop = true;
  worker_.reset();
}

void ComputeThread::load() {
  inbox_.ask(
      *worker_,
      [this] {
        Result<ComputeBackend*> backend = load_compute();
        if (backend) backend_ = *backend;
        return backend ? Result<BackendInfo>((*backend)->info()) : Result<BackendInfo>(backend.error());
      },
      [this](const Result<BackendInfo>& info) {
        state_.device.loading = false;
        if (info) {
          state_.device.info = *info;
        } else {
          state_.device.failed = describe(info.error());
          inbox_.card("LibTorch could not be loaded", info.error());
        }
      });
}

Result<ComputeBackend*> ComputeThread::backend() const {
  if (backend_) return backend_;
  return Error(ErrorCode::Device, "LibTorch is not loaded");
}

ComputeThread::Stop ComputeThread::begin(int job) { return stops_[job] = std::make_shared<std::atomic<bool>>(false); }

bool ComputeThread::stop(int job) {
  const auto found = stops_.find(job);
  if (found != stops_.end()) *found->second = true;
  return found != stops_.end();
}

bool ComputeThread::cancel() {
  cancel_asked();
  for (const auto& [job, stop] : stops_) *stop = true;
  return !stops_.empty();
}

void ComputeThread::cancel_asked() { cancel_asked_s_ = clock_seconds(); }

void ComputeThread::cancelled() {
  if (cancel_asked_s_ >= 0.0) cancel_seconds_ = clock_seconds() - cancel_asked_s_;
}

}  // namespace headroom
