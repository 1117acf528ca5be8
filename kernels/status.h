// What a kernel call that can fail returns: a code and texts that live as long as the program. Immutable; safe from any
// thread.
#pragma once

namespace headroom::kernels {

enum class StatusCode {
  Ok,
  Unsupported,      // this build or this device cannot
  InvalidArgument,  // the problem is not one
  OutOfMemory,      // of the device
  Cancelled,        // stop was requested
  Device,           // the driver or the device failed
};

struct [[nodiscard]] KernelStatus {
  StatusCode code = StatusCode::Ok;
  const char* text = "";  // one sentence, the driver's own where it is the driver that refuses
  const char* call = "";  // the call that failed, where one did

  [[nodiscard]] bool ok() const { return code == StatusCode::Ok; }
};

}  // namespace headroom::kernels
