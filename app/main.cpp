#include "app/cli/command_line.h"
#include "app/gui/bench_window.h"
#include "app/gui/shot.h"
#include "app/gui/window.h"

int main(int argc, char** argv) {
    return sawtooth::run_command_line(argc, argv,
                                      {sawtooth::run_window, sawtooth::shoot, sawtooth::bench_window});
}
