// The names of kernels/cuda in a build without CUDA.
#include <cstddef>
#include <span>
#include <string>

#include "kernels/cuda/attention.h"

#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/window.h"

namespace headroom::kernels {
namespace {

constexpr KernelStatus kNoCuda{StatusCode::Unsupported,
                               "this program is built without CUDA (configure with HEADROOM_CUDA=ON and nvcc at hand)"};

}  // namespace

KernelStatus cuda_ready() { return kNoCuda; }

std::string cuda_device_name(int) { return ""; }

KernelStatus DeviceBuffer::allocate(std::size_t) { return kNoCuda; }
KernelStatus DeviceBuffer::upload(const void*) { return kNoCuda; }
KernelStatus DeviceBuffer::download(void*) const { return kNoCuda; }
void DeviceBuffer::release() {}

template <typename Input>
KernelStatus cuda_attention(std::span<HeadJob<Input, float>>, StreamView, const StopRequested&, const ParallelFor&) {
  return kNoCuda;
}

template <typename Input>
KernelStatus cuda_window(const HeadProblem<Input>&, const WindowLse&, const WindowRequest&, const WindowCells&,
                         StreamView, const StopRequested&) {
  return kNoCuda;
}

template KernelStatus cuda_attention(std::span<HeadJob<float, float>>, StreamView, const StopRequested&,
                                     const ParallelFor&);
template KernelStatus cuda_attention(std::span<HeadJob<BFloat16, float>>, StreamView, const StopRequested&,
                                     const ParallelFor&);
template KernelStatus cuda_attention(std::span<HeadJob<Float16, float>>, StreamView, const StopRequested&,
                                     const ParallelFor&);
template KernelStatus cuda_window(const HeadProblem<float>&, const WindowLse&, const WindowRequest&, const WindowCells&,
                                  StreamView, const StopRequested&);
template KernelStatus cuda_window(const HeadProblem<BFloat16>&, const WindowLse&, const WindowRequest&,
                                  const WindowCells&, StreamView, const StopRequested&);
template KernelStatus cuda_window(const HeadProblem<Float16>&, const WindowLse&, const WindowRequest&,
                                  const WindowCells&, StreamView, const StopRequested&);

}  // namespace headroom::kernels
