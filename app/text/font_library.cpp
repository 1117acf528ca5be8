#include "app/text/font_library.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <unordered_map>

#include "app/text/bidi.h"
#include "app/text/font_face.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxShapedTexts = 20000;
constexpr std::size_t kMaxPictureSize = 400;  // pixels per em

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

struct CachedText {
  ShapedText shaped;
  std::uint64_t epoch = 0;
};

// What is never drawn: control characters and those that only direct the order or the breaking of lines.
bool invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x200b || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

// Joins the character before it: a mark, a joiner or what a joiner joins, a variation or a skin tone.
bool extends_cluster(char32_t c, char32_t before) {
  if (c == 0x200c || c == 0x200d || before == 0x200d) return true;
  if ((c >= 0xfe00 && c <= 0xfe0f) || (c >= 0x1f3fb && c <= 0x1f3ff) || (c >= 0xe0100 && c <= 0xe01ef)) return true;
  switch (hb_unicode_general_category(hb_unicode_funcs_get_default(), c)) {
    case HB_UNICODE_GENERAL_CATEGORY_NON_SPACING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_ENCLOSING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_SPACING_MARK: return true;
    default: return false;
  }
}

// Means nothing outside the font that defines it; some fonts keep icons there.
bool private_use(char32_t c) { return (c >= 0xe000 && c <= 0xf8ff) || c >= 0xf0000; }

// Needs no glyph of its own.
bool selector(char32_t c) {
  return c == 0x200c || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef);
}

struct FontRun {
  std::size_t begin = 0, end = 0;
  std::uint32_t font = 0;
};

struct BufferDeleter {
  void operator()(hb_buffer_t* buffer) const { hb_buffer_destroy(buffer); }
};

}  // namespace

std::size_t GlyphKeyHash::operator()(const GlyphKey& key) const {
  std::uint64_t h = (std::uint64_t{key.font} << 32) | key.glyph;
  h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15ull;
  h ^= (std::uint64_t{static_cast<std::uint32_t>(key.size_64)} << 20) ^
       (std::uint64_t{static_cast<std::uint16_t>(key.angle_10)} << 4) ^ (key.sub_x | (key.sub_y << 2));
  h *= 0xbf58476d1ce4e5b9ull;
  return static_cast<std::size_t>(h ^ (h >> 31));
}

struct FontLibrary::State {
  FreeType library;
  std::vector<std::unique_ptr<FontFace>> fonts;  // by number; null where FreeType could not read the file
  std::array<std::vector<std::uint32_t>, kFaceCount> chains;
  std::array<std::unordered_map<char32_t, std::uint32_t>, 2>
      found_by_fontconfig;  // sans and mono; kBoxFont: none has it
  std::array<std::unordered_map<std::string, std::unique_ptr<CachedText>, TextHash, std::equal_to<>>, kFaceCount> texts;
  std::uint64_t epoch = 1;
  std::unique_ptr<hb_buffer_t, BufferDeleter> buffer{hb_buffer_create()};

  std::uint32_t font_number(const FontFile& file) {
    for (std::size_t i = 0; i < fonts.size(); ++i) {
      if (fonts[i] && fonts[i]->file() == file) return static_cast<std::uint32_t>(i);
    }
    auto font = FontFace::open(library.get(), file);
    if (!font || fonts.size() >= kBoxFont) return kBoxFont;
    fonts.push_back(std::move(font));
    return static_cast<std::uint32_t>(fonts.size() - 1);
  }

  bool covers(std::uint32_t font, std::span<const char32_t> cluster) const {
    return std::all_of(cluster.begin(), cluster.end(), [&](char32_t c) { return selector(c) || fonts[font]->has(c); });
  }

  // The first font with all characters of the cluster, else the first with its base; kBoxFont if there is none.
  std::uint32_t font_for(std::span<const char32_t> cluster, Face face) {
    if (private_use(cluster[0])) return kBoxFont;
    const auto& chain = chains[static_cast<std::size_t>(face)];
    const bool emoji = std::find(cluster.begin(), cluster.end(), char32_t{0xfe0f}) != cluster.end();
    if (!emoji) {
      for (const std::uint32_t font : chain) {
        if (covers(font, cluster)) return font;
      }
    }
    auto& found = found_by_fontconfig[is_mono(face) ? 1 : 0];
    auto [entry, fresh] = found.try_emplace(cluster[0], kBoxFont);
    if (fresh) {
      if (const auto file = find_font_with(cluster[0], face)) entry->second = font_number(*file);
      if (entry->second != kBoxFont && !fonts[entry->second]->has(cluster[0])) entry->second = kBoxFont;
    }
    if (entry->second != kBoxFont && covers(entry->second, cluster)) return entry->second;
    for (const std::uint32_t font : chain) {
      if (fonts[font]->has(cluster[0])) return font;
    }
    return entry->second;
  }

