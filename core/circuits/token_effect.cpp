#include "core/circuits/token_effect.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "core/base/all_threads.h"
#include "core/base/mutex.h"
#include "kernels/cpu/product.h"

namespace headroom {
namespace {

constexpr std::int64_t kStrip = 1024;

Thin turned(const Thin& matrix) {
  Thin result(matrix.columns, matrix.rows);
  for (std::int64_t r = 0; r < matrix.rows; ++r)
    for (std::int64_t c = 0; c < matrix.columns; ++c) result.row(c)[r] = matrix.row(r)[c];
  return result;
}

// W_V G E[t] of tokens, [channels, tokens].
Result<Thin> read_by(const ModelSource& source, const ModelSpec& model, const Thin& values,
                     const std::vector<std::int64_t>& tokens) {
  Thin embeddings(values.rows, static_cast<std::int64_t>(tokens.size()));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    HEADROOM_TRY(const std::vector<double> row, read_token(source, model.embedding, tokens[i]));
    for (std::int64_t c = 0; c < values.rows; ++c)
      embeddings.row(c)[i] = row[static_cast<std::size_t>(c)] * model.embedding_scale;
  }
  return product(values, embeddings);
}

struct Reading {
  std::vector<double> logits;                    // of the first token, over the vocabulary
  std::vector<double> own;                       // logit of each token itself, of those that were read
  std::vector<std::atomic<std::int64_t>> above;  // tokens with a larger logit than its own
};

// Column 0 of `read` is the token that is asked for, the others are the sample.
Result<void> write_all(const ModelSource& source, const ModelSpec& model, const Thin& written, const Thin& read,
                       const std::vector<std::int64_t>& tokens, Reading& reading, const CircuitStop& stop) {
  const std::int64_t vocabulary = path_vocabulary(model), strips = (vocabulary + kStrip - 1) / kStrip;
  Mutex mutex;
  std::optional<Error> failed;
  std::atomic<bool> ended{false};
  on_all_threads(strips, [&](std::int64_t strip) {
    if (ended || (stop && stop())) {
      ended = true;
      return;
    }
    const std::int64_t first = strip * kStrip, count = std::min(kStrip, vocabulary - first);
    const auto rows = read_rows(source, model.lm_head.weight, first, count);
    if (!rows) {
      const MutexLock lock(mutex);
      failed = rows.error();
      ended = true;
      return;
    }
    // [channels, count], so that the channels lead in both factors.
    const Thin channels = product(written, turned(*rows));
    Thin logits(count, read.columns);
    kernels::add_product(channels.values.data(), count, read.values.data(), read.columns, channels.rows, count,
                         read.columns, logits.values.data(), read.columns);
    for (std::int64_t v = 0; v < count; ++v) reading.logits[static_cast<std::size_t>(first + v)] = logits.row(v)[0];
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      std::int64_t above = 0;
      for (std::int64_t v = 0; v < count; ++v)
        above += first + v != tokens[t] && logits.row(v)[t] > reading.own[t] ? 1 : 0;
      reading.above[t] += above;
    }
  });
  if (failed) return *failed;
  if (ended) return Error(ErrorCode::Cancelled, "stopped while the tokens of a head were ranked");
  return {};
}

}  // namespace

Result<TokenEffect> measure_token_effect(const ModelSource& source, const ModelSpec& model,
                                         const TokenEffectRequest& request, const CircuitStop& stop) {
  const std::int64_t vocabulary = path_vocabulary(model);
  const AttentionSpec& attention = model.blocks[static_cast<std::size_t>(request.layer)].attention;
  if (const std::string reason = path_refusal(model, request.layer); !reason.empty())
    return Error(ErrorCode::Unsupported, "no path through the vocabulary: " + reason);
  if (request.token < 0 || request.token >= vocabulary)
    return Error(ErrorCode::InvalidArgument, "there is no such token")
        .wanted("0 to " + std::to_string(vocabulary - 1), std::to_string(request.token));
  if (request.head < 0 || request.head >= static_cast<std::int64_t>(attention.heads.size()))
    return Error(ErrorCode::InvalidArgument, "the layer has no such head");

  HEADROOM_TRY(const LayerFactors factors, read_factors(source, model, request.layer));
  const Thin values = factors.values_of(attention.heads[static_cast<std::size_t>(request.head)]);
  Thin written = factors.output[static_cast<std::size_t>(request.head)];
  HEADROOM_TRY(const std::vector<double> gain, read_gain(source, model.final_norm, model.hidden_size));
  fold_into_writer(model.final_norm, gain, written);

  TokenEffect effect;
  effect.layer = request.layer, effect.head = request.head, effect.token = request.token;
  effect.vocabulary = vocabulary;
  effect.sampled = std::min(request.sample, vocabulary);
  std::vector<std::int64_t> tokens = {request.token};
  for (std::int64_t i = 0; i < effect.sampled; ++i) tokens.push_back(i * vocabulary / effect.sampled);
  HEADROOM_TRY(const Thin read, read_by(source, model, values, tokens));

  Reading reading;
  reading.logits.resize(static_cast<std::size_t>(vocabulary));
  reading.above = std::vector<std::atomic<std::int64_t>>(tokens.size());
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    HEADROOM_TRY(const std::vector<double> row, read_token(source, model.lm_head.weight, tokens[t]));
    double logit = 0.0;
    for (std::int64_t c = 0; c < written.columns; ++c) {
      double channel = 0.0;
      for (std::int64_t r = 0; r < written.rows; ++r) channel += row[static_cast<std::size_t>(r)] * written.row(r)[c];
      logit += channel * read.row(c)[t];
    }
    reading.own.push_back(logit);
  }
  HEADROOM_TRY_VOID(write_all(source, model, written, read, tokens, reading, stop));

  const auto count = static_cast<double>(vocabulary);
  const double mean = std::accumulate(reading.logits.begin(), reading.logits.end(), 0.0) / count;
  double squares = 0.0;
  for (const double logit : reading.logits) squares += (logit - mean) * (logit - mean);
  const double deviation = std::sqrt(squares / count);
  std::vector<std::int64_t> order(static_cast<std::size_t>(vocabulary));
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](std::int64_t token) {
    return (reading.logits[static_cast<std::size_t>(token)] - mean) / deviation;
  };
  const std::size_t shown = std::min(request.shown, order.size());
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(shown);
  const auto list = [&](bool largest, std::vector<PromotedToken>& into) {
    std::partial_sort(order.begin(), middle, order.end(), [&](std::int64_t a, std::int64_t b) {
      const double x = reading.logits[static_cast<std::size_t>(a)], y = reading.logits[static_cast<std::size_t>(b)];
      if (x != y) return largest ? x > y : x < y;
      return a < b;
    });
    for (auto at = order.begin(); at != middle; ++at) into.push_back({*at, score(*at)});
  };
  list(true, effect.promoted);
  list(false, effect.suppressed);
  effect.own_rank = reading.above[0] + 1;
  effect.own_score = score(request.token);
  std::int64_t first = 0, ten = 0;
  for (std::size_t t = 1; t < tokens.size(); ++t) first += reading.above[t] == 0, ten += reading.above[t] < 10;
  if (effect.sampled > 0) {
    effect.own_first = static_cast<double>(first) / static_cast<double>(effect.sampled);
    effect.own_among_ten = static_cast<double>(ten) / static_cast<double>(effect.sampled);
  }
  return effect;
}

}  // namespace headroom
