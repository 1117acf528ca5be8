#include "core/io/run_file_scan.h"

#include <hdf5_hl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/base/format.h"
#include "core/io/element_type.h"
#include "core/io/hdf5_attribute.h"
#include "core/io/hdf5_error.h"

namespace headroom {
namespace {

constexpr int kMaxDepth = 8;  // a hard link back to a parent ends here
constexpr std::size_t kMaxObjects = 100'000;
constexpr std::size_t kMaxNameBytes = 4096;
constexpr int kMaxRank = 16;
constexpr hssize_t kMaxTexts = 1 << 26;
constexpr const char* kDimensionList = "DIMENSION_LIST";

Error refused(const std::string& text, const std::string& path) {
  return Error(ErrorCode::Corrupt, "refused: " + text).at_tensor(path);
}

// Only links inside of the file; the target of another is named and not followed.
Result<void> check_link(hid_t group, const std::string& name, const std::string& path) {
  H5L_info_t info{};
  if (H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0) {
    return hdf5_error(ErrorCode::Corrupt, "cannot read a link").at_tensor(path);
  }
  if (info.type == H5L_TYPE_HARD) return {};
  if (info.type == H5L_TYPE_SOFT) return refused("a symbolic link, which run files do not have", path);
  if (info.type != H5L_TYPE_EXTERNAL) return refused("a link of unknown type", path);
  std::vector<char> value(info.u.val_size);
  const char* file = nullptr;
  const char* object = nullptr;
  if (value.empty() || H5Lget_val(group, name.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0 ||
      H5Lunpack_elink_val(value.data(), value.size(), nullptr, &file, &object) < 0) {
    H5Eclear2(H5E_DEFAULT);
    return refused("a damaged external link", path);
  }
  return refused(std::string("a link into another file: ") + file, path);
}

Result<void> check_storage(hid_t dataset, const std::string& path) {
  const Hdf5Properties properties(H5Dget_create_plist(dataset));
  if (!properties) return hdf5_error(ErrorCode::Corrupt, "cannot read the layout").at_tensor(path);
  if (H5Pget_layout(properties.get()) == H5D_VIRTUAL) return refused("a virtual dataset over other files", path);
  if (H5Pget_external_count(properties.get()) > 0) {
    std::array<char, 1024> file{};
    off_t offset = 0;
    hsize_t size = 0;
    H5Pget_external(properties.get(), 0, file.size() - 1, file.data(), &offset, &size);
    return refused(std::string("data stored in another file: ") + file.data(), path);
  }
  const int filters = H5Pget_nfilters(properties.get());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    unsigned configuration = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &values, nullptr, 0,
                                               nullptr, &configuration);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return Error(ErrorCode::Unsupported, format("HDF5 filter id %d is needed; plugins are not loaded", filter))
          .at_tensor(path);
    }
  }
  return {};
}

std::string last_component(hid_t object) {
  std::array<char, kMaxNameBytes> name{};
  const ssize_t length = H5Iget_name(object, name.data(), name.size() - 1);
  if (length <= 0) return {};
  const std::string path(name.data());
  return path.substr(path.rfind('/') + 1);
}

// HDF5 looks through all groups for the name of a scale: at most once for each, not for each dataset that has it, and
// not at all where the scan has met it before.
using ScaleNames = std::map<hobj_ref_t, std::string>;

std::string scale_name(hid_t dataset, hobj_ref_t scale, ScaleNames& known) {
  const auto [entry, is_new] = known.try_emplace(scale);
  if (is_new) {
    const Hdf5Object object(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &scale));
    if (object) entry->second = last_component(object.get());
  }
  return entry->second;
}

// Called from C: nothing may escape.
herr_t read_scale_name(hid_t, unsigned, hid_t scale, void* name) noexcept {
  try {
    *static_cast<std::string*>(name) = last_component(scale);
  } catch (...) {
    return -1;
  }
  return 1;  // the first scale names the axis
}

