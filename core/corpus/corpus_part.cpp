#include "core/corpus/corpus_part.h"

#include <algorithm>
#include <utility>

#include "core/base/parse_number.h"
#include "core/corpus/plan_file.h"
#include "core/io/corpus_schema.h"

namespace headroom {
namespace {

constexpr std::size_t kCachedBytes = std::size_t{16} << 20;

}  // namespace

Result<std::int64_t> CorpusPart::number(const char* name) const {
  auto text = file->root_attribute(name);
  if (!text) return named(text.error());
  const auto value = parse_index(*text);
  if (value) return *value;
  return named(Error(ErrorCode::Corrupt, "a part has no number as this attribute").at_tensor(name));
}

Result<CorpusPart> open_corpus_part(const std::filesystem::path& path) {
  CorpusPart part;
  part.path = path;
  HEADROOM_TRY(part.file, RunFile::open(path));
  HEADROOM_TRY(const std::string schema, part.file->root_attribute("schema_name"));
  if (schema != kCorpusSchemaName) {
    Error error(ErrorCode::Corrupt, "the file is no part of a corpus");
    return error.in_file(path.string()).wanted(kCorpusSchemaName, schema);
  }
  auto plan = read_plan_part(*part.file);
  if (!plan) return part.named(plan.error());
  part.plan = std::move(*plan);
  auto settings = part.file->root_attribute("settings");
  if (!settings) return part.named(settings.error());
  part.settings = std::move(*settings);
  auto sequences = part.file->read_axis("sequences/sequence");
  if (!sequences) return part.named(sequences.error());
  bool fits = sequences->size() == part.plan.sequences.size() && !sequences->empty();
  for (std::size_t s = 1; fits && s < sequences->size(); ++s) fits = (*sequences)[s] == (*sequences)[s - 1] + 1.0;
  if (!fits || !(sequences->front() >= 0.0 && sequences->front() < 0x1p53))
    return part.named(
        Error(ErrorCode::Corrupt, "the sequences of a part do not follow one another").at_tensor("sequences/sequence"));
  part.first = static_cast<std::int64_t>(sequences->front());
  part.count = std::ssize(*sequences);
  return part;
}

PartValues::PartValues(std::span<const CorpusPart> parts, const CorpusLayout& layout)
    : parts_(parts), layout_(layout), begins_{0} {
  for (const CorpusPart& part : parts) begins_.push_back(begins_.back() + part.count);
}

Result<void> PartValues::floats(std::int64_t sequence, std::size_t first, std::span<float> out) const {
  for (const CorpusDataset& dataset : layout_.floats()) {
    if (first < dataset.first || first >= dataset.first + dataset.size) continue;
    if (dataset.quantity != nullptr) return copy(dataset, sequence, first - dataset.first, out);
    return indicators(sequence, first - dataset.first, out);
  }
  return Error(ErrorCode::InvalidArgument, "there is no such column");
}

Result<void> PartValues::integers(std::int64_t sequence, std::size_t first, std::span<std::int32_t> out) const {
  for (const CorpusDataset& dataset : layout_.integers())
    if (first >= dataset.first && first < dataset.first + dataset.size)
      return copy(dataset, sequence, first - dataset.first, out);
  return Error(ErrorCode::InvalidArgument, "there is no such column");
}

template <typename T>
Result<void> PartValues::copy(const CorpusDataset& dataset, std::int64_t sequence, std::size_t column,
                              std::span<T> out) const {
  // At once those of the dataset that is written, and of the two that sinks follow from.
  if (blocks_.size() > 2 && !blocks_.contains(&dataset)) blocks_.clear();
  Block& block = blocks_[&dataset];
  if (sequence < block.first || sequence >= block.first + block.count)
    HEADROOM_TRY_VOID(load(dataset, sequence, block));
  const std::size_t at = static_cast<std::size_t>(sequence - block.first) * dataset.size + column;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(block.values[at + i]);
  return {};
}

// As many sequences as fit, of as many parts as they are of: what fits as a whole is read once.
Result<void> PartValues::load(const CorpusDataset& dataset, std::int64_t sequence, Block& block) const {
  const auto fit = static_cast<std::int64_t>(kCachedBytes / (sizeof(double) * dataset.size));
  block.first = sequence, block.count = 0;
  block.values.clear();
  const std::int64_t end = std::min(begins_.back(), sequence + std::max<std::int64_t>(fit, 1));
  const std::string path = "sequences/" + dataset.name;
  while (sequence < end) {
    const auto next = std::ranges::upper_bound(begins_, sequence);
    const CorpusPart& part = parts_[static_cast<std::size_t>(next - begins_.begin() - 1)];
    std::vector<std::int64_t> start(dataset.extents.size() + 1, 0), count = {std::min(end, *next) - sequence};
    start[0] = sequence - *(next - 1);
    count.insert(count.end(), dataset.extents.begin(), dataset.extents.end());
    auto values = part.file->read_part(path, start, count);
    if (!values) return part.named(values.error());
    if (values->size() != static_cast<std::size_t>(count[0]) * dataset.size)
      return part.named(Error(ErrorCode::Corrupt, "what a part keeps has another shape").at_tensor(path));
    block.values.insert(block.values.end(), values->begin(), values->end());
    sequence += count[0];
  }
  block.count = end - block.first;
  return {};
}

Result<void> PartValues::indicators(std::int64_t sequence, std::size_t first, std::span<float> out) const {
  const CorpusDataset& score = *layout_.find("sink_score");
  const CorpusDataset& net = *layout_.find("sink_score_net");
  const std::size_t heads = layout_.heads();
  std::vector<float> scores(score.size), nets(net.size);
  HEADROOM_TRY_VOID(copy(score, sequence, 0, std::span(scores)));
  HEADROOM_TRY_VOID(copy(net, sequence, 0, std::span(nets)));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = sink_indicator(layout_, scores, nets, (first + i) / heads, (first + i) % heads);
  return {};
}

}  // namespace headroom
