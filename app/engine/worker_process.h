#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "app/engine/descriptor.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// A program with pipes on its standard streams. It leads a session of its own: whatever it starts ends with
// it, Ctrl+C in the terminal is not for it, and nothing of it can ask at the terminal.
class WorkerProcess {
  public:
    // The first word is the program's path.
    static Outcome<WorkerProcess> start(std::vector<std::string> words);
    WorkerProcess(WorkerProcess&&) noexcept;
    WorkerProcess& operator=(WorkerProcess&&) noexcept;
    ~WorkerProcess();  // kills and reaps

    // Descriptors that never block; -1 once it is closed.
    int input() const { return input_.number(); }  // to be written to
    int output() const { return output_.number(); }
    int errors() const { return errors_.number(); }

    void read_errors();  // takes what has come on standard error
    // The last 2 KiB of it, in one line.
    const std::string& last_errors() const { return last_errors_; }

    // Closes its input, at which a worker ends by itself, and kills it after `seconds`. Reaps it and says how
    // it ended by itself: "exit code 1", "signal 11 (Segmentation fault)"; "" where it had to be killed.
    std::string end(double seconds);

  private:
    WorkerProcess() = default;

    pid_t process_ = -1;
    Descriptor input_, output_, errors_;
    std::string last_errors_;
};

}  // namespace sawtooth
