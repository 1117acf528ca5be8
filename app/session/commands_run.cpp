// Running and cancelling, devices and types.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "app/session/command_parts.h"

namespace headroom {
namespace {

std::string can_run(const State& state) {
  if (!state.device.failed.empty()) return "LibTorch could not be loaded";
  if (state.models.empty()) return state.nothing_open() ? "open a checkpoint first" : "a run file has no weights";
  const ModelEntry* model = state.find_model(state.model);
  if (!model || model->opening) return "the checkpoint is still opening";
  const RunEntry* shown = state.shown();
  // A corpus gives way to it.
  return shown && shown->status == RunStatus::Running && !shown->corpus ? "a run is going on" : "";
}

}  // namespace

void add_run_commands(CommandTable& table) {
  table.add({"run", "[without-maps]", "Run, or run again", "Run", can_run,
             [](Session& s, const Arguments& a) -> Result<void> { return s.runner().start_run(a.empty()); }});
  table.add({"cancel", "", "Cancel what runs", "Run",
             [](const State& state) -> std::string {
               const bool any = std::ranges::any_of(state.runs, [](const RunEntry& run) {
                 return run.status == RunStatus::Running || std::ranges::any_of(run.sweeps, [](const auto& sweep) {
                          return sweep && sweep->status == SweepStatus::Running;
                        });
               });
               return any ? "" : "nothing runs";
             },
             [](Session& s) { s.runner().compute().cancel(); }});
  table.add({"layer.recompute", "LAYER", "Compute one layer again, for its maps", "Run", needs_checkpoint,
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::int64_t layer = a.index(0);
               const std::vector<std::int64_t>& layers = s.state().data()->layers;
               if (!std::ranges::binary_search(layers, layer))
                 return a.wrong("a layer of this run, " + std::to_string(layers.front()) + " to " +
                                std::to_string(layers.back()));
               return s.runner().recompute_layer(layer);
             }});
  table.add({"device", "cpu|cuda|CUDA", "Compute on a device", "Run",
             [](const State& state, const Arguments& a) -> std::string {
               if (a.empty() || a.is(0, "cpu") || !state.device.info) return "";
               const auto& devices = state.device.info->devices;
               return std::ranges::any_of(devices, [&](const std::string& d) { return d.starts_with(a[0]); })
                          ? ""
                          : state.device.info->cuda_note;
             },
             [](Session& s, const Arguments& a) {
               s.edit().settings.device = a[0];
               s.save_settings();
             }});
  table.add({"dtype", "float32|float64|bfloat16", "Compute in a type", "Run", {}, [](Session& s, const Arguments& a) {
               s.edit().settings.dtype = a[0];
               s.save_settings();
             }});
  table.add({"backend",
             "auto|cpu|blocked|reference|cuda",
             "Compute attention with a backend",
             "Run",
             {},
             [](Session& s, const Arguments& a) {
               s.edit().settings.backend = a[0];
               s.save_settings();
             }});
  table.add({"rounding",
             "[on|off]",
             "Measure what heads of the next run lose in bfloat16",
             "Run",
             {},
             [](Session& s, const Arguments& a) {
               bool& rounding = s.edit().extra.rounding;
               rounding = a.on(0, rounding);
             }});
  table.add({"premise",
             "[on|off]",
             "Measure what the values of the next run's heads are",
             "Run",
             {},
             [](Session& s, const Arguments& a) {
               bool& premise = s.edit().extra.premise;
               premise = a.on(0, premise);
             }});
  table.add_entry({"run", "Run, or run again", "Run", "Ctrl+R"});
  table.add_entry({"rounding", "Measure what heads of the next run lose in bfloat16", "Run", ""});
  table.add_entry({"premise", "Measure what the values of the next run's heads are", "Run", ""});
  table.add_entry({"run without-maps", "Run without keeping maps", "Run", ""});
  table.add_entry({"cancel", "Cancel what runs", "Run", ""});
  table.add_entry({"device cpu", "Device: CPU", "Run", ""});
  table.add_entry({"device cuda", "Device: CUDA", "Run", ""});
  for (const char* dtype : {"float32", "float64", "bfloat16"})
    table.add_entry({std::string("dtype ") + dtype, std::string("Type: ") + dtype, "Run", ""});
  for (const char* backend : {"auto", "cpu", "blocked", "reference", "cuda"})
    table.add_entry({std::string("backend ") + backend, std::string("Attention backend: ") + backend, "Run", ""});
}

}  // namespace headroom
