#include "app/panels/chrome/bars.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <utility>

#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "core/base/environment.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

std::string file_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

MenuItem heading(std::string title, bool separator = false) {
  MenuItem item;
  item.title = std::move(title);
  item.separator = separator;
  return item;
}

MenuItem line_item(std::string title, std::string command, bool checked = false, bool separator = false) {
  MenuItem item;
  item.title = std::move(title);
  item.command = std::move(command);
  item.checked = checked;
  item.separator = separator;
  return item;
}

}  // namespace

MenuItem command_item(const PanelContext& context, std::string_view line, std::string_view title, bool separator) {
  MenuItem item;
  item.separator = separator;
  item.command = line;
  const CommandEntry* entry = context.commands.entry(line);
  item.title = !title.empty() ? std::string(title) : entry != nullptr ? entry->title : std::string(line);
  if (entry != nullptr && entry->needs_text && context.commands.disabled_reason(context.state, line).empty()) {
    item.detail = context.commands.key_of(context.state, line);
    item.command = "palette " + std::string(line);
  }
  return item;
}

std::string without_subject(std::string_view title) {
  const std::size_t colon = title.find(": ");
  if (colon == std::string_view::npos) return std::string(title);
  std::string rest(title.substr(colon + 2));
  if (!rest.empty() && rest[0] >= 'a' && rest[0] <= 'z') rest[0] = static_cast<char>(rest[0] - 'a' + 'A');
  return rest;
}

std::string dtype_text(std::string_view dtype) {
  if (dtype == "float32") return "fp32";
  if (dtype == "float64") return "fp64";
  if (dtype == "bfloat16") return "bf16";
  if (dtype == "float16") return "fp16";
  return std::string(dtype);
}

std::string device_text(std::string_view device) {
  if (device == "cpu") return "CPU";
  if (device == "cuda") return "CUDA";
  if (device.starts_with("cuda:")) return "CUDA " + std::string(device.substr(5));
  return std::string(device);
}

std::string tokens_text(std::int64_t count) { return grouped_text(count) + (count == 1 ? " token" : " tokens"); }

std::string prompt_text(const State& state) {
  const RunEntry* run = state.shown();
  const PromptEntry& prompt = state.prompt;
  const bool of_file = run != nullptr && run->model < 0;
  std::string title = of_file ? run->prompt_title : prompt.title;
  if (title.empty()) title = of_file ? "ids" : "none";
  std::int64_t count = 0;
  if (of_file)
    count = run->data ? run->data->length : 0;
  else if (state.estimate)
    count = state.estimate->memory.length;
  else if (!prompt.ids.empty())
    count = static_cast<std::int64_t>(prompt.ids.size());
  else if (run != nullptr && run->data && run->prompt_title == prompt.title)
    count = run->data->length;
  if (of_file || prompt.max_tokens <= 0) return count > 0 ? title + ", " + tokens_text(count) : title;
  return title + ", " + (count > 0 ? "" : "at most ") +
         tokens_text(count > 0 ? std::min(count, prompt.max_tokens) : prompt.max_tokens);
}

std::string residual_size_text(const State& state) {
  const ModelEntry* model = state.find_model(state.model);
  if (!model || !model->model || !state.estimate) return {};
  const double boundaries = static_cast<double>(model->model->spec.blocks.size()) + 1.0;
  return size_text(4.0 * boundaries * static_cast<double>(model->model->spec.hidden_size) *
                   static_cast<double>(state.estimate->memory.length)) +
         " more";
}

std::string short_path(std::string_view path) {
  const std::string folder = environment_text("HOME");
  if (folder.size() > 1 && path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/')) {
    return "~" + std::string(path.substr(folder.size()));
  }
  return std::string(path);
}

std::string when_text(std::int64_t unix_seconds, std::int64_t now_unix_seconds) {
  if (unix_seconds <= 0) return "";
  const auto local = [](std::int64_t seconds) {
    std::tm parts{};
    const std::time_t time = seconds;
    localtime_r(&time, &parts);
    return parts;
  };
  const std::tm then = local(unix_seconds), now = local(now_unix_seconds), before = local(now_unix_seconds - 86400);
  const auto same_day = [&](const std::tm& a) { return a.tm_year == then.tm_year && a.tm_yday == then.tm_yday; };
  if (same_day(now)) return format("today %02d:%02d", then.tm_hour, then.tm_min);
  if (same_day(before)) return "yesterday";
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string day = format("%d %s", then.tm_mday, kMonths[then.tm_mon]);
  return then.tm_year == now.tm_year ? day : day + format(" %d", 1900 + then.tm_year);
}

