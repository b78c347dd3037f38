#include "tuner/bundle.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "tuner/dtype.h"
#include "tuner/error.h"

namespace headtune {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "headtune-launch/1";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;  ///< of one buffer
constexpr std::size_t kMostKernarg = 1 << 16;

[[noreturn]] void bad(const std::string& text) { throw UsageError("launch.json: " + text); }

// --- reading --------------------------------------------------------------------------------------------------------

const json& field(const json& object, const char* name, const std::string& where) {
  if (!object.is_object()) bad(where + " is not an object");
  const auto found = object.find(name);
  if (found == object.end()) bad(fmt::format("{} has no '{}'", where, name));
  return *found;
}

std::uint64_t number(const json& value, std::uint64_t most, const std::string& where) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    bad(fmt::format("{} is not a whole number of at most {}", where, most));
  return value.get<std::uint64_t>();
}

std::string text(const json& object, const char* name, const std::string& where) {
  const json& value = field(object, name, where);
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    bad(fmt::format("'{}' of {} is not a non-empty string", name, where));
  return value.get<std::string>();
}

const json& list(const json& object, const char* name, const std::string& where) {
  const json& value = field(object, name, where);
  if (!value.is_array()) bad(fmt::format("'{}' of {} is not a list", name, where));
  return value;
}

/// A name in the bundle's own folder: nothing that leads out of it.
std::string file_name(const json& object, const char* name, const std::string& where) {
  const std::string value = text(object, name, where);
  const fs::path path(value);
  if (value.find('\0') != value.npos || path.has_parent_path() || path.is_absolute() || value == "." || value == "..")
    bad(fmt::format("'{}' of {} is not a plain file name", name, where));
  return value;
}