// The names of all axes; empty where an axis has no scale. H5DSiterate_scales() reads the list and opens the scale anew
// for each axis of each dataset, a fifth of what a figure of a small run takes, and trusts that it is a list: for
// references of another kind.
std::vector<std::string> axis_names(hid_t dataset, std::size_t rank, ScaleNames& known) {
  std::vector<std::string> names(rank);
  if (!has_attribute(dataset, kDimensionList)) return names;
  const Hdf5Attribute attribute(H5Aopen(dataset, kDimensionList, H5P_DEFAULT));
  const Hdf5Type type(attribute ? H5Aget_type(attribute.get()) : H5I_INVALID_HID);
  const Hdf5Space space(attribute ? H5Aget_space(attribute.get()) : H5I_INVALID_HID);
  const bool lists = type && space && H5Tget_class(type.get()) == H5T_VLEN;
  const Hdf5Type element(lists ? H5Tget_super(type.get()) : H5I_INVALID_HID);
  if (!element || H5Tget_class(element.get()) != H5T_REFERENCE ||
      H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(rank))
    return names;
  if (H5Tequal(element.get(), H5T_STD_REF_OBJ) <= 0) {
    for (std::size_t axis = 0; axis < rank; ++axis)
      H5DSiterate_scales(dataset, static_cast<unsigned>(axis), nullptr, &read_scale_name, &names[axis]);
    return names;
  }
  std::vector<hvl_t> scales(rank);
  if (H5Aread(attribute.get(), type.get(), scales.data()) < 0) return names;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (scales[axis].len > 0) names[axis] = scale_name(dataset, *static_cast<const hobj_ref_t*>(scales[axis].p), known);
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, scales.data());
  return names;
}

Result<DatasetInfo> describe(hid_t dataset, const std::string& path, ScaleNames& scales) {
  DatasetInfo info;
  info.path = path;
  const Hdf5Type type(H5Dget_type(dataset));
  const Hdf5Space space(H5Dget_space(dataset));
  if (!type || !space) return hdf5_error(ErrorCode::Corrupt, "cannot read a dataset").at_tensor(path);
  auto element = element_type_of(type.get());
  if (!element) return std::move(element.error()).at_tensor(path);
  info.type = *element;
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || rank > kMaxRank || H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    H5Eclear2(H5E_DEFAULT);
    return refused("a dataset without a plain shape", path);
  }
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  for (const hsize_t extent : extents) {
    if (extent > static_cast<hsize_t>(INT64_MAX)) return refused("a dataset's shape is damaged", path);
    info.shape.push_back(static_cast<std::int64_t>(extent));
  }
  info.axes = axis_names(dataset, extents.size(), scales);
  info.units = attribute_or_empty(dataset, "units");
  info.long_name = attribute_or_empty(dataset, "long_name");
  info.definition = attribute_or_empty(dataset, "definition");
  H5Eclear2(H5E_DEFAULT);
  return info;
}

class Scan {
 public:
  Result<void> group(hid_t id, const std::string& path, int depth) {
    if (depth > kMaxDepth) return refused("groups nested too deep, or in a circle", path);
    const Hdf5Properties properties(H5Gget_create_plist(id));
    unsigned order = 0;
    H5Pget_link_creation_order(properties.get(), &order);
    const H5_index_t index = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    H5G_info_t info{};
    if (H5Gget_info(id, &info) < 0) return hdf5_error(ErrorCode::Corrupt, "cannot read a group").at_tensor(path);
    std::vector<std::pair<std::string, Hdf5Object>> groups;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      if (++objects_ > kMaxObjects) return refused("too many objects", path);
      HEADROOM_TRY(const std::string name, link_name(id, index, i, path));
      const std::string child = path.empty() ? name : path + "/" + name;
      HEADROOM_TRY_VOID(check_link(id, name, child));
      Hdf5Object object(H5Oopen(id, name.c_str(), H5P_DEFAULT));
      if (!object) return hdf5_error(ErrorCode::Corrupt, "cannot open an object").at_tensor(child);
      const H5I_type_t kind = H5Iget_type(object.get());
      if (kind == H5I_GROUP) {
        groups.emplace_back(child, std::move(object));
      } else if (kind == H5I_DATASET) {
        HEADROOM_TRY_VOID(dataset(object.get(), child));
      }
    }
    for (const auto& [child, object] : groups) HEADROOM_TRY_VOID(group(object.get(), child, depth + 1));
    return {};
  }

  std::vector<DatasetInfo> datasets;

 private:
  static Result<std::string> link_name(hid_t group, H5_index_t index, hsize_t i, const std::string& path) {
    std::array<char, kMaxNameBytes> name{};
    const ssize_t length = H5Lget_name_by_idx(group, ".", index, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    if (length <= 0) return hdf5_error(ErrorCode::Corrupt, "cannot read a link's name").at_tensor(path);
    if (static_cast<std::size_t>(length) >= name.size()) return refused("a name longer than 4 KiB", path);
    return std::string(name.data());
  }

  // The check of the storage comes first: even the shape of a virtual dataset opens other files.
  Result<void> dataset(hid_t id, const std::string& path) {
    HEADROOM_TRY_VOID(check_storage(id, path));
    if (H5DSis_scale(id) > 0) {
      hobj_ref_t scale{};
      if (H5Rcreate(&scale, id, ".", H5R_OBJECT, H5I_INVALID_HID) >= 0)
        scales_.try_emplace(scale, path.substr(path.rfind('/') + 1));
      return {};
    }
    HEADROOM_TRY(DatasetInfo info, describe(id, path, scales_));
    datasets.push_back(std::move(info));
    return {};
  }

  std::size_t objects_ = 0;
  ScaleNames scales_;
};

