#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "app/engine/files/descriptor.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// A program with pipes as its standard streams. It leads a session of its own: everything it starts ends with
// it, Ctrl+C in the terminal does not reach it, and it cannot prompt at the terminal.
class WorkerProcess {
  public:
    // Starts a program; the first word is its path.
    static Outcome<WorkerProcess> start(std::vector<std::string> words);
    WorkerProcess(WorkerProcess&&) noexcept;
    WorkerProcess& operator=(WorkerProcess&&) noexcept;
    ~WorkerProcess();  // kills and reaps the process

    // The non-blocking descriptors of the pipes; -1 once closed.
    int input() const { return input_.number(); }  // to write to
    int output() const { return output_.number(); }
    int errors() const { return errors_.number(); }

    void close_input();  // the program sees an end of file
    void read_errors();  // reads pending standard error
    // The last 2 KiB of standard error, in a single line.
    const std::string& last_errors() const { return last_errors_; }

    // Returns whether the started process has ended, even if others hold its pipes open.
    bool has_ended() const;

    // Closes the input, at which a worker exits by itself; after `seconds` it is told to end, and then
    // killed. Reaps it and returns how it ended by itself: "exit code 1", "signal 11 (Segmentation fault)";
    // "" if it had to be killed. A process that the system cannot end at once is left behind.
    std::string end(double seconds);

  private:
    WorkerProcess() = default;

    pid_t process_ = -1;
    Descriptor input_, output_, errors_;
    std::string last_errors_;
};

}  // namespace sawtooth
