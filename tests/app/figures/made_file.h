// Files in the layout of a run file with a few datasets, for figures that read them by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/run_file_writer.h"
#include "core/run/run_layout.h"
#include "tests/support/required.h"

namespace headroom::test {

class MadeFile {
 public:
  MadeFile(std::filesystem::path path, std::string_view schema) : path_(std::move(path)) {
    RunFileWriter::Options options;
    options.force = true, options.schema_name = schema;
    writer_ = required(RunFileWriter::create(path_, options));
  }

  void axis(const std::string& name, std::int64_t size) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i) values.push_back(static_cast<double>(i));
    required_void(writer_->add_axis(index_axis(name, std::move(values), name)));
  }
  void labels(const std::string& name, std::vector<std::string> labels) {
    required_void(writer_->add_axis(label_axis(name, std::move(labels), name)));
  }
  void attribute(const std::string& name, const AttributeValue& value) {
    required_void(writer_->set_attribute("", name, value));
  }
  // "tokens/token_id"; `shape` has an extent for each axis.
  void numbers(const std::string& path, std::vector<std::string> axes, std::span<const std::int64_t> shape,
               std::span<const double> values, ElementType type = ElementType::Float64) {
    DatasetDef def;
    const std::size_t slash = path.find('/');
    if (slash != std::string::npos) def.group = path.substr(0, slash);
    def.name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    def.axes = std::move(axes), def.type = type;
    def.units = "1", def.long_name = def.definition = def.name;
    required_void(writer_->add_dataset(def));
    const std::vector<std::int64_t> start(shape.size(), 0);
    required_void(writer_->write(path, start, shape, values));
  }
  std::filesystem::path commit() {
    required_void(writer_->commit());
    return path_;
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<RunFileWriter> writer_;
};

}  // namespace headroom::test
