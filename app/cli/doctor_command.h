// `headroom doctor`: versions, devices, threads, what works here and what does not. Main thread only.
#pragma once

namespace headroom {

[[nodiscard]] int run_doctor(bool json);

}  // namespace headroom