std::array<std::uint32_t, 3> extent(const json& object, const char* name, const std::string& where) {
  const json& value = list(object, name, where);
  if (value.size() != 3) bad(fmt::format("'{}' of {} has not three numbers", name, where));
  std::array<std::uint32_t, 3> result{};
  for (std::size_t n = 0; n < 3; ++n) {
    result[n] = static_cast<std::uint32_t>(number(value[n], 0x7fffffff, fmt::format("'{}' of {}", name, where)));
    if (result[n] == 0) bad(fmt::format("'{}' of {} has a zero", name, where));
  }
  return result;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::vector<std::byte> hex(const json& object, const char* name, const std::string& where) {
  const json& value = field(object, name, where);
  if (!value.is_string()) bad(fmt::format("'{}' of {} is not a string", name, where));
  const auto& digits = value.get_ref<const std::string&>();
  if (digits.size() % 2 || digits.size() / 2 > kMostKernarg)
    bad(fmt::format("'{}' of {} has an odd or too large number of digits", name, where));
  std::vector<std::byte> bytes;
  for (std::size_t n = 0; n < digits.size(); n += 2) {
    const int high = digit(digits[n]), low = digit(digits[n + 1]);
    if (high < 0 || low < 0) bad(fmt::format("'{}' of {} is not hexadecimal", name, where));
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

BundleBuffer read_buffer(const json& value, const std::string& where) {
  BundleBuffer buffer;
  buffer.bytes = number(field(value, "bytes", where), kMostBytes, "'bytes' of " + where);
  if (value.contains("file") == value.contains("fill")) bad(where + " needs either 'file' or 'fill'");
  if (value.contains("file"))
    buffer.file = file_name(value, "file", where);
  else
    buffer.fill = static_cast<std::uint8_t>(number(value["fill"], 255, "'fill' of " + where));
  return buffer;
}

const BundleBuffer& buffer_named(const Bundle& bundle, const std::string& name, const std::string& where) {
  const auto found = bundle.buffers.find(name);
  if (found == bundle.buffers.end()) bad(fmt::format("{} names the buffer '{}', which is not there", where, name));
  return found->second;
}

BundlePointer read_pointer(const json& value, const Bundle& bundle, std::size_t kernarg, const std::string& where) {
  BundlePointer pointer;
  pointer.offset =
      static_cast<std::uint32_t>(number(field(value, "offset", where), kMostKernarg, "'offset' of " + where));
  pointer.buffer = text(value, "buffer", where);
  const BundleBuffer& buffer = buffer_named(bundle, pointer.buffer, where);
  pointer.byte_offset = number(field(value, "byte_offset", where), buffer.bytes, "'byte_offset' of " + where);
  if (pointer.offset + std::size_t{8} > kernarg) bad(where + " lies outside the kernel arguments");
  return pointer;
}

BundleLaunch read_launch(const json& value, const Bundle& bundle, const std::string& where) {
  BundleLaunch launch;
  launch.code_object = file_name(value, "code_object", where);
  launch.kernel = text(value, "kernel", where);
  launch.grid = extent(value, "grid", where);
  launch.block = extent(value, "block", where);
  launch.dynamic_lds =
      static_cast<std::uint32_t>(number(field(value, "dynamic_lds", where), 1 << 20, "'dynamic_lds' of " + where));
  launch.kernarg = hex(value, "kernarg_hex", where);
  for (const json& pointer : list(value, "pointers", where))
    launch.pointers.push_back(read_pointer(pointer, bundle, launch.kernarg.size(),
                                           fmt::format("pointer {} of {}", launch.pointers.size(), where)));
  return launch;
}

BundleExpect read_expect(const json& value, const Bundle& bundle, const std::string& where) {
  BundleExpect expect;
  expect.buffer = text(value, "buffer", where);
  expect.file = file_name(value, "file", where);
  expect.dtype = text(value, "dtype", where);
  const int element = bundle_element_bytes(expect.dtype);
  if (element == 0) bad(fmt::format("{} has the dtype '{}'; known are f32, bf16, fp16", where, expect.dtype));
  if (buffer_named(bundle, expect.buffer, where).bytes % static_cast<unsigned>(element))
    bad(where + ": the buffer holds no whole number of elements");
  const json& bound = field(value, "rel_l2", where);
  if (!bound.is_number() || !(bound.get<double>() >= 0)) bad(fmt::format("'rel_l2' of {} is not a bound", where));
  expect.rel_l2 = bound.get<double>();
  return expect;
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) throw UsageError(fmt::format("{}: cannot be read", path.string()));
  const std::string data((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(data.size());
  std::memcpy(bytes.data(), data.data(), data.size());
  return bytes;
}

/// Reads a file once; `bytes` is the size that it must have.
void take_file(Bundle& bundle, const fs::path& folder, const std::string& name, std::optional<std::uint64_t> bytes) {
  const fs::path path = folder / name;
  if (bytes && fs::is_regular_file(path) && fs::file_size(path) != *bytes)
    throw UsageError(fmt::format("{}: {} bytes, expected {}", path.string(), fs::file_size(path), *bytes));
  auto& contents = bundle.files[name];
  if (contents.empty()) contents = read_file(path);
  if (bytes && contents.size() != *bytes)
    throw UsageError(fmt::format("{}: {} bytes, expected {}", path.string(), contents.size(), *bytes));
}

// --- writing --------------------------------------------------------------------------------------------------------

json launch_json(const BundleLaunch& launch) {
  std::string digits;
  for (const std::byte byte : launch.kernarg) digits += fmt::format("{:02x}", static_cast<unsigned>(byte));
  json pointers = json::array();
  for (const BundlePointer& pointer : launch.pointers)
    pointers.push_back({{"offset", pointer.offset}, {"buffer", pointer.buffer}, {"byte_offset", pointer.byte_offset}});
  return {
      {"code_object", launch.code_object}, {"kernel", launch.kernel}, {"grid", launch.grid}, {"block", launch.block},
      {"dynamic_lds", launch.dynamic_lds}, {"kernarg_hex", digits},   {"pointers", pointers}};
}

json bundle_json(const Bundle& bundle) {
  json result = {{"format", kFormat},
                 {"arch", bundle.arch},
                 {"launches", json::array()},
                 {"buffers", json::object()},
                 {"expect", json::array()}};
  for (const BundleLaunch& launch : bundle.launches) result["launches"].push_back(launch_json(launch));
  for (const auto& [name, buffer] : bundle.buffers) {
    json& entry = result["buffers"][name] = {{"bytes", buffer.bytes}};
    if (buffer.file.empty())
      entry["fill"] = buffer.fill;
    else
      entry["file"] = buffer.file;
  }
  for (const BundleExpect& e : bundle.expect)
    result["expect"].push_back({{"buffer", e.buffer}, {"file", e.file}, {"dtype", e.dtype}, {"rel_l2", e.rel_l2}});
  return result;
}

void write_file(const fs::path& path, const void* data, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  out.flush();
  if (!out) throw UsageError(fmt::format("{}: cannot be written", path.string()));
}

double element(const std::vector<std::byte>& bytes, const std::string& dtype, std::uint64_t index) {
  if (dtype == "f32") {
    float value;
    std::memcpy(&value, &bytes[4 * index], 4);
    return static_cast<double>(value);
  }
  std::uint16_t bits;
  std::memcpy(&bits, &bytes[2 * index], 2);
  return static_cast<double>(decode(dtype == "bf16" ? DType::bf16 : DType::fp16, bits));
}

}  // namespace

int bundle_element_bytes(const std::string& dtype) {
  if (dtype == "f32") return 4;
  return dtype == "bf16" || dtype == "fp16" ? 2 : 0;
}

Bundle parse_bundle(const std::string& launch_json) {
  const json root = json::parse(launch_json, nullptr, false);
  if (root.is_discarded()) bad("not JSON");
  if (text(root, "format", "the file") != kFormat) bad(fmt::format("the format is not {}", kFormat));
  Bundle bundle;
  bundle.arch = text(root, "arch", "the file");
  const json& buffers = field(root, "buffers", "the file");
  if (!buffers.is_object()) bad("'buffers' is not an object");
  for (const auto& [name, value] : buffers.items()) bundle.buffers[name] = read_buffer(value, "buffer '" + name + "'");
  for (const json& value : list(root, "launches", "the file"))
    bundle.launches.push_back(read_launch(value, bundle, fmt::format("launch {}", bundle.launches.size())));
  if (bundle.launches.empty()) bad("no launches");
  for (const json& value : list(root, "expect", "the file"))
    bundle.expect.push_back(read_expect(value, bundle, fmt::format("expectation {}", bundle.expect.size())));
  return bundle;
}

Bundle read_bundle(const fs::path& folder) {
  const std::vector<std::byte> description = read_file(folder / "launch.json");
  Bundle bundle = parse_bundle({reinterpret_cast<const char*>(description.data()), description.size()});
  for (const BundleLaunch& launch : bundle.launches) take_file(bundle, folder, launch.code_object, std::nullopt);
  for (const auto& [name, buffer] : bundle.buffers)
    if (!buffer.file.empty()) take_file(bundle, folder, buffer.file, buffer.bytes);
  for (const BundleExpect& expect : bundle.expect) {
    const auto elements =
        bundle.buffers.at(expect.buffer).bytes / static_cast<unsigned>(bundle_element_bytes(expect.dtype));
    take_file(bundle, folder, expect.file, 4 * elements);
  }
  return bundle;
}

void write_bundle(const Bundle& bundle, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UsageError(fmt::format("{}: {}", folder.string(), error.message()));
  if (fs::exists(folder / "launch.json"))
    throw UsageError(fmt::format("{}: holds a launch.json already; give another folder", folder.string()));
  for (const auto& [name, contents] : bundle.files) write_file(folder / name, contents.data(), contents.size());
  const std::string description = bundle_json(bundle).dump(1) + "\n";
  write_file(folder / "launch.json", description.data(), description.size());
}

BundleDistance bundle_distance(const std::vector<std::byte>& actual, const std::string& dtype,
                               const std::vector<std::byte>& reference) {
  BundleDistance result;
  double error2 = 0, norm2 = 0, worst = -1;
  for (std::uint64_t n = 0; n < reference.size() / 4; ++n) {
    const double expected = element(reference, "f32", n);
    if (std::isnan(expected)) continue;
    const double value = element(actual, dtype, n);
    ++result.compared;
    if (std::isinf(expected) && value == expected) continue;
    const double error = std::isfinite(value) && std::isfinite(expected) ? std::fabs(value - expected)
                                                                         : std::numeric_limits<double>::infinity();
    if (error > worst) worst = error, result.worst = n;
    error2 += error * error;
    if (std::isfinite(expected)) norm2 += expected * expected;
  }
  result.rel_l2 = error2 == 0 ? 0 : std::sqrt(error2 / norm2);
  return result;
}

}  // namespace headtune
