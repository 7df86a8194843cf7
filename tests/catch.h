#pragma once

// Catch2 as the system has it: Debian 12 ships 2.13, Ubuntu 24.04 ships 3.
#if SAWTOOTH_CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <iostream>
#include <string>

// 2.13 has no SKIP: the line is counted by test.sh. The test returns after it.
inline void say_skipped(const std::string& reason) {
    std::cout << "skipped: " << Catch::getResultCapture().getCurrentTestName() << ": " << reason << std::endl;
}
