// Catch2's main with one more option: the device to test.
#include <catch2/catch_session.hpp>

#include "suite.h"

int main(int argc, char** argv) {
  Catch::Session session;
  std::string device;
  session.cli(session.cli() | Catch::Clara::Opt(device, "device")["--device"](
                                  "sim:gfx950, cuda:1, ...; default: the first real device"));
  if (const int error = session.applyCommandLine(argc, argv)) return error;
  headtune::test::choose_device(device);
  return session.run();
}
