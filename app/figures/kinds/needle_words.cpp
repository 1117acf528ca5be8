#include "app/figures/kinds/needle_words.h"

#include <cmath>

#include "app/figures/caption_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

std::string samples_text(std::int64_t count) { return grouped_text(count) + (count == 1 ? " sample" : " samples"); }

std::string row_sentence(const NeedleFigure& of) {
  const NeedleMeasure& measure = *of.quantity.measure;
  std::string text = measure.sentence;
  text += " on the row that predicts the answer’s first token";
  if (of.first().two_maps() || of.several())
    text += of.quantity.map == NeedleMap::Net ? ", of net maps (heads with one map: that map)"
                                              : ", of " + std::string(of.map_name()) + " maps";
  text += of.choice.heads.empty() ? ", mean over heads" : ", of " + of.of_heads;
  return text;
}

std::string spans_sentence(const NeedleNumbers& numbers) {
  return "The spans are all keys: position 0 (first), the number that is asked for (answer), the rest of its sentence "
         "(needle), sentences of other cities (distractor), the documents (haystack: " +
         literal_markup(numbers.documents) + "), the question with what has been read of the answer.";
}

// What intervals are over, and what is not there.
std::string samples_sentence(const NeedleNumbers& numbers) {
  std::string text = " " + samples_text(numbers.samples) + " a cell, with " + grouped_text(numbers.needles) +
                     (numbers.needles == 1 ? " number" : " numbers") + " in each prompt";
  text += numbers.samples > 1
              ? "; bands and bars: 95 % intervals by Student’s *t* over samples, which are draws of cities, numbers, "
                "places and text from these documents; they say nothing of other documents or trainings."
              : ": no intervals.";
  return text;
}

std::string left_out_sentence(const NeedleNumbers& numbers, bool named) {
  std::string text;
  const std::string of = named ? " of " + literal_markup(numbers.name) : std::string();
  if (numbers.non_finite > 0)
    text += " Left out" + of + ": " + grouped_text(numbers.non_finite) +
            (numbers.non_finite == 1 ? " prompt" : " prompts") + " whose numbers are not finite.";
  if (numbers.cells_done < numbers.cells_asked)
    text += " " + std::string(named ? literal_markup(numbers.name) : "The run") +
            " was stopped: " + grouped_text(numbers.cells_done) + " of " + grouped_text(numbers.cells_asked) +
            " cells have numbers.";
  return text;
}

std::string depth_sentence(const NeedleFigure& of, std::size_t group) {
  const NeedleNumbers& numbers = of.first();
  if (of.along.lengths) return ", over the prompt’s tokens, at depth " + short_text(numbers.depths.front()) + " %";
  if (of.along.single())
    return ", at depth " + short_text(numbers.depths.front()) + " % of " + length_text(numbers.lengths[group]);
  return ", over the depth of the answer’s sentence, in prompts of " + length_text(numbers.lengths[group]);
}

std::string recall_sentence() {
  return "Recall: share of the answer’s tokens that the model finds likeliest, each behind the true ones before it.";
}

std::string overall_sentence(const NeedleNumbers& numbers, const std::string& name) {
  std::string text =
      " Over all cells " + (name.empty() ? "" : "of " + literal_markup(name) + " ") + short_text(numbers.overall.mean);
  if (std::isfinite(numbers.overall.low)) text += " ± " + two_digits(numbers.overall.half());
  return text + "; " + grouped_text(numbers.recalled_prompts) + " of " + grouped_text(numbers.prompts) +
         " prompts have more than half.";
}

std::string prompts_sentence(const NeedleFigure& of) {
  const NeedleNumbers& first = of.first();
  bool same = !first.prompts_sha256.empty();
  for (const NeedleNumbers& one : of.files) same = same && one.prompts_sha256 == first.prompts_sha256;
  if (same)
    return " All files are of the same prompts. Each has an interval of its own; a difference on the same prompts may be "
           "surer than two intervals make it look.";
  std::string text = " The prompts of the files differ:";
  for (std::size_t f = 0; f < of.files.size(); ++f)
    text += (f > 0 ? "; " : " ") + literal_markup(of.names[f]) + " has " + grouped_text(of.files[f].needles) +
            (of.files[f].needles == 1 ? " number, " : " numbers, ") + samples_text(of.files[f].samples) +
            ", documents " + literal_markup(of.files[f].documents);
  return text + ".";
}

