#include "core/checkpoint/detect.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/format.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr std::string_view kConvert =
    "convert it: python -c \"import torch; from safetensors.torch import save_file; "
    "d = torch.load('IN', map_location='cpu', weights_only=True); "
    "save_file({k: v.contiguous().clone() for k, v in d.items()}, 'OUT.safetensors')\"";
constexpr std::string_view kOthers =
    "Headroom reads safetensors, GGUF and PyTorch's .pt/.bin; save the model as one of these";
constexpr std::string_view kOneArray =
    "one array is neither a model nor a call of attention: numpy.savez('calls.npz', q=q, k=k, v=v) makes a file that "
    "opens";
constexpr std::string_view kReads = "a safetensors, GGUF or PyTorch file, or a folder that holds one";
constexpr std::string_view kGiveFile = "give the .safetensors or .gguf file of the model, or the folder that it is in";
constexpr std::string_view kDownload =
    "the weights themselves are still on the server: run `git lfs pull` in the clone, or download with "
    "`hf download OWNER/MODEL`";

struct Kind {
  std::string_view name;
  ErrorCode code = ErrorCode::Unsupported;
  std::string_view hint;
};

constexpr Kind kTorchZip = {"a PyTorch .pt/.bin file (ZIP with pickle)", ErrorCode::Unsupported, ""};
constexpr Kind kNumpyZip = {"a NumPy .npz archive", ErrorCode::Unsupported, ""};
constexpr Kind kKerasZip = {"a Keras archive", ErrorCode::Unsupported, kOthers};
constexpr Kind kZip = {"a ZIP archive", ErrorCode::Unsupported, kOthers};
constexpr Kind kTorchLegacy = {"a PyTorch file of the old pickle format", ErrorCode::Unsupported, ""};
constexpr Kind kPickle = {"a Python pickle, which is executable code", ErrorCode::Unsupported, kConvert};
constexpr Kind kHdf5 = {"an HDF5 file (Keras .h5, or a Headroom run file)", ErrorCode::Unsupported, kOthers};
constexpr Kind kOnnx = {"an ONNX model", ErrorCode::Unsupported, kOthers};
constexpr Kind kSavedModel = {"a TensorFlow SavedModel", ErrorCode::Unsupported, kOthers};
constexpr Kind kTar = {"a tar archive", ErrorCode::Unsupported, "unpack it and give the folder with the model"};
constexpr Kind kLfs = {"a Git LFS pointer and not the model", ErrorCode::Corrupt, kDownload};
constexpr Kind kHtml = {"a web page saved under a model's name", ErrorCode::Corrupt,
                        "the server answered with a page (a login or an error?); download the file again, for example "
                        "with `hf download OWNER/MODEL`"};
constexpr Kind kJson = {"a JSON text and not a model", ErrorCode::Corrupt, "give the folder that holds the weights"};
constexpr Kind kSvg = {"an SVG picture", ErrorCode::Corrupt, kGiveFile};
constexpr Kind kText = {
    "a text file", ErrorCode::Corrupt,
    "give the .safetensors or .gguf file of the model, or the folder that it is in; a text to run is a prompt "
    "(--text-file, in the window prompt-file)"};
constexpr Kind kPicture = {"a picture", ErrorCode::Corrupt, kGiveFile};
constexpr Kind kProgram = {"a program", ErrorCode::Corrupt, kGiveFile};

struct Magic {
  std::string_view bytes;
  std::size_t offset;
  Kind kind;
};

constexpr std::string_view kGgufMagic = "GGUF";
constexpr Kind kGguf = {"a GGUF file", ErrorCode::Unsupported, ""};
constexpr Kind kOldGgml = {"a GGML file from before GGUF", ErrorCode::Unsupported,
                           "convert it with llama.cpp's convert_llama_ggml_to_gguf.py"};
constexpr Kind kCompressed = {"a compressed file", ErrorCode::Unsupported, "unpack it first"};

