#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "app/engine/files/descriptor.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// A program with pipes on its standard streams. It leads its own session: everything it starts ends with it,
// Ctrl+C in the terminal does not reach it, and it cannot prompt at the terminal.
class WorkerProcess {
  public:
    // The first word is the program's path.
    static Outcome<WorkerProcess> start(std::vector<std::string> words);
    WorkerProcess(WorkerProcess&&) noexcept;
    WorkerProcess& operator=(WorkerProcess&&) noexcept;
    ~WorkerProcess();  // kills and reaps

    // Non-blocking descriptors; -1 once closed.
    int input() const { return input_.number(); }  // to write to
    int output() const { return output_.number(); }
    int errors() const { return errors_.number(); }

    void close_input();  // an end of file for the program
    void read_errors();  // reads pending standard error
    // The last 2 KiB of standard error, in one line.
    const std::string& last_errors() const { return last_errors_; }

    // Whether the started process has ended, although others may hold its pipes open.
    bool has_ended() const;

    // Closes the input, at which a worker exits by itself, and kills it after `seconds`. Reaps it and returns
    // how it ended by itself: "exit code 1", "signal 11 (Segmentation fault)"; "" if it had to be killed. One
    // that the system cannot end at once is left behind.
    std::string end(double seconds);

  private:
    WorkerProcess() = default;

    pid_t process_ = -1;
    Descriptor input_, output_, errors_;
    std::string last_errors_;
};

}  // namespace sawtooth
