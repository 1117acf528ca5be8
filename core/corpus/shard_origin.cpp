#include "core/corpus/shard_origin.h"

#include <cstddef>
#include <set>

#include "core/base/format.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

constexpr const char* kOfShards = "shards/self_check";
constexpr const char* kOfCheckpoints = "checkpoints/self_check";

Result<std::vector<std::string>> texts_if_any(const RunFile& file, const char* path) {
  if (file.find(path) == nullptr) return std::vector<std::string>();
  return file.read_strings(path);
}

}  // namespace

Result<std::vector<ShardOrigin>> read_origins(const RunFile& file) {
  HEADROOM_TRY(const std::vector<double> first, file.read("shards/first"));
  HEADROOM_TRY(const std::vector<double> count, file.read("shards/count"));
  HEADROOM_TRY(const std::vector<double> threads, file.read("shards/threads"));
  HEADROOM_TRY(const std::vector<double> seconds, file.read("shards/seconds"));
  HEADROOM_TRY(const std::vector<std::string> names, file.read_strings("shards/file"));
  HEADROOM_TRY(const std::vector<std::string> hashes, file.read_strings("shards/sha256"));
  HEADROOM_TRY(const std::vector<std::string> hosts, file.read_strings("shards/host"));
  HEADROOM_TRY(const std::vector<std::string> devices, file.read_strings("shards/device"));
  HEADROOM_TRY(const std::vector<std::string> targets, file.read_strings("shards/kernel_target"));
  for (const std::size_t size : {count.size(), threads.size(), seconds.size(), names.size(), hashes.size(),
                                 hosts.size(), devices.size(), targets.size()})
    if (size != first.size()) return Error(ErrorCode::Corrupt, "a part does not say where it was run");
  HEADROOM_TRY(std::vector<std::string> violations, texts_if_any(file, kOfShards));
  violations.resize(first.size());
  std::vector<ShardOrigin> origins;
  for (std::size_t i = 0; i < first.size(); ++i)
    origins.push_back({static_cast<std::int64_t>(first[i]), static_cast<std::int64_t>(count[i]), names[i], hashes[i],
                       hosts[i], devices[i], targets[i], static_cast<std::int64_t>(threads[i]), seconds[i],
                       violations_in(violations[i])});
  return origins;
}

std::string different_kinds(std::span<const ShardOrigin> origins) {
  std::set<std::string> kinds;
  for (const ShardOrigin& origin : origins)
    kinds.insert(origin.device + " " + origin.kernel_target +
                 format(" with %lld threads", static_cast<long long>(origin.threads)));
  std::string listed;
  for (const std::string& kind : kinds) listed += (listed.empty() ? "" : ", ") + kind;
  return kinds.size() > 1 ? listed : "";
}

std::vector<std::string> violations_of(std::span<const ShardOrigin> origins) {
  std::vector<std::string> all;
  for (const ShardOrigin& origin : origins) all.insert(all.end(), origin.violations.begin(), origin.violations.end());
  return all;
}

Result<std::vector<std::string>> read_violations(const RunFile& file) {
  HEADROOM_TRY(const std::vector<std::string> shards, texts_if_any(file, kOfShards));
  HEADROOM_TRY(const std::vector<std::string> checkpoints, texts_if_any(file, kOfCheckpoints));
  HEADROOM_TRY(std::vector<std::string> names, texts_if_any(file, "checkpoints/name"));
  names.resize(checkpoints.size());
  std::vector<std::string> all = root_violations(file);
  for (const std::string& shard : shards)
    for (const std::string& line : violations_in(shard)) all.push_back(line);
  for (std::size_t i = 0; i < checkpoints.size(); ++i)
    for (const std::string& line : violations_in(checkpoints[i])) all.push_back(names[i] + ": " + line);
  return all;
}

}  // namespace headroom
