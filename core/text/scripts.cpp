#include "core/text/scripts.h"

#include <algorithm>
#include <array>

namespace headroom {
namespace {

// What the pre-tokenizer counts as one.
constexpr std::array kEastAsian = {"Han", "Hiragana", "Katakana"};
// The other scripts of Unicode 14; those that most text has come first.
constexpr std::array kScriptNames = {"Latin",
                                     "Common",
                                     "Cyrillic",
                                     "Greek",
                                     "Arabic",
                                     "Hangul",
                                     "Adlam",
                                     "Ahom",
                                     "Anatolian_Hieroglyphs",
                                     "Armenian",
                                     "Avestan",
                                     "Balinese",
                                     "Bamum",
                                     "Bassa_Vah",
                                     "Batak",
                                     "Bengali",
                                     "Bhaiksuki",
                                     "Bopomofo",
                                     "Brahmi",
                                     "Braille",
                                     "Buginese",
                                     "Buhid",
                                     "Canadian_Aboriginal",
                                     "Carian",
                                     "Caucasian_Albanian",
                                     "Chakma",
                                     "Cham",
                                     "Cherokee",
                                     "Chorasmian",
                                     "Coptic",
                                     "Cuneiform",
                                     "Cypriot",
                                     "Cypro_Minoan",
                                     "Deseret",
                                     "Devanagari",
                                     "Dives_Akuru",
                                     "Dogra",
                                     "Duployan",
                                     "Egyptian_Hieroglyphs",
                                     "Elbasan",
                                     "Elymaic",
                                     "Ethiopic",
                                     "Georgian",
                                     "Glagolitic",
                                     "Gothic",
                                     "Grantha",
                                     "Gujarati",
                                     "Gunjala_Gondi",
                                     "Gurmukhi",
                                     "Hanifi_Rohingya",
                                     "Hanunoo",
                                     "Hatran",
                                     "Hebrew",
                                     "Imperial_Aramaic",
                                     "Inherited",
                                     "Inscriptional_Pahlavi",
                                     "Inscriptional_Parthian",
                                     "Javanese",
                                     "Kaithi",
                                     "Kannada",
                                     "Kayah_Li",
                                     "Kharoshthi",
                                     "Khitan_Small_Script",
                                     "Khmer",
                                     "Khojki",
                                     "Khudawadi",
                                     "Lao",
                                     "Lepcha",
                                     "Limbu",
                                     "Linear_A",
                                     "Linear_B",
                                     "Lisu",
                                     "Lycian",
                                     "Lydian",
                                     "Mahajani",
                                     "Makasar",
                                     "Malayalam",
                                     "Mandaic",
                                     "Manichaean",
                                     "Marchen",
                                     "Masaram_Gondi",
                                     "Medefaidrin",
                                     "Meetei_Mayek",
                                     "Mende_Kikakui",
                                     "Meroitic_Cursive",
                                     "Meroitic_Hieroglyphs",
                                     "Miao",
                                     "Modi",
                                     "Mongolian",
                                     "Mro",
                                     "Multani",
                                     "Myanmar",
                                     "Nabataean",
                                     "Nandinagari",
                                     "New_Tai_Lue",
                                     "Newa",
                                     "Nko",
                                     "Nushu",
                                     "Nyiakeng_Puachue_Hmong",
                                     "Ogham",
                                     "Ol_Chiki",
                                     "Old_Hungarian",
                                     "Old_Italic",
                                     "Old_North_Arabian",
                                     "Old_Permic",
                                     "Old_Persian",
                                     "Old_Sogdian",
                                     "Old_South_Arabian",
                                     "Old_Turkic",
                                     "Old_Uyghur",
                                     "Oriya",
                                     "Osage",
                                     "Osmanya",
                                     "Pahawh_Hmong",
                                     "Palmyrene",
                                     "Pau_Cin_Hau",
                                     "Phags_Pa",
                                     "Phoenician",
                                     "Psalter_Pahlavi",
                                     "Rejang",
                                     "Runic",
                                     "Samaritan",
                                     "Saurashtra",
                                     "Sharada",
                                     "Shavian",
                                     "Siddham",
                                     "SignWriting",
                                     "Sinhala",
                                     "Sogdian",
                                     "Sora_Sompeng",
                                     "Soyombo",
                                     "Sundanese",
                                     "Syloti_Nagri",
                                     "Syriac",
                                     "Tagalog",
                                     "Tagbanwa",
                                     "Tai_Le",
                                     "Tai_Tham",
                                     "Tai_Viet",
                                     "Takri",
                                     "Tamil",
                                     "Tangsa",
                                     "Tangut",
                                     "Telugu",
                                     "Thaana",
                                     "Thai",
                                     "Tibetan",
                                     "Tifinagh",
                                     "Tirhuta",
                                     "Toto",
                                     "Ugaritic",
                                     "Vai",
                                     "Vithkuqi",
                                     "Wancho",
                                     "Warang_Citi",
                                     "Yezidi",
                                     "Yi",
                                     "Zanabazar_Square"};

// Characters that Unicode has moved to another script since the tables of the tokenizers library: there they stay.
struct Moved {
  std::string_view character, from, to;
};
constexpr std::array kMoved = std::to_array<Moved>({
    {"\\x{589}", "Common", "Armenian"},
    {"\\x{61C}", "Common", "Arabic"},
    {"\\x{953}", "Devanagari", "Inherited"},
    {"\\x{954}", "Devanagari", "Inherited"},
});

std::string members_of(std::string_view script) {
  std::string own = "\\p{sc:" + std::string(script) + "}", moved;
  for (const Moved& each : kMoved) {
    if (each.from == script) own += each.character;
    if (each.to == script) moved += each.character;
  }
  return (moved.empty() ? "" : "(?![" + moved + "])") + "[" + own + "]";
}

}  // namespace

bool is_script_name(std::string_view name) {
  const auto is_name = [&](const char* known) { return name == known; };
  return std::any_of(kEastAsian.begin(), kEastAsian.end(), is_name) ||
         std::any_of(kScriptNames.begin(), kScriptNames.end(), is_name);
}

std::string script_runs_regex() {
  std::string pattern;
  const auto add = [&](const std::string& members) {
    const std::string run = "(?:(?! )" + members + ")+";
    pattern += (pattern.empty() ? "" : "|") + run + "(?:[ \\p{sc:Unknown}]+" + run + ")*";
  };
  std::string east_asian;
  for (const char* name : kEastAsian) east_asian += "\\p{sc:" + std::string(name) + "}";
  add("[" + east_asian + "\\x{30FC}]");
  for (const char* name : kScriptNames) add((name == std::string("Common") ? "(?!\\x{30FC})" : "") + members_of(name));
  return pattern;
}

}  // namespace headroom
