#include "tuner/toolchain/rtc.h"

#include <stdexcept>

namespace headtune::toolchain {

Rtc::Rtc(const SharedLibrary& library, std::string prefix, std::string code)
    : library_(library), prefix_(std::move(prefix)), code_(std::move(code)) {}

Rtc::Result Rtc::compile(const std::string& source, const std::vector<std::string>& options) const {
  using Create = int (*)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  Program program = nullptr;
  require(function<Create>("CreateProgram")(&program, source.c_str(), "kernel.hip", 0, nullptr, nullptr),
          "CreateProgram");
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  using Compile = int (*)(Program, int, const char* const*);
  Result result;
  const int count = static_cast<int>(arguments.size());
  result.ok = function<Compile>("CompileProgram")(program, count, arguments.data()) == 0;
  result.log = log_of(program);
  if (result.ok) result.code = code_of(program);
  function<int (*)(Program*)>("DestroyProgram")(&program);
  return result;
}

std::string Rtc::log_of(Program program) const {
  std::size_t size = 0;
  require(function<int (*)(Program, std::size_t*)>("GetProgramLogSize")(program, &size), "GetProgramLogSize");
  if (size <= 1) return {};
  std::string log(size, '\0');
  require(function<int (*)(Program, char*)>("GetProgramLog")(program, log.data()), "GetProgramLog");
  log.resize(log.find_last_not_of('\0') + 1);
  return log;
}

std::vector<std::byte> Rtc::code_of(Program program) const {
  std::size_t size = 0;
  require(function<int (*)(Program, std::size_t*)>("Get" + code_ + "Size")(program, &size), "code size");
  std::vector<std::byte> code(size);
  require(function<int (*)(Program, std::byte*)>("Get" + code_)(program, code.data()), "code");
  return code;
}

void Rtc::require(int result, const char* call) const {
  if (result == 0) return;
  const std::string text = function<const char* (*)(int)>("GetErrorString")(result);
  throw std::runtime_error(prefix_ + " " + call + ": " + text);
}

}  // namespace headtune::toolchain
