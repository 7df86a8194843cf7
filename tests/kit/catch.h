#pragma once

// The Catch2 of the system: Debian 12 ships 2.13, Ubuntu 24.04 ships 3.
#if SAWTOOTH_CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <iostream>
#include <string>

// 2.13 has no SKIP: test.sh counts the printed line. The test must return after it.
inline void say_skipped(const std::string& reason) {
    std::cout << "skipped: " << Catch::getResultCapture().getCurrentTestName() << ": " << reason << std::endl;
}
