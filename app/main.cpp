#include <string_view>

#include "app/cli/command_line.h"
#include "app/gui/shell/bench_window.h"
#include "app/gui/shell/layout_trial.h"
#include "app/gui/shell/shot.h"
#include "app/gui/shell/window.h"

int main(int argc, char** argv) {
    if (argc == 3 && std::string_view(argv[1]) == sawtooth::try_layout_command)
        return sawtooth::try_layout(argv[2]);
    return sawtooth::run_command_line(argc, argv,
                                      {sawtooth::run_window, sawtooth::shoot, sawtooth::bench_window});
}
