#include "app/engine/sources/worker.h"

#include <unistd.h>

#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"

namespace sawtooth::cli {

int worker(const Arguments& arguments) {
    const auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    // The output may be a terminal of a launcher (srun --unbuffered).
    if (::isatty(STDIN_FILENO) == 1)
        return fail(
            Error::usage("worker serves another sawtooth, not a terminal. Use it with run, sweep or the "
                         "window: --on \"sawtooth "
                         "worker\""));
    serve_worker(settings->cache_directory);
}

}  // namespace sawtooth::cli