// Of any length: in the file's heap. What has a fixed length lies where numbers do.
bool lies_in_heap(hid_t type) { return H5Tis_variable_str(type) > 0 || H5Tget_class(type) == H5T_VLEN; }

// `read` fills what it is given with the elements.
template <typename Read>
void read_from_heap(const Hdf5Type& type, const Hdf5Space& space, const Read& read) {
  if (!type || !space || !lies_in_heap(type.get())) return;
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count <= 0 || count > kMaxTexts) return;
  std::vector<std::byte> values(static_cast<std::size_t>(count) * H5Tget_size(type.get()));
  if (read(values.data()) >= 0) H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, values.data());
}

// Called from C, as the next one: nothing may escape.
herr_t read_text_of_attribute(hid_t object, const char* name, const H5A_info_t*, void*) noexcept {
  try {
    const Hdf5Attribute attribute(H5Aopen(object, name, H5P_DEFAULT));
    if (!attribute) return 0;
    const Hdf5Type type(H5Aget_type(attribute.get()));
    read_from_heap(type, Hdf5Space(H5Aget_space(attribute.get())),
                   [&](std::byte* values) { return H5Aread(attribute.get(), type.get(), values); });
  } catch (...) {
    return -1;
  }
  return 0;
}

herr_t read_texts_of_object(hid_t root, const char* path, const H5L_info_t* link, void*) noexcept {
  try {
    if (link->type != H5L_TYPE_HARD) return 0;  // out of the file, perhaps
    const Hdf5Object object(H5Oopen(root, path, H5P_DEFAULT));
    if (!object) return 0;
    H5Aiterate2(object.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, read_text_of_attribute, nullptr);
    if (H5Iget_type(object.get()) != H5I_DATASET || !check_storage(object.get(), path)) return 0;
    const Hdf5Type type(H5Dget_type(object.get()));
    read_from_heap(type, Hdf5Space(H5Dget_space(object.get())), [&](std::byte* values) {
      return H5Dread(object.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    });
  } catch (...) {
    return -1;
  }
  return 0;
}

}  // namespace

void read_texts(const Hdf5File& file) {
  const Hdf5Group root(H5Gopen2(file.get(), "/", H5P_DEFAULT));
  H5Aiterate2(root.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, read_text_of_attribute, nullptr);
  H5Lvisit(root.get(), H5_INDEX_NAME, H5_ITER_NATIVE, read_texts_of_object, nullptr);
  H5Eclear2(H5E_DEFAULT);
}

Result<std::vector<DatasetInfo>> scan_datasets(const Hdf5File& file) {
  const Hdf5Group root(H5Gopen2(file.get(), "/", H5P_DEFAULT));
  if (!root) return hdf5_error(ErrorCode::Corrupt, "cannot read the root group");
  Scan scan;
  HEADROOM_TRY_VOID(scan.group(root.get(), "", 0));
  return std::move(scan.datasets);
}

}  // namespace headroom
