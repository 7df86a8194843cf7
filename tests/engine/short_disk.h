#pragma once

#include <sys/resource.h>

#include <csignal>

namespace sawtooth {

// Limits the size of all files to `bytes` during its lifetime, which simulates a full disk without mounting
// one.
class ShortDisk {
  public:
    explicit ShortDisk(rlim_t bytes) {
        before_signal_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit less{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &less);
    }
    ~ShortDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, before_signal_);
    }
    ShortDisk(const ShortDisk&) = delete;
    ShortDisk& operator=(const ShortDisk&) = delete;

  private:
    rlimit before_{};
    void (*before_signal_)(int);
};

}  // namespace sawtooth
