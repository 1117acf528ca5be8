// What-ifs (core/io/RUN_FILE.md#what-ifs): what each name changes in which heads, what it refuses and why, and that
// later ones win.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/model/what_if.h"

#include "core/model/decoder_parts.h"
#include "core/model/mixer_spec.h"
#include "tests/core/model/spec_text.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kHeads = 4;

enum class Kind { Softmax, SoftmaxOne, Sink, Gated, V1, V2 };

// h = 4 output heads, the head programs of core/model/ARCHITECTURES.md#index-tables written out: V1 (MHA) 2i, 2i+1 on
// values 2i, 2i+1; V2 with two value heads, pair i on ⌊i/2⌋.
AttentionSpec attention_of(Kind kind) {
  AttentionSpec attention;
  for (std::int64_t i = 0; i < kHeads; ++i) {
    HeadProgram head;
    head.first = {i, i / 2, {i / 2}};
    if (kind == Kind::V1) {
      head.first = {2 * i, 2 * i, {2 * i, 2 * i + 1}};
      head.second = {2 * i + 1, 2 * i + 1, {2 * i, 2 * i + 1}};
      head.lambda = LambdaSource::LayerScalar;
      head.post_norm = true;
      head.post_scale = 0.8;
    }
    if (kind == Kind::V2) {
      head.first = {2 * i, i / 2, {i / 2}};
      head.second = {2 * i + 1, i / 2, {i / 2}};
      head.lambda = LambdaSource::Projection;
    }
    if (kind == Kind::SoftmaxOne) head.sink = SinkSource::Zero;
    if (kind == Kind::Sink) head.sink = SinkSource::Learned;
    head.gated = kind == Kind::Gated;
    attention.heads.push_back(head);
  }
  return attention;
}

ModelSpec model_of(std::initializer_list<Kind> layers) {
  ModelSpec model;
  model.num_heads = kHeads;
  for (const Kind kind : layers) {
    model.blocks.emplace_back();
    model.blocks.back().attention = attention_of(kind);
  }
  return model;
}

Result<WhatIfResult> changed_by(const ModelSpec& model, const std::vector<std::string>& texts) {
  std::vector<WhatIf> what_ifs;
  for (const std::string& text : texts) {
    HEADROOM_TRY(WhatIf what_if, parse_what_if(text));
    what_ifs.push_back(std::move(what_if));
  }
  return apply_what_ifs(model, what_ifs);
}

std::string head_after(const Result<WhatIfResult>& result, std::size_t layer, std::size_t head) {
  return head_text(result->model.blocks[layer].attention.heads[head]);
}

struct Effect {
  Kind kind;
  std::vector<std::string> what_ifs;
  const char* head1;  // head 1 of the layer afterwards
};