// What holds for all panels.
std::string sentence_of_all(const NeedleFigure& of) {
  const NeedleNumbers& first = of.first();
  std::string text = of.several() ? std::string() : " " + spans_sentence(first);
  text += samples_sentence(first);
  if (!of.several() && of.along.single()) text += " " + recall_sentence() + overall_sentence(first, {});
  if (of.several()) text += prompts_sentence(of);
  for (const NeedleNumbers& numbers : of.files) text += left_out_sentence(numbers, of.several());
  if (!of.along.lengths && of.along.groups.size() < first.lengths.size())
    text += " Of " + std::to_string(first.lengths.size()) + " lengths " + std::to_string(of.along.groups.size()) +
            " are drawn.";
  return text;
}

// How many heads are retrieval heads, and how surely.
std::string retrieval_counts(const NeedleNumbers& numbers) {
  std::int64_t mean = 0, sure = 0, corrected = 0;
  for (const RetrievalScore& one : numbers.scores) {
    mean += one.mean >= kRetrievalHead ? 1 : 0, sure += one.low > kRetrievalHead ? 1 : 0;
    corrected += one.mean - one.corrected > kRetrievalHead ? 1 : 0;
  }
  std::string text = grouped_text(mean) + " of " + grouped_text(std::ssize(numbers.scores)) + " heads reach it";
  if (numbers.samples > 1)
    text += ", " + grouped_text(sure) + " with their whole interval above it, " + grouped_text(corrected) +
            " with one corrected for all heads (Bonferroni)";
  if (numbers.recalled_prompts > 0)
    text += "; in prompts with recall above one half " + grouped_text(numbers.recalled_heads) + " reach it";
  return text;
}

}  // namespace

NeedleAlong needle_along(const NeedleNumbers& numbers) {
  NeedleAlong along;
  along.lengths = numbers.depths.size() == 1 && numbers.lengths.size() > 1;
  along.places = along.lengths ? numbers.lengths : numbers.depths;
  const std::size_t count = along.lengths ? 1 : numbers.lengths.size(), drawn = std::min(count, kMostNeedleLines);
  // The first, the last, and some between.
  for (std::size_t i = 0; i < drawn; ++i)
    along.groups.push_back(drawn == 1 ? 0 : (i * (count - 1) + (drawn - 1) / 2) / (drawn - 1));
  return along;
}

std::string length_text(double tokens) { return grouped_text(static_cast<std::int64_t>(tokens)) + " tokens"; }

std::string spans_caption(const NeedleFigure& of, std::size_t group, const std::string& what) {
  if (group != of.along.groups.front()) return same_caption(of, group);
  return row_sentence(of) + what + depth_sentence(of, group) + "." + sentence_of_all(of);
}

std::string same_caption(const NeedleFigure& of, std::size_t group) {
  return "The same in prompts of " + length_text(of.first().lengths[group]) + ".";
}

std::string recall_caption(const NeedleFigure& of) {
  std::string text = recall_sentence();
  for (std::size_t f = 0; f < of.files.size(); ++f)
    text += overall_sentence(of.files[f], of.several() ? of.names[f] : std::string());
  return text;
}

std::string retrieval_caption(const NeedleFigure& of) {
  std::string text =
      "Retrieval score: share of the answer’s tokens whose row has its largest net weight on the same token inside the "
      "answer; mean over all lengths and depths, samples as clusters. Dashed: 0.1, from which on Wu et al. (arXiv "
      "2404.15574) speak of a retrieval head: ";
  for (std::size_t f = 0; f < of.files.size(); ++f)
    text += (f > 0 ? "; " : "") + (of.several() ? literal_markup(of.names[f]) + ": " : std::string()) +
            retrieval_counts(of.files[f]);
  return text + ". Heads are ordered by the same numbers, so that the first are too large on average.";
}

}  // namespace headroom
