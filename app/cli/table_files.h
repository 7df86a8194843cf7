#pragma once

#include "app/cli/settings.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

// What goes to standard output (the JSON document where it is asked for, else the table unless a file went
// there), then the files; the exit code.
int write_documents(const TableFiles& files, bool json_asked, const std::string& json, const Table& table);

}  // namespace sawtooth::cli
