#define CATCH_CONFIG_RUNNER
#include <csignal>
#include <string_view>

#include "app/cli/command_line.h"
#include "app/gui/shell/layout_trial.h"
#include "kernels/families.h"
#include "tests/kit/catch.h"
#include "tests/scale/family.h"

// Like the program, so that an engine under test can start this executable as its worker, and a window as the
// trial of its layout.
int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    sawtooth::add_family(sawtooth::scale_family());
    sawtooth::cuda::add_sources(sawtooth::cuda::scale_sources());
    if (argc == 3 && std::string_view(argv[1]) == sawtooth::try_layout_command)
        return sawtooth::try_layout(argv[2]);
    if (argc > 1 && std::string_view(argv[1]) == "worker") return sawtooth::run_command_line(argc, argv, {});
    return Catch::Session().run(argc, argv);
}
