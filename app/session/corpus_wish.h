// A corpus that a person asks to be run, as the panel of it and the command have it. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

struct CorpusTask {
  std::string data;                   // a file, or a folder of files
  std::int64_t length = 0;            // positions of each sequence
  std::int64_t sequences = 0;         // at most; 0: all
  std::string split = "none";         // what a document of a text is: none (the file), lines, blank (a paragraph)
  bool curves = false;                // numbers of rows over visible keys too
  std::vector<std::string> what_ifs;  // with scopes, that all of it runs with
  std::string output;                 // the file to write
  bool replace = false;               // what else is there
  friend bool operator==(const CorpusTask&, const CorpusTask&) = default;
};

enum class CorpusField : std::uint8_t { None, Data, Length, Sequences, Split, Output };

// What the panel shows of the task that was asked for last.
struct CorpusWish {
  CorpusTask task;
  int serial = 0;         // of texts that were chosen elsewhere than in the panel's own field
  bool planning = false;  // its documents are being read; nothing runs yet
  std::string doing;      // "4,096 documents"
  // Why it was not started, and which field is wrong: None where it is none of them. Empty: nothing is wrong.
  std::string failed;
  CorpusField field = CorpusField::None;
};

}  // namespace headroom
