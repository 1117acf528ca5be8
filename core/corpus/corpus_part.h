// A file of a corpus as a part of a larger one: its sequences, and what it keeps of them. HDF5: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/corpus_file.h"
#include "core/corpus/corpus_layout.h"
#include "core/corpus/plan.h"
#include "core/io/run_file.h"

namespace headroom {

struct CorpusPart {
  std::filesystem::path path;
  std::unique_ptr<RunFile> file;
  CorpusPlan plan;                    // its own sequences
  std::int64_t first = 0, count = 0;  // of the sequences that all parts are to make
  std::string settings;

  // Errors that name no file name this one.
  [[nodiscard]] Error named(Error error) const { return error.file.empty() ? error.in_file(path.string()) : error; }
  // An attribute of the root that is a number from 0.
  [[nodiscard]] Result<std::int64_t> number(const char* name) const;
};
// Corrupt where the file is no corpus, or its sequences do not follow one another.
[[nodiscard]] Result<CorpusPart> open_corpus_part(const std::filesystem::path& path);

// What parts keep of their sequences; sequence i is the i-th of all that they have, one part after another. Both
// outlive it.
class PartValues final : public SequenceValues {
 public:
  PartValues(std::span<const CorpusPart> parts, const CorpusLayout& layout);
  Result<void> floats(std::int64_t sequence, std::size_t first, std::span<float> out) const override;
  Result<void> integers(std::int64_t sequence, std::size_t first, std::span<std::int32_t> out) const override;

 private:
  struct Block {
    std::int64_t first = 0, count = 0;
    std::vector<double> values;
  };
  template <typename T>
  Result<void> copy(const CorpusDataset& dataset, std::int64_t sequence, std::size_t column, std::span<T> out) const;
  Result<void> load(const CorpusDataset& dataset, std::int64_t sequence, Block& block) const;
  Result<void> indicators(std::int64_t sequence, std::size_t first, std::span<float> out) const;

  std::span<const CorpusPart> parts_;
  const CorpusLayout& layout_;
  std::vector<std::int64_t> begins_;  // of each part, and the end of the last
  mutable std::map<const CorpusDataset*, Block> blocks_;
};

}  // namespace headroom