const Effect kEffects[] = {
    {Kind::V1, {"second-map=off"}, "q2 k2 v2.3, norm, x 0.8"},
    {Kind::V2, {"second-map=off"}, "q2 k0 v0"},
    {Kind::V1, {"first-map=off"}, "0·q2 k2 v2.3 - q3 k3 v2.3, lambda layer, norm, x 0.8"},
    {Kind::V2, {"first-map=off"}, "0·q2 k0 v0 - q3 k0 v0, lambda projection"},
    {Kind::V2, {"lambda=0.25"}, "q2 k0 v0 - q3 k0 v0, lambda 0.25"},
    {Kind::V1, {"lambda=-1.5"}, "q2 k2 v2.3 - q3 k3 v2.3, lambda -1.5, norm, x 0.8"},
    {Kind::V1, {"lambda=0"}, "q2 k2 v2.3 - q3 k3 v2.3, lambda 0, norm, x 0.8"},
    {Kind::V2, {"lambda=none"}, "q2 k0 v0 - q3 k0 v0, lambda 1"},
    {Kind::V2, {"lambda=raw"}, "q2 k0 v0 - q3 k0 v0, lambda raw"},
    {Kind::V1, {"norm=off"}, "q2 k2 v2.3 - q3 k3 v2.3, lambda layer, x 0.8"},
    {Kind::Softmax, {"normalizer=softmax_one"}, "q1 k0 v0, sink zero"},
    {Kind::Softmax, {"normalizer=softpick"}, "q1 k0 v0, softpick"},
    {Kind::Sink, {"normalizer=softpick"}, "q1 k0 v0, softpick"},
    {Kind::Gated, {"normalizer=softpick", "normalizer=softmax"}, "q1 k0 v0, gated"},
    {Kind::V2, {"normalizer=softmax_one"}, "q2 k0 v0 - q3 k0 v0, lambda projection, sink zero"},
    {Kind::Sink, {"normalizer=softmax"}, "q1 k0 v0"},
    {Kind::SoftmaxOne, {"normalizer=softmax"}, "q1 k0 v0"},
    {Kind::Sink, {"sink=off"}, "q1 k0 v0"},
    {Kind::SoftmaxOne, {"sink=off"}, "q1 k0 v0"},
    {Kind::Softmax, {"hide-key=0"}, "q1 k0 v0, hidden 0"},
    {Kind::Softmax, {"hide-key=7,0,7,3"}, "q1 k0 v0, hidden 0 3 7"},
    {Kind::V2, {"temperature=2.5"}, "q2 k0 v0 - q3 k0 v0, lambda projection, temperature 2.5"},
    {Kind::Gated, {"gate=off"}, "q1 k0 v0"},
    {Kind::Softmax, {"head=off"}, "q1 k0 v0, off"},
    {Kind::Softmax, {"head=off", "head=mean"}, "q1 k0 v0, mean"},
    {Kind::Softmax, {"head=mean", "head=off"}, "q1 k0 v0, off"},
    // Query heads 1 and 5, each with its own key and value block.
    {Kind::V2, {"pairing=halves"}, "q1 k0 v0 - q5 k1 v1, lambda projection"},
    {Kind::V1, {"pairing=halves"}, "q1 k1 v1.5 - q5 k5 v1.5, lambda layer, norm, x 0.8"},
    {Kind::V2, {"pairing=adjacent"}, "q2 k0 v0 - q3 k0 v0, lambda projection"},
    // Later ones win.
    {Kind::V2, {"lambda=0.5", "lambda=0.75"}, "q2 k0 v0 - q3 k0 v0, lambda 0.75"},
    {Kind::V2, {"lambda=0.5", "L0.H1:lambda=raw"}, "q2 k0 v0 - q3 k0 v0, lambda raw"},
    {Kind::Softmax, {"hide-key=1,2", "hide-key=5"}, "q1 k0 v0, hidden 5"},
    {Kind::Softmax, {"temperature=2", "L0:temperature=1"}, "q1 k0 v0"},
    {Kind::V2, {"pairing=halves", "pairing=adjacent"}, "q2 k0 v0 - q3 k0 v0, lambda projection"},
    {Kind::V2, {"first-map=off", "second-map=off"}, "q2 k0 v0"},
    {Kind::V2, {"second-map=off", "first-map=off"}, "0·q2 k0 v0 - q3 k0 v0, lambda projection"},
    {Kind::V2,
     {"lambda=0.5", "second-map=off", "second-map=off", "first-map=off"},
     "0·q2 k0 v0 - q3 k0 v0, lambda 0.5"},
    {Kind::V2, {"pairing=halves", "second-map=off", "L0.H1:first-map=off"}, "0·q1 k0 v0 - q5 k1 v1, lambda projection"},
    // Independent ones add up.
    {Kind::V1,
     {"norm=off", "lambda=0.5", "hide-key=0", "temperature=4"},
     "q2 k2 v2.3 - q3 k3 v2.3, lambda 0.5, x 0.8, temperature 4, hidden 0"},
};

struct Refusal {
  Kind kind;
  std::vector<std::string> what_ifs;
  const char* reason;
};

