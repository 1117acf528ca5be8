// What layers ask of a backend: each need of one layer is a need of the run, of a capture only where it is measured.
#include "core/run/forward_needs.h"

#include <memory>
#include <utility>

#include "core/model/capture.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

ModelSpec two_layers() {
  ModelSpec model;
  model.blocks.resize(2);
  for (BlockSpec& block : model.blocks) {
    block.attention.head_dim = 64, block.attention.value_dim = 64;
    block.attention.heads.resize(2);
    for (HeadProgram& head : block.attention.heads) head.first.value_blocks = {0};
  }
  return model;
}

}  // namespace

CATCH_TEST_CASE("forward needs: of ordinary layers none but their widths") {
  ForwardOptions options;
  set_needs(options, two_layers());
  CATCH_CHECK(options.softmax_only);
  CATCH_CHECK(options.square_masks);
  CATCH_CHECK(!options.always_visible);
  CATCH_CHECK(!options.dense_masks);
  CATCH_CHECK(options.widest_query == 64);
  CATCH_CHECK(options.widest_value == 64);
}

CATCH_TEST_CASE("forward needs: what one layer has, the run needs") {
  ModelSpec model = two_layers();
  model.blocks[0].attention.head_dim = 512;
  // Values of DIFF V1 are two blocks wide.
  for (HeadProgram& head : model.blocks[1].attention.heads) head.first.value_blocks = {0, 1};
  model.blocks[1].attention.always_visible = 4;
  model.blocks[1].attention.heads[1].normalizer = Normalizer::Softpick;
  ForwardOptions options;
  set_needs(options, model);
  CATCH_CHECK(!options.softmax_only);
  CATCH_CHECK(options.always_visible);
  CATCH_CHECK(options.widest_query == 512);
  CATCH_CHECK(options.widest_value == 128);
}

CATCH_TEST_CASE("forward needs: of a capture its measured calls alone") {
  ModelSpec model = two_layers();
  model.capture = std::make_shared<Capture>();
  CaptureCall call;
  call.queries = 8, call.keys = 12;
  model.blocks[1].attention.call = std::make_shared<const CaptureCall>(std::move(call));
  ForwardOptions options;
  options.layers = {0};
  set_needs(options, model);
  CATCH_CHECK(options.square_masks);
  options.layers = {0, 1};
  set_needs(options, model);
  CATCH_CHECK(!options.square_masks);
  CATCH_CHECK(!options.dense_masks);
}

}  // namespace headroom::test