std::vector<MenuItem> recent_items(const PanelContext& context) {
  std::vector<MenuItem> items;
  for (const RecentFile& file : context.state.recent) {
    MenuItem item =
        line_item(file.name.empty() ? file_name(file.path) : file.name, "open.run " + quote_word(file.path));
    item.detail = short_path(file.path);
    if (file.missing) {
      item.detail = "moved or deleted";
      item.command.clear();
    }
    items.push_back(std::move(item));
  }
  if (items.empty()) items.push_back(heading("Nothing was opened yet"));
  items.insert(items.begin(), command_item(context, "session.last", "The last session"));
  items.push_back(command_item(context, "clear-recent", "Clear the list", true));
  return items;
}

std::vector<MenuItem> demo_items(const PanelContext& context) {
  std::vector<MenuItem> items;
  for (const DemoEntry& demo : context.state.demos) {
    MenuItem item = line_item(demo.title, "open.run " + quote_word(demo.path));
    item.detail = demo.detail;
    items.push_back(std::move(item));
  }
  bool first = !items.empty();
  for (const CommandEntry& entry : context.commands.entries()) {
    if (!entry.line.starts_with("demo ")) continue;
    items.push_back(command_item(context, entry.line, entry.line.substr(5), first));
    first = false;
  }
  return items;
}

std::vector<MenuItem> prompt_items(const PanelContext& context) {
  std::vector<MenuItem> items;
  for (const CommandEntry& entry : context.commands.entries()) {
    if (entry.line.starts_with("prompt.built-in ") || entry.line == "prompt.default") {
      items.push_back(command_item(context, entry.line, without_subject(entry.title)));
    }
  }
  items.push_back(command_item(context, "prompt.edit", "Edit…", true));
  items.push_back(command_item(context, "prompt.browse", "From a text file…"));
  items.push_back(command_item(context, "ids", "Token ids…"));
  return items;
}

std::vector<MenuItem> device_items(const PanelContext& context) {
  const Settings& settings = context.state.settings;
  std::vector<MenuItem> items{heading("Device")};
  const auto& info = context.state.device.info;
  std::vector<std::string> devices{"cpu"};
  if (info) {
    for (const std::string& device : info->devices) {
      const std::string name = device.substr(0, device.find(' '));
      if (name != "cpu") devices.push_back(name);
    }
  }
  if (devices.size() == 1) devices.push_back("cuda");
  for (const std::string& name : devices) {
    MenuItem item = line_item(device_text(name), "device " + name, settings.device == name);
    if (info) {
      for (const std::string& device : info->devices) {
        if (device.size() > name.size() && device.starts_with(name + " ")) item.detail = device.substr(name.size() + 1);
      }
    }
    items.push_back(std::move(item));
  }
  items.push_back(heading("Type", true));
  for (const auto& [dtype, detail] :
       {std::pair{"float32", "usual"}, {"float64", "slower, for checks"}, {"bfloat16", "coarse"}}) {
    MenuItem item = line_item(dtype_text(dtype), std::string("dtype ") + dtype, settings.dtype == dtype);
    item.detail = detail;
    items.push_back(std::move(item));
  }
  items.push_back(heading("Attention backend", true));
  for (const char* backend : {"auto", "cpu", "blocked", "reference", "cuda"}) {
    items.push_back(line_item(backend, std::string("backend ") + backend, settings.backend == backend));
  }
  return items;
}

std::vector<MenuItem> checkpoint_items(const PanelContext& context) {
  const State& state = context.state;
  std::vector<MenuItem> items;
  for (const ModelEntry& model : state.models) {
    std::string command = "open " + quote_word(model.path);
    if (!model.config.empty()) command += " " + quote_word(model.config);
    for (const RunEntry& run : state.runs) {
      if (run.model == model.id && run.what_ifs.empty()) command = "show " + std::to_string(run.id);
    }
    MenuItem item = line_item(model.name, std::move(command), model.id == state.model);
    if (model.opening) item.detail = "opening";
    if (model.changed_on_disk) item.detail = "changed on disk";
    items.push_back(std::move(item));
  }
  for (const RunEntry& run : state.runs) {
    if (run.model >= 0) continue;
    MenuItem item = line_item(run.name, "show " + std::to_string(run.id), run.id == state.view.run);
    item.detail = "run file";
    items.push_back(std::move(item));
  }
  MenuItem recent = heading("Recent", !items.empty()), demos = heading("Demos");
  recent.items = recent_items(context);
  demos.items = demo_items(context);
  items.push_back(std::move(recent));
  if (!demos.items.empty()) items.push_back(std::move(demos));
  items.push_back(command_item(context, "open.dialog", "Open…", true));
  items.push_back(command_item(context, "close", "Close what is shown"));
  return items;
}

std::vector<MenuItem> run_items(const PanelContext& context, std::string_view command, int selected) {
  std::vector<MenuItem> items;
  for (const RunEntry& run : context.state.runs) {
    MenuItem item = line_item(run.name, std::string(command) + " " + std::to_string(run.id), run.id == selected);
    item.detail = run.prompt_title;
    if (run.quick) item.detail = "one head only";
    items.push_back(std::move(item));
  }
  if (items.empty()) items.push_back(heading("Nothing has run yet"));
  return items;
}

}  // namespace headroom
