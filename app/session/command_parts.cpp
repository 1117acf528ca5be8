#include "app/session/command_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

namespace headroom {

Error wrong_arguments(std::string_view command, std::string_view expected, Arguments found) {
  Error error(ErrorCode::InvalidArgument, std::string(command) + ": wrong arguments");
  return error.wanted(expected, found.empty() ? "nothing" : joined_arguments(found));
}

std::optional<double> number_argument(Arguments arguments, std::size_t index) {
  if (index >= arguments.size()) return {};
  const std::string& text = arguments[index];
  double value = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> index_argument(Arguments arguments, std::size_t index) {
  if (index >= arguments.size()) return {};
  const std::string& text = arguments[index];
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return {};
  return value;
}

std::optional<HeadRef> parse_head(std::string_view text) {
  if (text.empty() || text.front() != 'L') return {};
  const std::size_t dot = text.find(".H");
  if (dot == std::string_view::npos) return {};
  const std::string parts[] = {std::string(text.substr(1, dot - 1)), std::string(text.substr(dot + 2))};
  const auto layer = index_argument(parts, 0), head = index_argument(parts, 1);
  if (!layer || !head) return {};
  return HeadRef{*layer, *head};
}

std::optional<Place> parse_place(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const auto head = parse_head(text.substr(0, bracket));
  if (!head || bracket == std::string_view::npos) return head ? std::optional(Place{*head}) : std::nullopt;
  const std::size_t comma = text.find(',', bracket);
  if (comma == std::string_view::npos || !text.ends_with(']')) return {};
  const std::string parts[] = {std::string(text.substr(bracket + 1, comma - bracket - 1)),
                               std::string(text.substr(comma + 1, text.size() - comma - 2))};
  const auto query = index_argument(parts, 0), key = index_argument(parts, 1);
  if (!query || !key) return {};
  return Place{*head, query, key};
}

std::optional<std::vector<HeadRef>> parse_heads(std::string_view text) {
  std::vector<HeadRef> heads;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto head = parse_head(text.substr(begin, end - begin));
    if (!head) return {};
    heads.push_back(*head);
    begin = end + 1;
  }
  return heads;
}

std::string joined_arguments(Arguments arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + argument;
  return text;
}

std::string needs_data(const State& state) {
  if (state.nothing_open()) return "nothing is open";
  const RunSnapshot* data = state.data();
  return data && data->finished_layers() > 0 ? "" : "run first";
}

const HeadProgram* selected_program(const State& state) {
  const LayerSnapshot* layer = state.selected_layer();
  if (!layer) return nullptr;
  const std::int64_t index = layer->head_index(state.view.selection.head->head);
  return index < 0 ? nullptr : &layer->programs[static_cast<std::size_t>(index)];
}

std::string needs_head(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  if (!state.view.selection.head) return "select a head first";
  return selected_program(state) ? "" : "this head is not computed yet";
}

std::string needs_second_map(const State& state) {
  if (std::string reason = needs_head(state); !reason.empty()) return reason;
  return selected_program(state)->has_second() ? "" : "this head has no second map";
}

std::string needs_checkpoint(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  if (state.shown()->model < 0) return "a run file has no weights; open its checkpoint";
  const ModelEntry* model = state.find_model(state.shown()->model);
  return model && model->model ? "" : "the checkpoint of this run is not open";
}

std::string needs_other_run(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  return state.other() ? "" : "open a second run first";
}

bool has_head(const RunSnapshot& data, HeadRef head) {
  return std::ranges::binary_search(data.layers, head.layer) && std::ranges::binary_search(data.heads, head.head);
}

std::string heads_of(const RunSnapshot& data) {
  return "a head of this run, " + head_text({data.layers.front(), data.heads.front()}) + " to " +
         head_text({data.layers.back(), data.heads.back()});
}

}  // namespace headroom
