#include "core/measure/hull_distance.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "core/base/numbers.h"

namespace headroom {
namespace {

using Points = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Points that carry the nearest one found so far, with their shares of it: never more than dimensions + 1.
class Corral {
 public:
  explicit Corral(const Points& points) : points_(points) {}

  void add(Eigen::Index point, double share) {
    const auto k = static_cast<Eigen::Index>(members_.size());
    gram_.conservativeResize(k + 1, k + 1);
    for (Eigen::Index i = 0; i < k; ++i)
      gram_(i, k) = gram_(k, i) = points_.row(members_[static_cast<std::size_t>(i)]).dot(points_.row(point));
    gram_(k, k) = points_.row(point).squaredNorm();
    members_.push_back(point);
    shares_.conservativeResize(k + 1);
    shares_(k) = share;
  }

  [[nodiscard]] bool has(Eigen::Index point) const { return std::ranges::find(members_, point) != members_.end(); }

  // To the nearest point of the affine hull, or to where the way there leaves the convex one, without what is left
  // behind, until the former lies inside.
  void settle() {
    constexpr double kNothing = 1e-12;
    do {
      const auto k = static_cast<Eigen::Index>(members_.size());
      Eigen::VectorXd wanted = (gram_ + Eigen::MatrixXd::Ones(k, k)).ldlt().solve(Eigen::VectorXd::Ones(k));
      wanted /= wanted.sum();
      double step = 1.0;
      for (Eigen::Index i = 0; i < k; ++i)
        if (wanted(i) <= kNothing && shares_(i) > wanted(i))
          step = std::min(step, shares_(i) / (shares_(i) - wanted(i)));
      const bool inside = (wanted.array() > kNothing).all();
      shares_ = inside ? wanted : Eigen::VectorXd(shares_ + step * (wanted - shares_));
      if (inside) return;
    } while (drop(kNothing));
  }

  [[nodiscard]] Eigen::VectorXd point() const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(points_.cols());
    for (std::size_t i = 0; i < members_.size(); ++i)
      x += shares_(static_cast<Eigen::Index>(i)) * points_.row(members_[i]).transpose();
    return x;
  }

 private:
  // Without the points that have no share; false where there is none such or nothing would be left.
  bool drop(double nothing) {
    std::vector<Eigen::Index> kept;
    for (Eigen::Index i = 0; i < shares_.size(); ++i)
      if (shares_(i) > nothing) kept.push_back(i);
    if (kept.empty() || kept.size() == members_.size()) return false;
    gram_ = Eigen::MatrixXd(gram_(kept, kept));
    shares_ = Eigen::VectorXd(shares_(kept));
    shares_ /= shares_.sum();
    std::vector<Eigen::Index> members;
    for (const Eigen::Index i : kept) members.push_back(members_[static_cast<std::size_t>(i)]);
    members_ = std::move(members);
    return true;
  }

  const Points& points_;
  std::vector<Eigen::Index> members_;
  Eigen::VectorXd shares_;
  Eigen::MatrixXd gram_;
};

}  // namespace

double hull_distance(std::span<const double> points, std::int64_t dimensions) {
  const auto count = static_cast<Eigen::Index>(points.size()) / static_cast<Eigen::Index>(dimensions);
  const Eigen::Map<const Points> given(points.data(), count, static_cast<Eigen::Index>(dimensions));
  if (count == 0 || !given.allFinite()) return kNaN;
  Eigen::Index nearest = 0;
  const double longest = given.rowwise().norm().maxCoeff();
  if (given.rowwise().norm().minCoeff(&nearest) == 0.0) return 0.0;
  const Points scaled = given / longest;
  constexpr double kGap = 1e-10;
  Corral corral(scaled);
  corral.add(nearest, 1.0);
  Eigen::VectorXd x = corral.point();
  // Each round comes nearer; far more than are needed, for the sake of what rounding could do.
  for (std::int64_t round = 0; round < 50 * (dimensions + 10) && x.squaredNorm() > kGap; ++round) {
    Eigen::Index next = 0;
    const double least = (scaled * x).minCoeff(&next);
    if (x.squaredNorm() - least <= kGap || corral.has(next)) break;
    corral.add(next, 0.0);
    corral.settle();
    const Eigen::VectorXd nearer = corral.point();
    if (nearer.squaredNorm() >= x.squaredNorm()) break;
    x = nearer;
  }
  return x.squaredNorm() > kGap ? x.norm() * longest : 0.0;
}

}  // namespace headroom