using namespace std::string_view_literals;
constexpr std::array kMagics = {
    Magic{kGgufMagic, 0, kGguf},
    Magic{"version https://git-lfs"sv, 0, kLfs},
    Magic{"version https://hawser"sv, 0, kLfs},
    Magic{"lmgg"sv, 0, kOldGgml},
    Magic{"fmgg"sv, 0, kOldGgml},
    Magic{"tjgg"sv, 0, kOldGgml},
    Magic{"\x89HDF\r\n\x1a\n"sv, 0, kHdf5},
    Magic{"\x89HDF\r\n\x1a\n"sv, 512, kHdf5},
    Magic{"\x89HDF\r\n\x1a\n"sv, 1024, kHdf5},
    Magic{"\x89HDF\r\n\x1a\n"sv, 2048, kHdf5},
    Magic{"\x93NUMPY"sv, 0, {"a NumPy .npy array", ErrorCode::Unsupported, kOneArray}},
    Magic{"TFL3"sv, 4, {"a TensorFlow Lite model", ErrorCode::Unsupported, kOthers}},
    Magic{"\x1f\x8b"sv, 0, kCompressed},
    Magic{"\xFD"
          "7zXZ"sv,
          0, kCompressed},
    Magic{"\x28\xB5\x2F\xFD"sv, 0, kCompressed},
    Magic{"BZh"sv, 0, kCompressed},
    Magic{"7z\xBC\xAF\x27\x1C"sv, 0, kCompressed},
    Magic{"ustar"sv, 257, kTar},
    Magic{"\x89PNG\r\n\x1a\n"sv, 0, {"a PNG picture", ErrorCode::Corrupt, kGiveFile}},
    Magic{"\xFF\xD8\xFF\xE0"sv, 0, {"a JPEG picture", ErrorCode::Corrupt, kGiveFile}},
    Magic{"\xFF\xD8\xFF\xE1"sv, 0, {"a JPEG picture", ErrorCode::Corrupt, kGiveFile}},
    Magic{"GIF87a"sv, 0, kPicture},
    Magic{"GIF89a"sv, 0, kPicture},
    Magic{"WEBP"sv, 8, kPicture},
    Magic{"%PDF-"sv, 0, {"a PDF document", ErrorCode::Corrupt, kGiveFile}},
    Magic{"\x7f"
          "ELF"sv,
          0, kProgram},
    Magic{"SQLite format 3"sv, 0, {"an SQLite database", ErrorCode::Corrupt, kGiveFile}},
    Magic{"PK\x05\x06"sv, 0, {"an empty ZIP archive", ErrorCode::Corrupt, "download it again"}},
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}

const Kind* sniff_zip(std::string_view head) {
  if (!head.starts_with("PK\x03\x04"sv)) return nullptr;
  // The local header holds the length of the first entry's name at 26 and the name at 30.
  if (head.size() < 31) return &kZip;
  const auto name_size = static_cast<std::size_t>(static_cast<unsigned char>(head[26])) |
                         static_cast<std::size_t>(static_cast<unsigned char>(head[27])) << 8;
  const std::string_view name = head.substr(30, name_size);
  if (name.ends_with(".npy")) return &kNumpyZip;
  if (name == "metadata.json" || name == "config.json" || name == "model.weights.h5") return &kKerasZip;
  constexpr std::array kTorchEntries = {
      "/data.pkl"sv,      "/version"sv,           "/byteorder"sv, "/.format_version"sv, "/.data/serialization_id"sv,
      "/constants.pkl"sv, "/.storage_alignment"sv};
  // TorchScript begins with its storages or its code.
  const bool torch = name.find("/data/") != std::string_view::npos || name.find("/code/") != std::string_view::npos ||
                     std::any_of(kTorchEntries.begin(), kTorchEntries.end(),
                                 [&](std::string_view entry) { return name.ends_with(entry); });
  return torch ? &kTorchZip : &kZip;
}

