#include "core/io/chunk_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/io/blocks.h"
#include "core/io/hdf5_error.h"

namespace headroom {

ChunkWriter::ChunkWriter(ChunkEncoder& encoder, std::vector<std::int64_t> shape, std::vector<std::int64_t> chunk,
                         std::vector<std::byte> fill)
    : encoder_(encoder), shape_(std::move(shape)), chunk_(std::move(chunk)), fill_(std::move(fill)) {
  for (std::size_t axis = 0; axis < shape_.size(); ++axis)
    grid_.push_back((shape_[axis] + chunk_[axis] - 1) / chunk_[axis]);
  chunk_bytes_ = static_cast<std::size_t>(element_count(chunk_)) * fill_.size();
  sent_.resize(static_cast<std::size_t>(element_count(grid_)), false);
}

// visit(part) in row-major order; false ends it.
template <typename Visit>
void ChunkWriter::for_each_chunk(std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                                 const Visit& visit) const {
  if (element_count(count) == 0) return;
  const std::size_t axes = shape_.size();
  Part part{std::vector<std::int64_t>(axes), std::vector<std::int64_t>(axes), std::vector<std::int64_t>(axes)};
  for (std::size_t axis = 0; axis < axes; ++axis) part.chunk[axis] = start[axis] / chunk_[axis];
  for (;;) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::int64_t begin = part.chunk[axis] * chunk_[axis];
      part.first[axis] = std::max(start[axis], begin);
      part.count[axis] = std::min(start[axis] + count[axis], begin + chunk_[axis]) - part.first[axis];
    }
    if (!visit(std::as_const(part))) return;
    std::size_t axis = axes;
    for (; axis > 0; --axis) {
      std::int64_t& place = part.chunk[axis - 1];
      if (++place * chunk_[axis - 1] < start[axis - 1] + count[axis - 1]) break;
      place = start[axis - 1] / chunk_[axis - 1];
    }
    if (axis == 0) return;
  }
}

std::size_t ChunkWriter::number_of(const std::vector<std::int64_t>& chunk) const {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) number = number * grid_[axis] + chunk[axis];
  return static_cast<std::size_t>(number);
}

bool ChunkWriter::is_free(std::span<const std::int64_t> start, std::span<const std::int64_t> count) const {
  bool free = true;
  for_each_chunk(start, count, [&](const Part& part) { return free = !sent_[number_of(part.chunk)]; });
  return free;
}

void ChunkWriter::mark(std::span<const std::int64_t> start, std::span<const std::int64_t> count) {
  for_each_chunk(start, count, [&](const Part& part) { return sent_[number_of(part.chunk)] = true; });
}

// Full of what stands for no value, also beyond the end of the dataset.
ChunkWriter::Waiting ChunkWriter::begin(const std::vector<std::int64_t>& chunk) const {
  Waiting made;
  made.missing = 1;
  for (std::size_t axis = 0; axis < chunk.size(); ++axis)
    made.missing *= std::min(chunk_[axis], shape_[axis] - chunk[axis] * chunk_[axis]);
  made.bytes.resize(chunk_bytes_);
  for (std::size_t at = 0; at < chunk_bytes_; at += fill_.size())
    std::memcpy(made.bytes.data() + at, fill_.data(), fill_.size());
  return made;
}

// Row by row of the last axis.
void ChunkWriter::copy(const Part& part, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                       std::span<const std::byte> elements, Waiting& into) const {
  const std::size_t axes = shape_.size(), element = fill_.size();
  const std::size_t row_bytes = static_cast<std::size_t>(part.count.back()) * element;
  std::vector<std::int64_t> at(axes, 0);
  for (;;) {
    std::int64_t from = 0, to = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::int64_t place = part.first[axis] + at[axis];
      from = from * count[axis] + (place - start[axis]);
      to = to * chunk_[axis] + (place - part.chunk[axis] * chunk_[axis]);
    }
    std::memcpy(into.bytes.data() + static_cast<std::size_t>(to) * element,
                elements.data() + static_cast<std::size_t>(from) * element, row_bytes);
    std::size_t axis = axes - 1;
    for (; axis > 0; --axis) {
      if (++at[axis - 1] < part.count[axis - 1]) break;
      at[axis - 1] = 0;
    }
    if (axis == 0) break;
  }
  into.missing -= element_count(part.count);
}

Result<void> ChunkWriter::write(const Hdf5Dataset& dataset, std::span<const std::int64_t> start,
                                std::span<const std::int64_t> count, std::span<const std::byte> elements) {
  Result<void> result;
  for_each_chunk(start, count, [&](const Part& part) {
    const std::size_t number = number_of(part.chunk);
    auto [place, is_new] = waiting_.try_emplace(number);
    if (is_new) place->second = begin(part.chunk);
    copy(part, start, count, elements, place->second);
    if (place->second.missing > 0) return true;
    const auto complete = waiting_.extract(place);
    result = send(dataset, number, complete.mapped());
    return result.has_value();
  });
  return result;
}

Result<void> ChunkWriter::write_waiting(const Hdf5Dataset& dataset) {
  const std::map<std::size_t, Waiting> all = std::exchange(waiting_, {});
  for (const auto& [number, chunk] : all) HEADROOM_TRY_VOID(send(dataset, number, chunk));
  return {};
}

Result<void> ChunkWriter::send(const Hdf5Dataset& dataset, std::size_t number, const Waiting& chunk) {
  sent_[number] = true;
  const EncodedChunk encoded = encoder_.encode(chunk.bytes, fill_.size());
  std::vector<hsize_t> offset(shape_.size());
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    const auto along = static_cast<std::size_t>(grid_[axis]);
    offset[axis] = number % along * static_cast<std::size_t>(chunk_[axis]);
    number /= along;
  }
  if (H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, encoded.skipped, offset.data(), encoded.bytes.size(),
                     encoded.bytes.data()) < 0)
    return hdf5_error(ErrorCode::Io, "cannot write to the run file");
  return {};
}

}  // namespace headroom
