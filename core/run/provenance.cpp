#include "core/run/provenance.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/utc.h"
#include "core/base/utf8.h"
#include "core/checkpoint/sha256.h"
#include "core/model/what_if_title.h"

namespace headroom {
namespace {

constexpr std::uint64_t kHashLimit = std::uint64_t{8} << 30;

// "diff_v2", "diff_v2 · λ = 0 in L1.H0"
std::string title_of(const std::string& model, const std::vector<WhatIf>& what_ifs) {
  std::vector<std::string> texts;
  for (const WhatIf& what_if : what_ifs) texts.push_back(what_if.text);
  return texts.empty() ? model : model + " · " + what_ifs_title(texts);
}

}  // namespace

std::string text_hash(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text.data(), text.size())));
  return hash.finish_hex();
}

Result<std::string> checkpoint_hashes(const Checkpoint& checkpoint, const kernels::StopRequested& stop) {
  std::uint64_t total = 0;
  for (const InputFile& file : checkpoint.files()) total += file.size_bytes();
  std::string text;
  if (total > kHashLimit) {
    for (const InputFile& file : checkpoint.files())
      text += file.path().filename().string() +
              format(" not computed: %llu bytes\n", static_cast<unsigned long long>(file.size_bytes()));
    return text;
  }
  HEADROOM_TRY(const std::vector<std::string> hashes, checkpoint.file_hashes(stop));
  for (std::size_t i = 0; i < hashes.size(); ++i)
    text += (i ? "\n" : "") + checkpoint.files()[i].path().filename().string() + " " + hashes[i];
  return text;
}

std::string stored_text(std::string_view bytes) {
  std::string label;
  while (!bytes.empty()) {
    const Utf8Scalar scalar = decode_utf8(bytes);
    if (scalar.valid && scalar.code_point != 0)
      label += bytes.substr(0, scalar.size_bytes);
    else
      label += format("\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(bytes.front())));
    bytes.remove_prefix(scalar.size_bytes);
  }
  return label;
}

std::string overrides_text(const std::vector<WhatIf>& what_ifs) {
  nlohmann::json list = nlohmann::json::array();
  for (const WhatIf& what_if : what_ifs)
    list.push_back({{"layer", what_if.layer ? nlohmann::json(*what_if.layer) : nlohmann::json()},
                    {"head", what_if.head ? nlohmann::json(*what_if.head) : nlohmann::json()},
                    {"name", what_if.name},
                    {"value", what_if.value},
                    {"text", what_if.text}});
  return list.dump();
}

Result<void> write_provenance(RunFileWriter& writer, const AnalysisRequest& request, const std::string& what,
                              const BackendInfo& library, const AttentionChoice& attention,
                              const kernels::StopRequested& stop) {
  const Checkpoint& checkpoint = *request.model->checkpoint;
  HEADROOM_TRY(const std::string hashes, checkpoint_hashes(checkpoint, stop));
  const std::string now = utc_now();
  const std::vector<std::pair<const char*, AttributeValue>> attributes = {
      {"Conventions", "CF-1.10, ACDD-1.3"},
      {"title", what + title_of(checkpoint.name(), request.what_ifs)},
      {"institution", "not given"},
      {"source", request.program},
      {"history", now + " " + request.command_line},
      {"references",
       "every dataset has its definition, range, rows and source as attributes; the symbols, rows and "
       "intervals they speak of: core/measure/QUANTITIES.md of the program, which `headroom quantities` prints"},
      {"comment", "symbols: a weights, w net weights, z logits, c contexts, V_i the n_i keys that row i sees"},
      {"license", "the statistics follow the licence of the checkpoint and of the prompt"},
      {"created_utc", now},
      {"command_line", request.command_line},
      {"program_git_commit", request.git_commit},
      {"model_id", checkpoint.name()},
      {"model_type", request.model->spec.model_type},
      {"model_revision", "not known"},
      {"container", std::string(checkpoint.format_name())},
      {"checkpoint_sha256", hashes},
      {"prompt_sha256", text_hash(request.prompt.source)},
      {"dtype_compute", dtype_name(request.dtype)},
      {"dtype_statistics", attention.dtype},
      {"device", request.device},
      {"device_statistics", attention.device},
      {"backend", attention.backend},
      {"torch_version", library.torch_version},
      {"kernel_target", attention.kernel_target},
      {"seed", "none: nothing here is random"},
      {"bos_added", std::int64_t{request.prompt.bos_added ? 1 : 0}},
      {"first_token_is_bos", std::int64_t{request.prompt.first_is_bos ? 1 : 0}},
      {"tokens", static_cast<std::int64_t>(request.prompt.ids.size())},
  };
  for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer.set_attribute("", name, value));
  std::string tensors;
  for (const TensorInfo& tensor : checkpoint.tensors()) tensors += (tensors.empty() ? "" : " ") + tensor.name;
  if (tensors.size() < 60000) HEADROOM_TRY_VOID(writer.set_attribute("", "tensor_names", tensors));
  return {};
}

Result<void> write_tokens(RunFileWriter& writer, const Prompt& prompt) {
  const std::int64_t n = static_cast<std::int64_t>(prompt.ids.size());
  const std::int64_t start[] = {0}, count[] = {n};
  HEADROOM_TRY_VOID(
      writer.write("tokens/token_id", start, count, std::vector<double>(prompt.ids.begin(), prompt.ids.end())));
  std::vector<std::string> texts;
  for (const std::string& text : prompt.texts) texts.push_back(stored_text(text));
  texts.resize(prompt.ids.size());
  HEADROOM_TRY_VOID(writer.write_strings("tokens/token_text", start, count, texts));
  std::vector<double> special(prompt.is_special.begin(), prompt.is_special.end());
  special.resize(prompt.ids.size(), 0.0);
  return writer.write("tokens/is_special", start, count, special);
}

}  // namespace headroom
