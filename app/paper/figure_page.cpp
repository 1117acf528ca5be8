#include "app/paper/figure_page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "app/figures/caption_text.h"
#include "app/figures/figure_fit.h"
#include "app/figures/figure_layout.h"
#include "app/plot/recording_painter.h"
#include "core/checkpoint/sha256.h"

namespace headroom {
namespace {

Page page_of(const FigurePage& page, const FontLibrary& fonts) { return {fonts, page.style}; }

PageInfo page_info(const FigurePage& page) {
  PageInfo info;
  info.width = page.figure.width_mm * kPointsPerMillimetre, info.height = page.figure.height_mm * kPointsPerMillimetre;
  info.title = "headroom figure " + page.name;
  if (!page.runs.empty()) {
    info.title += ": " + page.runs.front().name();
    info.created_utc = page.runs.front().attribute("created_utc");
  }
  info.description = plain_caption(page.caption);
  return info;
}

}  // namespace

PageStyle page_style(std::string_view theme, double text_size) {
  PageStyle style;
  style.times = theme == "slides" ? 2.0f : 1.0f;
  style.text_size = static_cast<float>(text_size);
  return style;
}

Result<FigurePage> lay_out_page(Figure figure, std::vector<FigureRun> runs, std::string name, const PageStyle& style,
                                const FontLibrary& fonts) {
  FigurePage page{std::move(figure), std::move(runs), std::move(name), style, {}, {}, {}, 0.0f};
  Page ground = page_of(page, fonts);
  HEADROOM_TRY_VOID(settle_height(page.figure, ground));
  HEADROOM_TRY_VOID(align_columns(page.figure, ground));
  HEADROOM_TRY(page.frames, lay_out_figure(page.figure, ground));
  HEADROOM_TRY_VOID(check_contents(page.figure, page.frames, ground));
  const PageInfo info = page_info(page);
  RecordingPainter record(fonts, {0.0f, 0.0f, static_cast<float>(info.width), static_cast<float>(info.height)});
  LeftOutLabels left_out;
  ground.left_out = &left_out;
  draw_figure(record, page.figure, page.frames, ground);
  page.caption = figure_caption(page.figure, left_out);
  for (std::string& note : left_out_notes(page.figure, left_out)) page.figure.notes.push_back(std::move(note));
  page.warnings = record.texts_outside();
  for (std::string& line : record.texts_overlapping()) page.warnings.push_back(std::move(line));
  for (const RecordedText& text : record.texts()) {
    const auto small = [&](float of) { return std::abs(text.style.size - kSmallText * of) < 0.01f; };
    if (small(style.size()) || small(style.title_size())) continue;
    page.least_text = page.least_text > 0.0f ? std::min(page.least_text, text.style.size) : text.style.size;
  }
  if (style.text_size < 6.0f) page.warnings.emplace_back("text below 6 pt is below what journals ask for");
  return page;
}

Result<FileKeys> page_keys(std::span<const FigureRun> runs, std::string command, std::string_view program,
                           std::string_view git_commit) {
  std::string hashes, models, checkpoints, prompts, changes;
  const auto join = [](std::string& to, const std::string& text) {
    to += (to.empty() || text.empty() ? "" : " ") + text;
  };
  for (const FigureRun& run : runs) {
    std::string hash = run.attribute(kFileHash);
    if (hash.empty()) {
      HEADROOM_TRY(hash, sha256_of_file(run.path));
    }
    join(hashes, hash);
    join(models, run.attribute("model_id"));
    std::string checkpoint = run.attribute("checkpoint_sha256");
    std::ranges::replace(checkpoint, '\n', ' ');
    join(checkpoints, checkpoint);
    join(prompts, run.attribute("prompt_sha256"));
    if (run.run == nullptr) continue;
    for (const std::string& what_if : run.run->what_ifs) join(changes, what_if);
  }
  return FileKeys{{"command", std::move(command)},
                  {"program", std::string(program)},
                  {"program_git_commit", std::string(git_commit)},
                  {"run_sha256", hashes},
                  {"model_id", models},
                  {"checkpoint_sha256", checkpoints},
                  {"prompt_sha256", prompts},
                  {"overrides", changes}};
}

Result<PageBytes> page_bytes(const FigurePage& page, PageFormat format, double dots_per_inch, const FileKeys& keys,
                             const FontLibrary& fonts, SvgText svg_text) {
  PageInfo info = page_info(page);
  info.svg_text = svg_text;
  info.dots_per_inch = dots_per_inch > 0.0 ? dots_per_inch : format == PageFormat::Png ? 300.0 : 600.0;
  info.keys = keys;
  const Page ground = page_of(page, fonts);
  return make_page(format, info, fonts,
                   [&](Painter& painter) { draw_figure(painter, page.figure, page.frames, ground); });
}

Result<RgbPicture> page_picture(const FigurePage& page, double pixels_per_point, const FontLibrary& fonts) {
  PageInfo info = page_info(page);
  info.dots_per_inch = 72.0 * pixels_per_point;
  const Page ground = page_of(page, fonts);
  HEADROOM_TRY(PagePixels pixels, make_pixels(info, fonts, [&](Painter& painter) {
                 draw_figure(painter, page.figure, page.frames, ground);
               }));
  RgbPicture picture;
  picture.width = pixels.width, picture.height = pixels.height;
  picture.rgb = std::make_shared<const std::vector<std::uint8_t>>(std::move(pixels.rgb));
  return picture;
}

FigureData page_marks(const FigurePage& page) {
  FigureData data;
  for (const auto& panel : page.figure.panels) panel->add_data(data);
  return data;
}

std::string page_marks_csv(const FigurePage& page, const FileKeys& keys) {
  std::string text;
  for (const auto& [key, value] : keys)
    if (!value.empty()) text += "# " + key + ": " + value + "\n";
  return text + page_marks(page).csv();
}

}  // namespace headroom
