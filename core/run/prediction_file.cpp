#include "core/run/prediction_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/run/provenance.h"

namespace headroom {
namespace {

constexpr auto kLikeliest = static_cast<std::size_t>(Predictions::kLikeliest);

// Of the token at each position: nothing of the first, and what was said of it in the row before.
template <typename Value>
std::vector<double> by_token(const std::vector<Value>& by_row, double none) {
  std::vector<double> values = {none};
  values.insert(values.end(), by_row.begin(), by_row.end());
  return values;
}

}  // namespace

std::shared_ptr<const Predictions> keep_predictions(Predictions predictions, const Tokenizer* tokenizer) {
  if (!predictions.present()) return nullptr;
  if (tokenizer != nullptr)
    for (const std::int32_t id : predictions.token)
      if (id >= 0 && !predictions.texts.contains(id)) predictions.texts[id] = tokenizer->token_bytes(id);
  return std::make_shared<const Predictions>(std::move(predictions));
}

Result<void> write_predictions(RunFileWriter& writer, const Predictions& predictions, const Tokenizer* tokenizer) {
  if (!predictions.present()) return {};
  const std::int64_t rows = predictions.rows();
  const std::int64_t start[] = {0}, count[] = {rows}, table_start[] = {0, 0},
                     table_count[] = {rows, Predictions::kLikeliest};
  HEADROOM_TRY_VOID(writer.set_attribute("predictions", "vocabulary", predictions.vocabulary));
  HEADROOM_TRY_VOID(writer.write("predictions/next_token", table_start, table_count,
                                 std::vector<double>(predictions.token.begin(), predictions.token.end())));
  HEADROOM_TRY_VOID(
      writer.write("predictions/next_log_probability", table_start, table_count, predictions.log_probability));
  HEADROOM_TRY_VOID(writer.write("predictions/log_sum_exp", start, count, predictions.log_sum_exp));
  HEADROOM_TRY_VOID(writer.write("predictions/entropy", start, count, predictions.entropy));
  HEADROOM_TRY_VOID(writer.write("predictions/token_loss", start, count, by_token(predictions.loss, kNaN)));
  HEADROOM_TRY_VOID(writer.write("predictions/token_rank", start, count, by_token(predictions.rank, -1.0)));
  if (tokenizer == nullptr) return {};
  std::vector<std::string> texts;
  texts.reserve(predictions.token.size());
  for (const std::int32_t id : predictions.token)
    texts.push_back(id < 0 ? std::string() : stored_text(tokenizer->token_bytes(id)));
  return writer.write_strings("predictions/next_text", table_start, table_count, texts);
}

Result<std::shared_ptr<const Predictions>> read_predictions(const RunFile& file, std::int64_t length,
                                                            const std::filesystem::path& path) {
  if (file.find("predictions/next_token") == nullptr) return std::shared_ptr<const Predictions>();
  const auto size = static_cast<std::size_t>(length);
  const auto read = [&](const char* name, std::size_t wanted) -> Result<std::vector<double>> {
    const std::string dataset = std::string("predictions/") + name;
    HEADROOM_TRY(std::vector<double> values, file.read(dataset));
    if (values.size() == wanted) return values;
    return Error(ErrorCode::Corrupt, "a dataset does not fit its axes").at_tensor(dataset).in_file(path.string());
  };
  Predictions read_back;
  HEADROOM_TRY(const std::vector<double> tokens, read("next_token", size * kLikeliest));
  HEADROOM_TRY(read_back.log_probability, read("next_log_probability", size * kLikeliest));
  HEADROOM_TRY(read_back.log_sum_exp, read("log_sum_exp", size));
  HEADROOM_TRY(read_back.entropy, read("entropy", size));
  HEADROOM_TRY(const std::vector<double> loss, read("token_loss", size));
  HEADROOM_TRY(const std::vector<double> rank, read("token_rank", size));
  for (const double id : tokens) read_back.token.push_back(static_cast<std::int32_t>(id));
  read_back.loss.assign(loss.begin() + 1, loss.end());
  for (std::size_t i = 1; i < rank.size(); ++i) read_back.rank.push_back(static_cast<std::int32_t>(rank[i]));
  if (const Result<std::string> vocabulary = file.attribute("predictions", "vocabulary"))
    read_back.vocabulary = std::strtoll(vocabulary->c_str(), nullptr, 10);
  if (file.find("predictions/next_text") != nullptr) {
    HEADROOM_TRY(const std::vector<std::string> texts, file.read_strings("predictions/next_text"));
    for (std::size_t i = 0; i < std::min(texts.size(), read_back.token.size()); ++i)
      if (read_back.token[i] >= 0 && !texts[i].empty()) read_back.texts.emplace(read_back.token[i], texts[i]);
  }
  // Of an encoder-decoder the target may end before the source does, and a run may have met NaN at once.
  while (read_back.rows() > 0 && std::isnan(read_back.log_sum_exp.back()) &&
         read_back.token[kLikeliest * (read_back.log_sum_exp.size() - 1)] < 0) {
    read_back.log_sum_exp.pop_back();
    read_back.entropy.pop_back();
    read_back.token.resize(read_back.token.size() - kLikeliest);
    read_back.log_probability.resize(read_back.token.size());
    if (!read_back.loss.empty()) read_back.loss.pop_back(), read_back.rank.pop_back();
  }
  if (!read_back.present()) return std::shared_ptr<const Predictions>();
  return std::make_shared<const Predictions>(std::move(read_back));
}

}  // namespace headroom
