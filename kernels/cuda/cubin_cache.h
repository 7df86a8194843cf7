#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "kernels/cuda/compiler.h"

namespace sawtooth::cuda {

// Compiled kernels as files of one folder, at most `limit_bytes` in total; the least recently used file goes
// first. A file is written under a temporary name and renamed, so processes may share the folder; a damaged
// file is ignored. Any failure here only costs a compilation.
class CubinCache {
  public:
    explicit CubinCache(std::string directory, int64_t limit_bytes = int64_t{1} << 30);

    std::optional<Compiled> find(const std::string& key) const;
    void keep(const std::string& key, const Compiled& compiled) const;

    // The right to compile a kernel. Only one thread of all processes has it at a time, so that no kernel is
    // compiled twice. The destructor passes it on.
    class Turn {
      public:
        Turn(std::string path, int file) : path_(std::move(path)), file_(file) {}
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn();

      private:
        std::string path_;
        int file_;  // -1: there is no cache, and nobody waits
    };
    // Waits until no one else has the turn, or until `stop`.
    Turn turn(const std::string& key, const std::stop_token& stop) const;

  private:
    void make_room() const;

    std::string directory_;  // "" disables the cache
    int64_t limit_bytes_;
};

}  // namespace sawtooth::cuda
