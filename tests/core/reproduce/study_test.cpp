// What a study refuses before anything is trained.
#include <fstream>
#include <memory>
#include <string>

#include "core/reproduce/study.h"

#include "tests/core/reproduce/empty_study.h"
#include "tests/support/catch.h"

namespace headroom::test {

CATCH_TEST_CASE("study: assets without recipes are not assets") {
  StudyFolder folder;
  folder.options.assets = folder.folder.path() / "nowhere";
  const auto study = folder.create();
  CATCH_REQUIRE_FALSE(study.has_value());
  CATCH_CHECK(study.error().code == ErrorCode::NotFound);
  CATCH_CHECK(study.error().file == (folder.options.assets / "recipes").string());
  CATCH_CHECK(study.error().hint.find("--assets") != std::string::npos);
}

CATCH_TEST_CASE("study: a recipe that is not there is said, with its name") {
  StudyFolder folder;
  const std::unique_ptr<Study> study = folder.created();
  CATCH_CHECK(study->recipes().empty());
  CATCH_CHECK(study->train_models({}).has_value());
  const auto trained = study->train_models({"bytes"});
  CATCH_REQUIRE_FALSE(trained.has_value());
  CATCH_CHECK(trained.error().code == ErrorCode::NotFound);
  CATCH_CHECK(trained.error().file == (folder.options.assets / "recipes" / "bytes.json").string());
  CATCH_CHECK_FALSE(study->make_initial_models({"bytes"}).has_value());
}

CATCH_TEST_CASE("study: a seed given twice would count as two") {
  StudyFolder folder;
  folder.options.seeds = {1, 2, 1};
  const auto study = folder.create();
  CATCH_REQUIRE_FALSE(study.has_value());
  CATCH_CHECK(study.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(study.error().found == "1");
  folder.options.seeds = {2, 1};
  CATCH_CHECK(folder.create().has_value());
}

CATCH_TEST_CASE("study: a damaged recipe is refused with its file") {
  StudyFolder folder;
  std::ofstream(folder.options.assets / "recipes" / "bytes.json") << "{}";
  const auto study = folder.create();
  CATCH_REQUIRE_FALSE(study.has_value());
  CATCH_CHECK(study.error().file.find("bytes.json") != std::string::npos);
}

}  // namespace headroom::test