const Refusal kRefusals[] = {
    {Kind::Softmax, {"second-map=off"}, "no second map"},
    {Kind::Softmax, {"first-map=off"}, "no second map"},
    {Kind::Softmax, {"L0.H1:lambda=0.5"}, "no second map"},
    {Kind::Softmax, {"pairing=halves"}, "no second map"},
    {Kind::V1, {"lambda=raw"}, "DIFF V2"},
    {Kind::V2, {"norm=off"}, "no norm"},
    {Kind::Softmax, {"norm=off"}, "no norm"},
    {Kind::Softmax, {"sink=off"}, "no sink"},
    {Kind::V2, {"gate=off"}, "no gate"},
    {Kind::V2, {"L0.H1:second-map=off", "L0:lambda=0.5"}, "second map is off"},
    {Kind::Softmax, {"L1:head=off"}, "layers 0 to 0"},
    {Kind::Softmax, {"L0.H4:head=off"}, "heads 0 to 3"},
};

struct ParseRefusal {
  const char* text;
  const char* reason;
};

const ParseRefusal kParseRefusals[] = {
    {"", "NAME=VALUE"},
    {"lambda", "NAME=VALUE"},
    {"L3:", "NAME=VALUE"},
    {"=1", "there is no what-if ''"},
    {"lamda=1", "there is no what-if 'lamda'; there are second-map"},
    {"Lambda=1", "there is no what-if"},
    {"lambda =1", "there is no what-if"},
    {"L:lambda=1", "a scope is written"},
    {"3:lambda=1", "a scope is written"},
    {"l3:lambda=1", "a scope is written"},
    {"L-1:lambda=1", "a scope is written"},
    {"L3.:lambda=1", "a scope is written"},
    {"L3.H:lambda=1", "a scope is written"},
    {"L3.5:lambda=1", "a scope is written"},
    {"H5:lambda=1", "a scope is written"},
    {"L3.H5.L1:lambda=1", "a scope is written"},
    {"L99999999999999999999:lambda=1", "a scope is written"},
    {":lambda=1", "a scope is written"},
    {"second-map=on", "takes off, not 'on'"},
    {"head=on", "takes off or mean, not 'on'"},
    {"gate=", "takes off, not ''"},
    {"lambda=", "a number, none or raw"},
    {"lambda=nan", "a number, none or raw"},
    {"lambda=inf", "a number, none or raw"},
    {"lambda=1e400", "a number, none or raw"},
    {"lambda=0.5x", "a number, none or raw"},
    {"pairing=thirds", "halves or adjacent"},
    {"normalizer=softmax_sink", "softmax, softmax_one or softpick"},
    {"temperature=0", "a number above 0"},
    {"temperature=-1", "a number above 0"},
    {"hide-key=", "key positions"},
    {"hide-key=1,,2", "key positions"},
    {"hide-key=1,", "key positions"},
    {"hide-key=-1", "key positions"},
    {"hide-key=a", "key positions"},
};

}  // namespace

CATCH_TEST_CASE("what-if: scope, name and value are parsed") {
  const auto whole = parse_what_if("second-map=off");
  CATCH_REQUIRE(whole.has_value());
  CATCH_CHECK_FALSE(whole->layer.has_value());
  CATCH_CHECK_FALSE(whole->head.has_value());
  CATCH_CHECK(whole->name == "second-map");
  CATCH_CHECK(whole->value == "off");
  CATCH_CHECK(whole->text == "second-map=off");
  const auto layer = parse_what_if("L12:lambda=-0.5");
  CATCH_REQUIRE(layer.has_value());
  CATCH_CHECK(layer->layer == 12);
  CATCH_CHECK_FALSE(layer->head.has_value());
  const auto head = parse_what_if("L0.H31:hide-key=0,4");
  CATCH_REQUIRE(head.has_value());
  CATCH_CHECK(head->layer == 0);
  CATCH_CHECK(head->head == 31);
  CATCH_CHECK(head->value == "0,4");
  CATCH_CHECK(head->text == "L0.H31:hide-key=0,4");
}

