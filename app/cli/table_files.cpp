#include "app/cli/table_files.h"

#include "app/cli/terminal.h"
#include "app/engine/files/files.h"

namespace sawtooth::cli {

int write_documents(const TableFiles& files, bool json_asked, const Documents& documents) {
    std::string problems;
    const auto write = [&](const std::string& path, const std::string& content) {
        if (path.empty()) return;
        if (const auto problem = write_file(path, content))
            problems += (problems.empty() ? "" : "; ") + problem->text;
    };
    if (json_asked || !files.to_standard_output) write("-", json_asked ? documents.json : documents.text);
    write(files.json, documents.json);
    write(files.csv, documents.csv);
    write(files.markdown, documents.markdown);
    write(files.junit, documents.junit);
    return problems.empty() ? 0 : fail(Error::failure(problems));
}

}  // namespace sawtooth::cli
