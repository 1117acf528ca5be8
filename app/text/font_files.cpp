#include "app/text/font_files.h"

#include <fontconfig/fontconfig.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace headroom {
namespace {

constexpr const char* kInter = "/usr/share/fonts/opentype/inter/";
constexpr const char* kJetBrains = "/usr/share/fonts/truetype/jetbrains-mono/";
constexpr const char* kDejaVu = "/usr/share/fonts/truetype/dejavu/";

struct PatternDeleter {
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
};
using Pattern = std::unique_ptr<FcPattern, PatternDeleter>;

struct CharSetDeleter {
  void operator()(FcCharSet* set) const { FcCharSetDestroy(set); }
};

bool readable(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

FcChar8 const* text(const char* value) { return reinterpret_cast<const FcChar8*>(value); }

int weight_of(Face face) {
  switch (face) {
    case Face::SansMedium: return FC_WEIGHT_MEDIUM;
    case Face::SansSemibold:
    case Face::MonoSemibold: return FC_WEIGHT_DEMIBOLD;
    case Face::SansBold: return FC_WEIGHT_BOLD;
    case Face::Sans:
    case Face::SansItalic:
    case Face::Mono: break;
  }
  return FC_WEIGHT_REGULAR;
}

const char* style_of(Face face) {
  switch (face) {
    case Face::SansMedium: return "Medium";
    case Face::SansSemibold:
    case Face::MonoSemibold: return "SemiBold";
    case Face::SansItalic: return "Italic";
    case Face::SansBold: return "Bold";
    case Face::Sans:
    case Face::Mono: break;
  }
  return "Regular";
}

int slant_of(Face face) { return face == Face::SansItalic ? FC_SLANT_ITALIC : FC_SLANT_ROMAN; }

std::optional<FontFile> file_of(FcPattern* pattern) {
  FcChar8* path = nullptr;
  int index = 0;
  FcBool scalable = FcFalse, colour = FcFalse;
  if (FcPatternGetString(pattern, FC_FILE, 0, &path) != FcResultMatch) return {};
  FcPatternGetInteger(pattern, FC_INDEX, 0, &index);
  FcPatternGetBool(pattern, FC_SCALABLE, 0, &scalable);
  FcPatternGetBool(pattern, FC_COLOR, 0, &colour);
  if (!scalable && !colour) return {};
  return FontFile{reinterpret_cast<const char*>(path), index};
}

// fontconfig's best match. `exact`: only if its family is the one that was asked for.
std::optional<FontFile> match_family(const char* family, int weight, bool exact, int slant = FC_SLANT_ROMAN) {
  Pattern wanted(FcPatternCreate());
  if (!wanted) return {};
  FcPatternAddString(wanted.get(), FC_FAMILY, text(family));
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, weight);
  FcPatternAddInteger(wanted.get(), FC_SLANT, slant);
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcConfigSubstitute(nullptr, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  Pattern found(FcFontMatch(nullptr, wanted.get(), &result));
  if (!found) return {};
  if (exact) {
    bool same = false;
    FcChar8* name = nullptr;
    for (int i = 0; !same && FcPatternGetString(found.get(), FC_FAMILY, i, &name) == FcResultMatch; ++i) {
      same = FcStrCmpIgnoreCase(name, text(family)) == 0;
    }
    if (!same) return {};
  }
  return file_of(found.get());
}

std::optional<FontFile> first_readable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (readable(path)) return FontFile{path, 0};
  }
  return {};
}

std::optional<FontFile> design_font(Face face) {
  const std::string style = style_of(face);
  if (is_mono(face)) {
    if (auto file = first_readable({kJetBrains + ("JetBrainsMono-" + style + ".ttf")})) return file;
    return match_family("JetBrains Mono", weight_of(face), true);
  }
  if (auto file = first_readable({kInter + ("Inter-" + style + ".otf")})) return file;
  if (auto file = match_family("Inter", weight_of(face), true, slant_of(face))) return file;
  return match_family("Inter Variable", weight_of(face), true, slant_of(face));
}

std::optional<FontFile> dejavu(bool mono, bool bold) {
  const std::string family = mono ? "DejaVuSansMono" : "DejaVuSans";
  if (auto file = first_readable({kDejaVu + family + (bold ? "-Bold.ttf" : ".ttf")})) return file;
  return match_family(mono ? "DejaVu Sans Mono" : "DejaVu Sans", bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR, true);
}

}  // namespace

bool is_mono(Face face) { return face == Face::Mono || face == Face::MonoSemibold; }

std::vector<FontFile> find_face_files(Face face) {
  const bool mono = is_mono(face);
  const bool bold = weight_of(face) >= FC_WEIGHT_DEMIBOLD;
  std::vector<FontFile> files;
  const auto add = [&files](const std::optional<FontFile>& file) {
    if (file && std::find(files.begin(), files.end(), *file) == files.end()) files.push_back(*file);
  };
  add(design_font(face));
  if (files.empty()) add(dejavu(mono, bold));
  if (files.empty()) add(match_family(mono ? "monospace" : "sans-serif", weight_of(face), false, slant_of(face)));
  // Symbols that the face itself lacks: in its own width first, then in the other.
  add(dejavu(mono, false));
  add(dejavu(!mono, false));
  return files;
}

bool names_font_file(std::string_view name) {
  constexpr std::string_view kEndings[] = {".otf", ".ttf", ".otc", ".ttc"};
  return name.find('/') != std::string_view::npos ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

Result<std::vector<FontFile>> find_named_files(const std::string& name, Face face) {
  std::vector<FontFile> files = find_face_files(face);
  if (is_mono(face)) return files;
  const bool is_file = names_font_file(name);
  if (is_file && !readable(name)) return Error(ErrorCode::NotFound, "the font file cannot be read").in_file(name);
  const std::optional<FontFile> own =
      is_file ? FontFile{name, 0} : match_family(name.c_str(), weight_of(face), true, slant_of(face));
  if (!own) {
    Error error(ErrorCode::InvalidArgument, "font family \"" + name + "\": not installed");
    return error.advise("fc-list : family names those that are; a font file can be given by its path");
  }
  std::erase(files, *own);
  files.insert(files.begin(), *own);
  return files;
}

std::optional<FontFile> find_font_with(char32_t code_point, Face face) {
  Pattern wanted(FcPatternCreate());
  std::unique_ptr<FcCharSet, CharSetDeleter> characters(FcCharSetCreate());
  if (!wanted || !characters) return {};
  FcCharSetAddChar(characters.get(), code_point);
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, characters.get());
  FcPatternAddString(wanted.get(), FC_FAMILY, text(is_mono(face) ? "monospace" : "sans-serif"));
  FcPatternAddInteger(wanted.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, FC_WEIGHT_REGULAR);
  FcConfigSubstitute(nullptr, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  Pattern found(FcFontMatch(nullptr, wanted.get(), &result));
  if (!found) return {};
  FcCharSet* has = nullptr;
  if (FcPatternGetCharSet(found.get(), FC_CHARSET, 0, &has) != FcResultMatch || !FcCharSetHasChar(has, code_point))
    return {};
  return file_of(found.get());
}

}  // namespace headroom