CATCH_TEST_CASE("what-if: what each one makes of a head") {
  for (const Effect& effect : kEffects) {
    std::string names;
    for (const std::string& text : effect.what_ifs) names += text + " ";
    CATCH_INFO(names);
    const auto result = changed_by(model_of({effect.kind}), effect.what_ifs);
    CATCH_INFO((result ? "" : describe(result.error())));
    CATCH_CHECK(result.has_value());
    if (result) CATCH_CHECK(head_after(result, 0, 1) == effect.head1);
  }
}

CATCH_TEST_CASE("what-if: pairing=halves undoes itself for every head, key blocks by the GQA of each query head") {
  const auto halves = changed_by(model_of({Kind::V2}), {"pairing=halves"});
  CATCH_REQUIRE(halves.has_value());
  // 2h/h_kv = 4 query heads share a key block: 0…3 read block 0, 4…7 block 1.
  const char* wanted[] = {"q0 k0 v0 - q4 k1 v1", "q1 k0 v0 - q5 k1 v1", "q2 k0 v0 - q6 k1 v1", "q3 k0 v0 - q7 k1 v1"};
  for (std::size_t h = 0; h < 4; ++h)
    CATCH_CHECK(head_after(halves, 0, h) == std::string(wanted[h]) + ", lambda projection");
  const ModelSpec untouched = model_of({Kind::V2});
  const auto back = changed_by(untouched, {"pairing=halves", "pairing=adjacent"});
  CATCH_REQUIRE(back.has_value());
  CATCH_CHECK(back->model.blocks[0].attention.heads == untouched.blocks[0].attention.heads);
}

CATCH_TEST_CASE("what-if: a window is of whole layers, with first keys that stay visible") {
  const ModelSpec model = model_of({Kind::Softmax, Kind::V2});
  const auto windows = [](const Result<WhatIfResult>& result) {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    for (const BlockSpec& block : result->model.blocks)
      found.emplace_back(block.attention.window, block.attention.always_visible);
    return found;
  };
  using Windows = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const auto everywhere = changed_by(model, {"window=64+4"});
  CATCH_REQUIRE(everywhere.has_value());
  CATCH_CHECK(windows(everywhere) == Windows{{64, 4}, {64, 4}});
  CATCH_CHECK(everywhere->notes[0] == "window=64+4: 8 of 8 heads");
  const auto later_wins = changed_by(model, {"window=64+4", "L1:window=3"});
  CATCH_REQUIRE(later_wins.has_value());
  CATCH_CHECK(windows(later_wins) == Windows{{64, 4}, {3, 0}});
  CATCH_CHECK(changed_by(model, {"L0.H1:window=3"}).error().message.find("one window") != std::string::npos);
  ModelSpec crossing = model;
  crossing.blocks[1].attention.cross = true;
  CATCH_CHECK(windows(changed_by(crossing, {"window=9"})) == Windows{{9, 0}, {0, 0}});
  CATCH_CHECK(changed_by(crossing, {"L1:window=9"}).error().message.find("another sequence") != std::string::npos);
  for (const char* text :
       {"window=", "window=off", "window=-1", "window=4+", "window=+4", "window=4+4+4", "window=4.5"})
    CATCH_CHECK_FALSE(parse_what_if(text).has_value());
}