  std::vector<FontRun> font_runs(std::span<const char32_t> text, const BidiRun& part, Face face) {
    std::vector<FontRun> runs;
    for (std::size_t i = part.begin; i < part.end;) {
      std::size_t end = i + 1;
      while (end < part.end && extends_cluster(text[end], text[end - 1])) ++end;
      const std::uint32_t font = font_for(text.subspan(i, end - i), face);
      if (!runs.empty() && runs.back().font == font) {
        runs.back().end = end;
      } else {
        runs.push_back({i, end, font});
      }
      i = end;
    }
    if (part.right_to_left) std::reverse(runs.begin(), runs.end());
    return runs;
  }

  static void append_boxes(std::span<const char32_t> text, std::size_t begin, std::size_t end, ShapedText& out) {
    for (std::size_t i = begin; i < end; ++i) {
      if (selector(text[i])) continue;
      out.glyphs.push_back({kBoxFont, static_cast<std::uint32_t>(text[i]), out.width, 0.0f, i});
      out.width += box_advance(text[i]);
    }
  }

  // `own`: the font of the face itself, whose alternates ("->" as one arrow) would misquote what is shown.
  void append_run(std::span<const char32_t> text, const FontRun& run, bool right_to_left, bool own,
                  ShapedText& out) const {
    static constexpr std::array<hb_feature_t, 4> kLiteral = {{{HB_TAG('c', 'a', 'l', 't'), 0, 0, ~0u},
                                                              {HB_TAG('l', 'i', 'g', 'a'), 0, 0, ~0u},
                                                              {HB_TAG('c', 'l', 'i', 'g'), 0, 0, ~0u},
                                                              {HB_TAG('d', 'l', 'i', 'g'), 0, 0, ~0u}}};
    hb_buffer_t* buf = buffer.get();
    hb_buffer_clear_contents(buf);
    hb_buffer_add_utf32(buf, reinterpret_cast<const std::uint32_t*>(text.data()), static_cast<int>(text.size()),
                        static_cast<unsigned>(run.begin), static_cast<int>(run.end - run.begin));
    hb_buffer_guess_segment_properties(buf);
    hb_buffer_set_direction(buf, right_to_left ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
    hb_buffer_set_language(buf, hb_language_from_string("en", -1));
    hb_shape(fonts[run.font]->shaper(), buf, own ? kLiteral.data() : nullptr, own ? kLiteral.size() : 0);
    unsigned count = 0;
    const hb_glyph_info_t* infos = hb_buffer_get_glyph_infos(buf, &count);
    const hb_glyph_position_t* places = hb_buffer_get_glyph_positions(buf, nullptr);
    constexpr float kEm = 1.0f / static_cast<float>(kShapeUnits);
    for (unsigned i = 0; i < count; ++i) {
      if (infos[i].codepoint == 0) {  // a mark that the font of its base lacks
        append_boxes(text, infos[i].cluster, infos[i].cluster + 1, out);
        continue;
      }
      out.glyphs.push_back({run.font, infos[i].codepoint, out.width + static_cast<float>(places[i].x_offset) * kEm,
                            -static_cast<float>(places[i].y_offset) * kEm, infos[i].cluster});
      out.width += static_cast<float>(places[i].x_advance) * kEm;
    }
  }

  ShapedText shape(std::string_view bytes, Face face) {
    std::u32string text;
    text.reserve(bytes.size());
    std::vector<std::size_t> places;  // in bytes, of each character and of the end
    for (std::size_t at = 0; at < bytes.size();) {
      const Utf8Scalar scalar = decode_utf8(bytes.substr(at));
      const char32_t c = scalar.valid ? scalar.code_point : 0xfffd;
      if (!invisible(c)) text.push_back(c), places.push_back(at);
      at += scalar.size_bytes;
    }
    ShapedText out;
    const std::span<const char32_t> characters(text);
    const std::uint32_t own = chains[static_cast<std::size_t>(face)].front();
    for (const BidiRun& part : bidi_runs(characters)) {
      for (const FontRun& run : font_runs(characters, part, face)) {
        if (run.font == kBoxFont) {
          append_boxes(characters, run.begin, run.end, out);
        } else {
          append_run(characters, run, part.right_to_left, run.font == own, out);
        }
      }
    }
    for (PlacedGlyph& glyph : out.glyphs) glyph.cluster = places[glyph.cluster];
    return out;
  }
};

FontLibrary::FontLibrary(std::unique_ptr<State> state) : state_(std::move(state)) {}
FontLibrary::~FontLibrary() = default;

Result<std::unique_ptr<FontLibrary>> FontLibrary::create(const std::string& text_font) {
  auto state = std::make_unique<State>();
  FT_Library library = nullptr;
  if (FT_Init_FreeType(&library) != 0) return Error(ErrorCode::OutOfMemory, "FreeType could not be started");
  state->library.reset(library);
  for (std::size_t face = 0; face < kFaceCount; ++face) {
    const auto of = static_cast<Face>(face);
    HEADROOM_TRY(const std::vector<FontFile> files, text_font.empty()
                                                        ? Result<std::vector<FontFile>>(find_face_files(of))
                                                        : find_named_files(text_font, of));
    for (const FontFile& file : files) {
      const std::uint32_t font = state->font_number(file);
      const bool drawable = font != kBoxFont && FT_IS_SCALABLE(state->fonts[font]->face()) != 0;
      if (!text_font.empty() && !is_mono(of) && file == files.front() && !drawable)
        return Error(ErrorCode::Corrupt, "no font with outlines could be read from it").in_file(file.path);
      if (font != kBoxFont) state->chains[face].push_back(font);
    }
    if (state->chains[face].empty()) {
      Error error(ErrorCode::NotFound, "no font was found");
      error.wanted("Inter and JetBrains Mono, or DejaVu, or any font that fontconfig knows", "none");
      return error.advise("install fonts-inter, fonts-jetbrains-mono or fonts-dejavu-core");
    }
  }
  return std::unique_ptr<FontLibrary>(new FontLibrary(std::move(state)));
}

const ShapedText& FontLibrary::shape(std::string_view text, Face face) const {
  auto& texts = state_->texts[static_cast<std::size_t>(face)];
  auto found = texts.find(text);
  if (found == texts.end()) {
    auto fresh = std::make_unique<CachedText>();
    fresh->shaped = state_->shape(text, face);
    found = texts.emplace(std::string(text), std::move(fresh)).first;
  }
  found->second->epoch = state_->epoch;
  return found->second->shaped;
}

const FontFace& FontLibrary::font(std::uint32_t number) const { return *state_->fonts[number]; }

float FontLibrary::width(std::string_view text, Face face, float size) const { return shape(text, face).width * size; }

GlyphPicture FontLibrary::rasterise(const GlyphKey& wanted) const {
  GlyphKey key = wanted;
  key.size_64 = std::clamp(key.size_64, 64, static_cast<std::int32_t>(kMaxPictureSize * 64));
  if (key.font == kBoxFont) {
    const std::uint32_t digits = state_->chains[static_cast<std::size_t>(Face::Mono)].front();
    return rasterise_box(state_->library.get(), *state_->fonts[digits], key);
  }
  return rasterise_glyph(state_->library.get(), *state_->fonts[key.font], key);
}

void FontLibrary::trim() {
  std::size_t count = 0;
  for (const auto& texts : state_->texts) count += texts.size();
  if (count > kMaxShapedTexts) {
    for (auto& texts : state_->texts) {
      std::erase_if(texts, [this](const auto& entry) { return entry.second->epoch < state_->epoch; });
    }
  }
  ++state_->epoch;
}

std::vector<std::string> FontLibrary::paths() const {
  std::vector<std::string> paths;
  for (const auto& font : state_->fonts)
    if (font && std::ranges::find(paths, font->file().path) == paths.end()) paths.push_back(font->file().path);
  return paths;
}

std::vector<std::string> FontLibrary::describe() const {
  static constexpr std::array<const char*, kFaceCount> kNames = {
      "Sans", "Sans medium", "Sans semibold", "Mono", "Mono semibold", "Sans italic", "Sans bold"};
  std::vector<std::string> lines;
  std::vector<bool> named(state_->fonts.size());
  const auto text_of = [this](std::uint32_t font) {
    return state_->fonts[font]->name() + " (" + state_->fonts[font]->file().path + ")";
  };
  for (std::size_t face = 0; face < kFaceCount; ++face) {
    const std::uint32_t font = state_->chains[face].front();
    named[font] = true;
    lines.push_back(std::string(kNames[face]) + ": " + text_of(font));
  }
  for (std::uint32_t font = 0; font < state_->fonts.size(); ++font) {
    if (!named[font]) lines.push_back("Fall-back: " + text_of(font));
  }
  return lines;
}

}  // namespace headroom