// A pickle begins with PROTO 2 … 5; torch's old format then has its magic number as a LONG1.
const Kind* sniff_pickle(std::string_view head) {
  if (head.size() < 4 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return nullptr;
  if (head.substr(2).starts_with("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv)) return &kTorchLegacy;
  constexpr std::string_view kFirstOpcodes = "}](cXKMJNGUTBC)\x88\x89\x8a\x8c\x8d\x8f\x95";
  return kFirstOpcodes.find(head[2]) != std::string_view::npos ? &kPickle : nullptr;
}

// ModelProto: field 1 (ir_version, varint), then field 2 (producer, text) or 7 (graph).
const Kind* sniff_protobuf(std::string_view head) {
  if (head.size() < 8 || head[0] != 0x08 || head[1] < 1 || head[1] > 0x20) return nullptr;
  if (head[2] == 0x12) {
    const auto size = static_cast<unsigned char>(head[3]);
    const std::string_view producer = head.substr(4, std::min<std::size_t>(size, 8));
    const bool printable = std::all_of(producer.begin(), producer.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
    if (size > 0 && size < 64 && printable) return &kOnnx;
    return head.find("serve") != std::string_view::npos || head.find("NoOp") != std::string_view::npos ? &kSavedModel
                                                                                                       : nullptr;
  }
  return head[2] == 0x3A && head.find("\x0a"sv, 3) != std::string_view::npos && head[1] <= 12 ? &kOnnx : nullptr;
}

// A safetensors length, which a file may begin with, has zeros among its first eight bytes; a text has none.
bool is_text(std::string_view head) {
  constexpr std::size_t kFewest = 8, kLongestScalar = 4;
  const bool utf16 = head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv);
  if (head.size() < kFewest) return false;
  if (utf16) return head.substr(4, 4) != "\0\0\0\0"sv;
  while (!head.empty()) {
    const Utf8Scalar scalar = decode_utf8(head);
    const bool cut_off = head.size() < kLongestScalar;  // the last scalar of what was read of a longer file
    const bool space = scalar.code_point >= '\t' && scalar.code_point <= '\r';
    const bool control = scalar.code_point < 0x20 && !space && scalar.code_point != 0x1B;
    if ((!scalar.valid && !cut_off) || control || scalar.code_point == 0x7F) return false;
    head.remove_prefix(scalar.size_bytes);
  }
  return true;
}

const Kind* sniff_text(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos) return nullptr;
  const std::string_view text = head.substr(begin);
  if (begins_ignoring_case(text, "<svg") ||
      (begins_ignoring_case(text, "<?xml") && text.find("<svg") != std::string_view::npos))
    return &kSvg;
  for (const std::string_view tag : {"<!doctype html"sv, "<html"sv, "<head"sv, "<?xml"sv, "<error"sv})
    if (begins_ignoring_case(text, tag)) return &kHtml;
  if (text.front() != '{' && text.front() != '[') return is_text(head) ? &kText : nullptr;
  const std::string_view start = text.substr(0, 64);
  const bool readable = std::all_of(start.begin(), start.end(), [](char c) {
    return c == '\n' || c == '\r' || c == '\t' || static_cast<unsigned char>(c) >= 0x20;
  });
  if (readable && start.size() > 1) return &kJson;
  return is_text(head) ? &kText : nullptr;
}

const Kind* sniff(std::string_view head) {
  for (const Magic& magic : kMagics)
    if (head.size() >= magic.offset && head.substr(magic.offset).starts_with(magic.bytes)) return &magic.kind;
  if (const Kind* kind = sniff_zip(head)) return kind;
  if (const Kind* kind = sniff_pickle(head)) return kind;
  if (const Kind* kind = sniff_protobuf(head)) return kind;
  return sniff_text(head);
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// safetensors has no magic number: a length that fits the file, followed by the header's first byte. It goes before
// the others because a length may happen to spell another format's first bytes.
bool is_safetensors(std::string_view head, std::uint64_t file_size) {
  if (head.size() < 10 || head[8] != '{') return false;
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof(length));
  return length <= file_size - 8 && length <= 100'000'000;
}

// Neither a header length that fits, forwards or backwards, nor the header's first byte after it.
bool is_unlike_safetensors(std::string_view head, std::uint64_t file_size) {
  if (head.size() < 16 || head[8] == '{') return false;
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof(length));
  return length > file_size - 8 && __builtin_bswap64(length) > file_size - 8;
}

// Nothing but zeros so far: a place that a download has reserved and not filled.
bool is_blank(std::string_view head) {
  return head.size() >= 64 && head.find_first_not_of('\0') == std::string_view::npos;
}

// What the first bytes are, for a person: the first words of a text, else bytes.
std::string beginning_of(std::string_view head) {
  constexpr std::size_t kShownText = 40, kShownBytes = 8;
  std::string out;
  if (is_text(head) && head[0] != '\xFF' && head[0] != '\xFE') {
    const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
    while (!line.substr(out.size()).empty() && out.size() < kShownText)
      out += line.substr(out.size(), decode_utf8(line.substr(out.size())).size_bytes);
    const bool blank = out.find_first_not_of(" \t") == std::string::npos;
    return blank ? "" : "text that begins with \"" + out + (out.size() < line.size() ? "…\"" : "\"");
  }
  for (const char byte : head.substr(0, kShownBytes))
    out += format(" %02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return "bytes that begin with" + out;
}

}  // namespace

std::string_view sniff_name(std::span<const std::byte> head) {
  const Kind* kind = sniff(as_text(head));
  return kind ? kind->name : std::string_view();
}

Result<ContainerFormat> detect_format(const InputFile& file) {
  const std::string path = file.path().string();
  if (file.size_bytes() == 0) {
    Error error(ErrorCode::Corrupt, "The file is empty");
    return error.in_file(path).advise("the download may have failed; download it again");
  }
  std::array<std::byte, kSniffBytes> buffer;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file.size_bytes()));
  const std::span<std::byte> bytes = std::span(buffer).first(size);
  HEADROOM_TRY_VOID(file.read_at(0, bytes));
  const std::string_view head = as_text(bytes);
  if (is_safetensors(head, file.size_bytes())) return ContainerFormat::Safetensors;
  const auto refused = [&](ErrorCode code, const std::string& message, const std::string& found,
                           std::string_view hint) {
    Error error(code, message);
    return error.in_file(path).wanted(kReads, found).advise(hint);
  };
  if (is_blank(head)) {
    return refused(ErrorCode::Corrupt, "Not a checkpoint: the file begins with nothing but zeros", "",
                   "the download has not finished, or failed; download it again");
  }
  const Kind* kind = sniff(head);
  if (kind && kind->name == kGguf.name) return ContainerFormat::Gguf;
  if (kind == &kTorchZip || kind == &kTorchLegacy) return ContainerFormat::Torch;
  if (kind == &kNumpyZip) return ContainerFormat::Numpy;
  if (!kind && !is_unlike_safetensors(head, file.size_bytes())) return ContainerFormat::Safetensors;
  if (!kind) {
    return refused(ErrorCode::Corrupt, "Not a checkpoint: this file is of no kind that Headroom knows",
                   beginning_of(head), kGiveFile);
  }
  // What holds a model of another format is a checkpoint, only not one for this program.
  const std::string what =
      (kind->code == ErrorCode::Corrupt ? "Not a checkpoint: this is " : "This is ") + std::string(kind->name);
  return refused(kind->code, what, kind == &kText ? beginning_of(head) : "", kind->hint);
}

}  // namespace headroom
