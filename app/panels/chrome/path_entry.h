// The path above the list of the file chooser. While it is typed the list follows: the folder that it leads to is
// listed, the first name that its last part begins is selected, Tab completes it. Main thread only; one frame.
#pragma once

#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/ui/file_list.h"
#include "app/ui/ui.h"

namespace headroom {

class PathEntry {
 public:
  // `folder` is what is listed, `selected` the row; both outlive it. What is typed is kept from frame to frame.
  PathEntry(PanelContext& context, std::string& folder, double& selected);

  void forget();  // the chooser appears: the text is the folder
  // The field. The folder that the text leads to becomes `folder` once it is known to be one.
  void draw(Rect bar, bool hidden);
  void at_folder();  // something else was chosen than what is typed
  // Of the items of `folder`: selects the first that the text begins.
  void select(const std::vector<FileItem>& items);
  // An arrow has moved the selection: the text says where to.
  void say(const FileItem& item);
  // Whether no item is what the text leads to; kept for Tab what the selected one makes of it.
  [[nodiscard]] bool is_stray(const std::vector<FileItem>& items);
  // Enter: the selected item is meant, of which the text is a part.
  [[nodiscard]] bool means_selected(const std::vector<FileItem>& items) const;

  [[nodiscard]] bool typing() const { return entered_.caret != std::string::npos; }
  [[nodiscard]] bool submitted() const { return entered_.submitted; }
  [[nodiscard]] bool follows() const { return follows_; }  // `folder` is new, and the text stays
  // The whole path, without a slash at its end; "" where nothing is typed. The list follows no more.
  [[nodiscard]] std::string take();

 private:
  struct Place {
    std::string folder, name;
  };
  [[nodiscard]] Place place() const;
  [[nodiscard]] const FileItem* selected_of(const std::vector<FileItem>& items) const;

  PanelContext& context_;
  std::string& folder_;
  double& selected_;
  std::string& text_;
  std::string& ahead_;      // the folder that the text leads to, until it is listed
  std::string& beginning_;  // what the name that is selected then begins with
  std::string& completed_;  // what Tab makes of the text; "": nothing
  TextFieldResult entered_;
  bool follows_ = false;
};

}  // namespace headroom