CATCH_TEST_CASE("what-if: a scope limits it, and the note counts heads") {
  const ModelSpec model = model_of({Kind::Softmax, Kind::V2, Kind::V1});
  struct Scope {
    const char* text;
    const char* note;
    std::vector<std::pair<std::size_t, std::size_t>> changed;
  };
  const auto all_of = [](std::initializer_list<std::size_t> layers) {
    std::vector<std::pair<std::size_t, std::size_t>> heads;
    for (const std::size_t layer : layers)
      for (std::size_t head = 0; head < 4; ++head) heads.emplace_back(layer, head);
    return heads;
  };
  for (const Scope& scope : {Scope{"head=off", "head=off: 12 of 12 heads", all_of({0, 1, 2})},
                             Scope{"L1:head=off", "L1:head=off: 4 of 4 heads", all_of({1})},
                             Scope{"L2.H3:head=off", "L2.H3:head=off: 1 of 1 heads", {{2, 3}}},
                             Scope{"lambda=0.5", "lambda=0.5: 8 of 12 heads", all_of({1, 2})},
                             Scope{"lambda=raw", "lambda=raw: 4 of 12 heads", all_of({1})},
                             Scope{"norm=off", "norm=off: 4 of 12 heads", all_of({2})}}) {
    CATCH_INFO(scope.text);
    const auto result = changed_by(model, {scope.text});
    CATCH_REQUIRE(result.has_value());
    CATCH_REQUIRE(result->notes.size() == 1);
    CATCH_CHECK(result->notes[0] == scope.note);
    std::vector<std::pair<std::size_t, std::size_t>> changed;
    for (std::size_t layer = 0; layer < 3; ++layer)
      for (std::size_t head = 0; head < 4; ++head)
        if (!(result->model.blocks[layer].attention.heads[head] == model.blocks[layer].attention.heads[head]))
          changed.emplace_back(layer, head);
    CATCH_CHECK(changed == scope.changed);
  }
}

CATCH_TEST_CASE("what-if: one that does not fit is refused with the reason") {
  for (const Refusal& refusal : kRefusals) {
    CATCH_INFO(refusal.what_ifs.back());
    const auto result = changed_by(model_of({refusal.kind}), refusal.what_ifs);
    CATCH_CHECK_FALSE(result.has_value());
    if (result) continue;
    CATCH_CHECK(result.error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(result.error().message.find("'" + refusal.what_ifs.back() + "'") != std::string::npos);
    CATCH_INFO(result.error().message);
    CATCH_CHECK(result.error().message.find(refusal.reason) != std::string::npos);
  }
}

CATCH_TEST_CASE("what-if: a named layer that it does not fit is refused even where another one would do") {
  const auto result = changed_by(model_of({Kind::Softmax, Kind::V2}), {"L0:lambda=0.5"});
  CATCH_CHECK_FALSE(result.has_value());
  // Without a scope it passes over the heads that it does not fit, and counts.
  const auto counted = changed_by(model_of({Kind::Softmax, Kind::V2}), {"L1.H1:second-map=off", "lambda=0.5"});
  CATCH_REQUIRE(counted.has_value());
  CATCH_CHECK(counted->notes[1] == "lambda=0.5: 3 of 8 heads");
}

CATCH_TEST_CASE("what-if: layers without attention are passed over, and refused where they are named") {
  ModelSpec model = model_of({Kind::Softmax, Kind::Softmax, Kind::Softmax});
  use_mixer(model.blocks[1], {ShortConvSpec{}});
  const auto everywhere = changed_by(model, {"head=off", "L2.H3:temperature=2"});
  CATCH_REQUIRE(everywhere.has_value());
  CATCH_CHECK(everywhere->notes[0] == "head=off: 8 of 8 heads");
  CATCH_CHECK(everywhere->model.blocks[1].mixer == model.blocks[1].mixer);
  for (const char* text : {"L1:hide-key=0", "L1.H0:head=off"}) {
    const auto refused = changed_by(model, {text});
    CATCH_REQUIRE_FALSE(refused.has_value());
    CATCH_CHECK(refused.error().message ==
                "the what-if '" + std::string(text) +
                    "' cannot be applied: layer 1 has no attention (short_conv); layers 0, 2 have");
  }
}

CATCH_TEST_CASE("what-if: what cannot be parsed says what is wrong") {
  for (const ParseRefusal& refusal : kParseRefusals) {
    CATCH_INFO(refusal.text);
    const auto parsed = parse_what_if(refusal.text);
    CATCH_CHECK_FALSE(parsed.has_value());
    if (parsed) continue;
    CATCH_CHECK(parsed.error().code == ErrorCode::InvalidArgument);
    CATCH_INFO(parsed.error().message);
    CATCH_CHECK(parsed.error().message.find(refusal.reason) != std::string::npos);
  }
}

}  // namespace headroom::test
