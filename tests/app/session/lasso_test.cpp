// Several heads at once: chosen by names, named, changed in one run, written as a table.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/app/session/session_bench.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

using Heads = std::vector<HeadRef>;

Heads lasso(const SessionBench& bench) {
  Heads heads = bench.state().view.heads.lasso;
  std::ranges::sort(heads);
  return heads;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

CATCH_TEST_CASE("lasso: heads are added, taken away and turned round, each once", "[session][lasso]") {
  SessionBench bench;
  CATCH_CHECK(bench.refusal("lasso.add L0.H0").find("nothing is open") != std::string::npos);
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("lasso L0.H1,L1.H0,L0.H1");
  CATCH_CHECK(lasso(bench) == Heads{{0, 1}, {1, 0}});
  bench.run("lasso.add L1.H0,L1.H3");
  CATCH_CHECK(lasso(bench) == Heads{{0, 1}, {1, 0}, {1, 3}});
  bench.run("lasso.name sinks");
  bench.run("lasso.remove L0.H1,L0.H2");
  CATCH_CHECK(lasso(bench) == Heads{{1, 0}, {1, 3}});
  CATCH_CHECK(bench.state().view.heads.lasso_name == "sinks");
  bench.run("lasso.invert");
  CATCH_CHECK(lasso(bench) == Heads{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}, {1, 2}});
  bench.run("undo");
  CATCH_CHECK(lasso(bench) == Heads{{1, 0}, {1, 3}});
  bench.run("lasso.remove L1.H0,L1.H3");
  CATCH_CHECK(lasso(bench).empty());
  CATCH_CHECK(bench.state().view.heads.lasso_name.empty());
  CATCH_CHECK(bench.refusal("lasso.remove L0.H0").find("no heads are in the lasso") != std::string::npos);
}

CATCH_TEST_CASE("lasso.what-if is one run with the same what-ifs, and says how many heads it fits",
                "[session][lasso]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  CATCH_CHECK(bench.refusal("lasso.what-if lambda=0").find("no heads are in the lasso") != std::string::npos);
  bench.run("lasso L0.H1,L1.H0,L1.H3");
  bench.run("lasso.what-if lambda=0");
  const RunEntry& set = *bench.state().other();
  CATCH_CHECK(set.status == RunStatus::Done);
  std::vector<std::string> what_ifs = set.what_ifs;
  std::ranges::sort(what_ifs);
  CATCH_CHECK(what_ifs == std::vector<std::string>{"L0.H1:lambda=0", "L1.H0:lambda=0", "L1.H3:lambda=0"});
  const double loss = set.data->next_token_loss.value();
  CATCH_CHECK(loss != bench.state().data()->next_token_loss.value());
  // The same changes, one after the other.
  SessionBench other;
  other.demo("bytes/diff_v2");
  other.run("run");
  other.run("lasso L1.H3,L0.H1,L1.H0");
  other.run("lasso.what-if lambda=0 fitting");
  CATCH_CHECK(other.state().other()->data->next_token_loss.value() == loss);
  CATCH_CHECK(bench.refusal("lasso.what-if norm=off").find("fits none of these heads") != std::string::npos);
  CATCH_CHECK_FALSE(bench->execute("lasso.what-if banana=1").has_value());
}

CATCH_TEST_CASE("lasso.export writes its heads alone, whatever the table is filtered by", "[session][lasso]") {
  const TempFolder folder;
  SessionBench bench;
  bench.demo("bytes/softmax");
  bench.run("run");
  bench.run("heads.filter \"layer > 0\"");
  bench.run("lasso L0.H1,L1.H2");
  bench.run("lasso.export " + quote_word((folder.path() / "set.csv").string()));
  const std::string text = read(folder.path() / "set.csv");
  CATCH_CHECK(std::ranges::count(text, '\n') == 3);
  CATCH_CHECK(text.find("\n0,1,") != std::string::npos);
  CATCH_CHECK(text.find("\n1,2,") != std::string::npos);
  bench.run("save table " + quote_word((folder.path() / "all.csv").string()) + " heads");
  CATCH_CHECK(std::ranges::count(read(folder.path() / "all.csv"), '\n') == 5);
  bench.run("save table " + quote_word((folder.path() / "again.csv").string()) + " lasso");
  CATCH_CHECK(read(folder.path() / "again.csv") == text);
  bench->run_line("lasso.export");
  CATCH_CHECK(bench.state().overlay == Overlay::Save);
  CATCH_CHECK(bench.state().save.panel == "lasso");
  bench->run_line("save picture");  // another kind has parts of its own
  CATCH_CHECK(bench.state().save.panel.empty());
}

CATCH_TEST_CASE("beside shows the scatter where the atlas was, and is kept with a session", "[session][lasso]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("what-if lambda=0");
  bench.run("beside");
  CATCH_CHECK(shown_beside(bench.state().view));
  CATCH_CHECK(bench.state().view.heads.view == HeadsView::Scatter);
  bench.run("beside");
  CATCH_CHECK_FALSE(shown_beside(bench.state().view));
  bench.run("heads table");
  bench.run("beside on");
  CATCH_CHECK(shown_beside(bench.state().view));
  CATCH_CHECK(bench.state().view.heads.view == HeadsView::Table);
  bench.run("beside off");
  CATCH_CHECK_FALSE(bench.state().view.heads.beside);
}

}  // namespace headroom::test
