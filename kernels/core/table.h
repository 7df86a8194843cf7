#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth {

// Rows of text under named columns, for terminals, files and the Numbers panel.
struct Table {
    struct Column {
        std::string name, unit;
        bool number = true;  // aligned to the right
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;

    std::string plain() const;  // padded for a terminal
    std::string markdown() const;
    std::string csv() const;  // RFC 4180
    std::string tsv() const;
};

// A number with 4 significant digits, with an exponent outside 1e-3 to 1e6.
std::string short_number(double value);
// The same in a sentence: "20,470", "1,048,576".
std::string number_words(double value);
// A number with that many significant digits.
std::string rounded(double value, int digits);
// The percentage of a share: "0.75", "13", "104".
std::string percent_number(double share);
// "1,024"
std::string with_thousands(int64_t count);
// "1 tile", "1,024 tiles": a count and a noun whose plural ends in s.
std::string count_words(int64_t count, std::string_view noun);
// Microseconds in a suitable unit: "12.3 us", "4.56 ms", "1.23 s".
std::string short_time(double microseconds);
// Bytes in a suitable power of 1024: "1.5 MiB".
std::string short_bytes(double bytes);

}  // namespace sawtooth
