// What the menu bar, the tool bar and the status bar share: menus of command lines, and how devices, types, prompts and
// times are called. Main thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"

namespace headroom {

// A line of the table of commands as a menu item, with its title; one that needs typed arguments opens the palette. A
// title of its own, where given.
[[nodiscard]] MenuItem command_item(const PanelContext& context, std::string_view line, std::string_view title = {},
                                    bool separator = false);
// "Map: log₁₀ scale" as "Log₁₀ scale": within a menu that is called Map.
[[nodiscard]] std::string without_subject(std::string_view title);

[[nodiscard]] std::string dtype_text(std::string_view dtype);    // "fp32"
[[nodiscard]] std::string device_text(std::string_view device);  // "CPU", "CUDA 0"
[[nodiscard]] std::string tokens_text(std::int64_t count);       // "1 token", "7 639 tokens"
// "GPL-3, 512 tokens": of the next run, counted with the model's tokenizer; of a run file its own.
[[nodiscard]] std::string prompt_text(const State& state);
// "36.6 MB more": what keeping the residual stream of the next run takes; empty where its tokens are not counted yet.
[[nodiscard]] std::string residual_size_text(const State& state);
// The path with the home folder as "~".
[[nodiscard]] std::string short_path(std::string_view path);
// "today 09:41", "yesterday", "12 Nov", "3 Feb 2024", in local time.
[[nodiscard]] std::string when_text(std::int64_t unix_seconds, std::int64_t now_unix_seconds);

// The items of menus that both bars show.
[[nodiscard]] std::vector<MenuItem> recent_items(const PanelContext& context);
[[nodiscard]] std::vector<MenuItem> demo_items(const PanelContext& context);
[[nodiscard]] std::vector<MenuItem> prompt_items(const PanelContext& context);
[[nodiscard]] std::vector<MenuItem> device_items(const PanelContext& context);
[[nodiscard]] std::vector<MenuItem> checkpoint_items(const PanelContext& context);
// Runs that can be shown as A (command "show") or compared (command "compare").
[[nodiscard]] std::vector<MenuItem> run_items(const PanelContext& context, std::string_view command, int selected);

}  // namespace headroom
