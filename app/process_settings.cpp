#include "app/process_settings.h"

#include <malloc.h>
#include <stdlib.h>

namespace headroom {

void apply_process_settings() {
#if defined(__GLIBC__)
  // Every layer takes and returns the same large blocks. Given back to the system in between, their pages would be
  // cleared again each time: a quarter of the whole run. The peak is no higher.
  constexpr int kKeep = 1 << 30;
  if (!getenv("MALLOC_MMAP_THRESHOLD_")) mallopt(M_MMAP_THRESHOLD, kKeep);
  if (!getenv("MALLOC_TRIM_THRESHOLD_")) mallopt(M_TRIM_THRESHOLD, kKeep);
#endif
  // By default a thread that waits at a barrier spins for about a millisecond. On a machine with other work the thread
  // it waits for is not running then: the same analysis takes up to five times as long.
  if (!getenv("OMP_WAIT_POLICY")) setenv("GOMP_SPINCOUNT", "10000", /*overwrite=*/0);
}

}  // namespace headroom
