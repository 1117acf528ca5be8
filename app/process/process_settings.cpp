#include "app/process/process_settings.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <string>

namespace headroom {

void apply_process_settings() {
#if defined(__GLIBC__)
  // Every layer takes and returns the same large blocks. Given back to the system in between, their pages would be
  // cleared again each time: a quarter of the whole run. The peak is no higher.
  // Under ulimit -v addresses are what is short, and blocks that lie freed between others take them for nothing.
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const int keep = limited ? 1 << 20 : 1 << 30;
  if (!getenv("MALLOC_MMAP_THRESHOLD_"))
    mallopt(M_MMAP_THRESHOLD, keep);  // NOLINT(concurrency-mt-unsafe): no other thread yet
  if (!getenv("MALLOC_TRIM_THRESHOLD_")) mallopt(M_TRIM_THRESHOLD, keep);  // NOLINT(concurrency-mt-unsafe)
#endif
  // By default a thread that waits at a barrier spins for about a millisecond. On a machine with other work the thread
  // it waits for is not running then: the same analysis takes up to five times as long. And between two parallel parts
  // the others spin beside what reads weights and writes files: 10,000 turns are a seventh of a corpus of short
  // sequences, 1,000 take about as long as it takes to wake a thread.
  if (!getenv("OMP_WAIT_POLICY")) setenv("GOMP_SPINCOUNT", "1000", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
  // Libraries count processors, and know of neither control groups nor Slurm.
  if (const AllowedThreads allowed = allowed_threads(); allowed.limit != "processors")
    setenv("OMP_NUM_THREADS", std::to_string(allowed.count).c_str(), /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
}

AllowedThreads take_threads(std::int64_t wanted) {
  AllowedThreads allowed = allowed_threads();
  if (wanted >= 1 && wanted <= allowed.count) allowed = {wanted, ""};
  setenv("OMP_NUM_THREADS", std::to_string(allowed.count).c_str(), /*overwrite=*/1);  // NOLINT(concurrency-mt-unsafe)
  return allowed;
}

}  // namespace headroom
