#include "app/engine/wire/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/engine/identity.h"
#include "app/engine/wire/message_fields.h"
#include "app/engine/wire/wire.h"

namespace sawtooth {
namespace {

using Json = nlohmann::json;

template <class T>
concept Struct = requires(T& value) {
    fields_of(value);
};
template <class T>
concept Number = std::is_same_v<T, double> || std::is_same_v<T, float>;

// Lists of numbers are sent as bytes, in the byte order of all supported machines: little endian.
static_assert(std::endian::native == std::endian::little);

template <Number T>
Json packed(const std::vector<T>& values) {
    Bytes bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return Json::binary(std::move(bytes));
}

// Encodes a struct as the list of its fields, a variant as {index, value}, an absent value as null.
struct Writer {
    static Json of(bool value) { return value; }
    static Json of(const std::string& value) { return value; }
    template <class T>
    requires std::is_arithmetic_v<T>
    static Json of(T value) { return value; }
    template <class T>
    requires std::is_enum_v<T>
    static Json of(T value) { return static_cast<int>(value); }
    template <class T>
    static Json of(const std::optional<T>& value) {
        return value ? of(*value) : Json();
    }
    template <class T>
    static Json of(const std::shared_ptr<const T>& value) {
        return value ? of(*value) : Json();
    }
    static Json of(const Bytes& bytes) { return Json::binary(bytes); }
    template <Number T>
    static Json of(const std::vector<T>& values) {
        return packed(values);
    }
    template <class T>
    static Json of(const std::vector<T>& values) {
        Json list = Json::array();
        for (const T& value : values) list.push_back(of(value));
        return list;
    }
    template <class T, class Less>
    static Json of(const std::map<std::string, T, Less>& values) {
        Json object = Json::object();
        for (const auto& [name, value] : values) object[name] = of(value);
        return object;
    }
    template <class... T>
    static Json of(const std::variant<T...>& value) {
        return Json::array({value.index(), std::visit([](const auto& held) { return of(held); }, value)});
    }
    template <Struct T>
    static Json of(const T& value) {
        Json list = Json::array();
        std::apply([&](const auto&... fields) { (list.push_back(of(fields)), ...); }, fields_of(value));
        return list;
    }
    static Json of(const std::vector<BusySpan>& spans) {
        std::vector<double> numbers;
        for (const BusySpan& span : spans)
            numbers.insert(numbers.end(), {static_cast<double>(span.worker), span.start_us, span.end_us});
        return packed(numbers);
    }
    // Launches of one kind share their info in messages, too.
    static Json of(const std::vector<LaunchRecord>& launches) {
        Json infos = Json::array(), records = Json::array();
        std::map<const LaunchInfo*, size_t> places;
        for (const auto& [info, start_us, duration_us, busy, tally, occupancy, counters] : launches) {
            const auto [place, is_new] = places.emplace(info.get(), places.size());
            if (is_new) infos.push_back(of(info));
            records.push_back(Json::array(
                {place->second, start_us, duration_us, of(busy), of(tally), of(occupancy), of(counters)}));
        }
        return Json::array({std::move(infos), std::move(records)});
    }
};

// The memory that decoding may take, together with the message: at most four times the size of the message.
// Short messages may contain short lists of large structs and get more.
int64_t memory_for(size_t message_bytes) {
    constexpr int64_t always = int64_t{64} << 20;
    return std::max(always, 3 * static_cast<int64_t>(message_bytes));
}

// The longest text of a worker that is kept: names, notes and errors are shorter, and laying out longer texts
// takes seconds.
constexpr size_t longest_text = 4096;

// Reads values directly into the structs, whose memory is counted before it is allocated. Each function
// returns whether the value had the expected type and fitted.
template <bool from_worker>
class Reader {
  public:
    explicit Reader(std::string_view message) : cursor_(message), memory_(memory_for(message.size())) {}

    bool at_end() const { return cursor_.at_end(); }
    bool is_out_of_memory() const { return memory_ < 0; }

    bool take(bool& to) { return assign(cursor_.boolean(), to); }
    bool take(std::string& to) {
        const auto text = cursor_.text();
        if (!text || !spend(text->size())) return false;
        to =
            from_worker ? printable(text->substr(0, longest_text)) : std::string(*text);  // a client shows it
        return true;
    }
    template <Number T>
    bool take(T& to) {
        return assign(cursor_.number(), to);
    }
    template <std::integral T>
    bool take(T& to) {
        const auto value = cursor_.integer();
        if (!value) return false;
        return std::visit(
            [&](auto held) {
                to = static_cast<T>(held);
                return std::in_range<T>(held);
            },
            *value);
    }
    template <class T>
    requires std::is_enum_v<T>
    bool take(T& to) {
        int value = 0;
        if (!take(value) || value < 0 || value > static_cast<int>(last_of<T>)) return false;
        to = static_cast<T>(value);
        return true;
    }
    template <class T>
    bool take(std::optional<T>& to) {
        to.reset();
        return cursor_.nil() || take(to.emplace());
    }
    template <class T>
    bool take(std::shared_ptr<const T>& to) {
        to.reset();
        if (cursor_.nil()) return true;
        if (!spend(sizeof(T))) return false;
        auto value = std::make_shared<T>();
        to = value;
        return take(*value);
    }
    bool take(Bytes& to) { return take_packed(to); }
    template <Number T>
    bool take(std::vector<T>& to) {
        return take_packed(to);
    }
    template <class T>
    bool take(std::vector<T>& to) {
        return take_list(to, [&](T& element) { return take(element); });
    }
    template <class T, class Less>
    bool take(std::map<std::string, T, Less>& to) {
        constexpr size_t node = 4 * sizeof(void*) + sizeof(std::pair<const std::string, T>);
        const auto count = cursor_.map();
        if (!count || !spend(*count * node)) return false;
        for (size_t i = 0; i < *count; ++i) {
            std::string name;
            if (!take(name) || !take(to[std::move(name)])) return false;
        }
        return true;
    }
    template <class... T>
    bool take(std::variant<T...>& to) {
        size_t index = 0;
        if (cursor_.list() != 2 || !take(index)) return false;
        const auto take_one = [&]<size_t place>(std::integral_constant<size_t, place>) {
            return place == index && take(to.template emplace<place>());
        };
        return [&]<size_t... places>(std::index_sequence<places...>) {
            return (take_one(std::integral_constant<size_t, places>()) || ...);
        }
        (std::index_sequence_for<T...>());
    }
    template <Struct T>
    bool take(T& to) {
        auto fields = fields_of(to);
        if (cursor_.list() != std::tuple_size_v<decltype(fields)>) return false;
        return std::apply([&](auto&... field) { return (take(field) && ...); }, fields);
    }
    bool take(std::vector<BusySpan>& to) {
        std::vector<double> numbers;
        if (!take_packed(numbers) || numbers.size() % 3 != 0) return false;
        to.reserve(numbers.size() / 3);
        for (size_t i = 0; i < numbers.size(); i += 3) {
            if (!(numbers[i] >= 0 && numbers[i] < 1 << 20)) return false;
            to.push_back({static_cast<int>(numbers[i]), numbers[i + 1], numbers[i + 2]});
        }
        return true;
    }
    bool take(std::vector<LaunchRecord>& to) {
        std::vector<std::shared_ptr<const LaunchInfo>> infos;
        if (cursor_.list() != 2 || !take(infos)) return false;
        return take_list(to, [&](LaunchRecord& record) {
            auto& [info, start_us, duration_us, busy, tally, occupancy, counters] = record;
            size_t place = 0;
            if (cursor_.list() != 7 || !take(place) || place >= infos.size() || !infos[place]) return false;
            info = infos[place];
            return take(start_us) && take(duration_us) && take(busy) && take(tally) && take(occupancy) &&
                   take(counters);
        });
    }

  private:
    // Counts memory before it is allocated; false if it is too much.
    bool spend(size_t bytes) {
        memory_ -= static_cast<int64_t>(bytes);
        return memory_ >= 0;
    }
    template <class From, class To>
    static bool assign(const std::optional<From>& value, To& to) {
        if (value) to = static_cast<To>(*value);
        return value.has_value();
    }
    template <class T, class TakeOne>
    bool take_list(std::vector<T>& to, TakeOne take_one) {
        const auto count = cursor_.list();
        if (!count || !spend(*count * sizeof(T))) return false;
        to.reserve(*count);
        for (size_t i = 0; i < *count; ++i)
            if (!take_one(to.emplace_back())) return false;
        return true;
    }
    template <class T>
    bool take_packed(std::vector<T>& to) {
        const auto bytes = cursor_.binary();
        if (!bytes || bytes->size() % sizeof(T) != 0 || !spend(bytes->size())) return false;
        to.resize(bytes->size() / sizeof(T));
        if (!to.empty()) std::memcpy(to.data(), bytes->data(), bytes->size());
        return true;
    }

    MessageCursor cursor_;
    int64_t memory_;
};

// Why the lists of a mark do not fit together, as drawing requires; "" if they do.
std::string mismatch_in(const Line& line) {
    if (line.y.size() != line.x.size()) return "a line with x and y of different lengths";
    if (!line.sets.values.empty() && line.sets.values.size() != line.x.size())
        return "a line that does not set one value per point";
    if (!line.wrong.empty() && line.wrong.size() != line.x.size())
        return "a line that does not mark every point as right or wrong";
    return "";
}

std::string mismatch_in(const Band& band) {
    const bool same = band.low.size() == band.x.size() && band.high.size() == band.x.size();
    return same ? "" : "a band with x, low and high of different lengths";
}

std::string mismatch_in(const HeatMap& map) {
    int64_t cells = 0;
    const bool same = map.rows >= 0 && map.columns >= 0 &&
                      !__builtin_mul_overflow(map.rows, map.columns, &cells) &&
                      std::cmp_equal(cells, map.values.size());
    if (!same) return "a heat map without rows x columns values";
    if (!map.texts.empty() && map.texts.size() != map.values.size())
        return "a heat map without one text per cell";
    for (const HeatMap::Framed& cell : map.framed)
        if (cell.row < 0 || cell.row >= map.rows || cell.column < 0 || cell.column >= map.columns)
            return "a heat map with a frame around a missing cell";
    const auto fits = [](const Setting& sets, int64_t count) {
        return sets.values.empty() || std::cmp_equal(sets.values.size(), count);
    };
    if (!fits(map.sets_x, map.columns) || !fits(map.sets_y, map.rows))
        return "a heat map that does not set one value per column and row";
    return "";
}

// If only rows or only columns have names, the cells must fill them; texts are optional.
std::string mismatch_in(const Matrix& matrix) {
    const size_t rows = matrix.row_labels.size(), columns = matrix.column_labels.size();
    const size_t cells = matrix.cells.size();
    const bool fits = rows > 0 && columns > 0 ? cells / rows == columns && cells % rows == 0
                                              : cells % std::max<size_t>(std::max(rows, columns), 1) == 0;
    if (!fits) return "a matrix whose cells do not fill its rows and columns";
    if (!matrix.texts.empty() && matrix.texts.size() != cells) return "a matrix without one text per cell";
    for (const int kind : matrix.cells)
        if (kind < -1 || std::cmp_greater_equal(kind, matrix.kinds.size()))
            return "a matrix with a cell of an unknown kind";
    return "";
}

std::string mismatch_in(const KindMap& map) {
    const size_t rows = map.row_names.size(), columns = map.column_names.size();
    const bool fits = rows == 0 || columns == 0
                          ? map.cells.empty()
                          : map.cells.size() / rows == columns && map.cells.size() % rows == 0;
    if (!fits) return "a map of kinds without rows x columns cells";
    for (const int kind : map.cells)
        if (kind < 0 || std::cmp_greater_equal(kind, map.kinds.size()))
            return "a map with a cell of an unknown kind";
    return "";
}

std::string mismatch_in(const Tree& tree) {
    for (const Tree::Edge& edge : tree.edges)
        for (const int end : {edge.from, edge.to})
            if (end < 0 || std::cmp_greater_equal(end, tree.nodes.size()))
                return "a tree with an edge to a missing node";
    return "";
}

std::string mismatch_in(const Tracks& tracks) {
    for (const Tracks::Track& track : tracks.tracks)
        if (track.y.size() != track.x.size()) return "a track with x and y of different lengths";
    return "";
}

std::string mismatch_in(const Bars&) { return ""; }
std::string mismatch_in(const Rule&) { return ""; }
std::string mismatch_in(const Note&) { return ""; }

// Why the figures of a message cannot be drawn; "" if they can, or if there are none.
template <class Message>
std::string mismatch_in_figures(const Message& message) {
    const auto figures = std::visit(
        [](const auto& held) {
            if constexpr (requires { held.figures; }) return held.figures;
            return std::shared_ptr<const std::vector<Figure>>();
        },
        message);
    if (!figures) return "";
    for (const Figure& figure : *figures)
        for (const Mark& mark : figure.marks) {
            const std::string words = std::visit([](const auto& one) { return mismatch_in(one); }, mark);
            if (!words.empty()) return "figure " + figure.id + " has " + words;
        }
    return "";
}

template <class Message>
std::string encoded(const Message& message) {
    std::string bytes;
    Json::to_msgpack(Writer::of(message), bytes);
    return bytes;
}

template <class Message>
Outcome<Message> decoded(std::string_view bytes) {
    Reader<std::is_same_v<Message, FromWorker>> reader(bytes);
    Message message;
    const bool whole = reader.take(message);
    if (reader.is_out_of_memory())
        return Error::failure(
            fmt::format("invalid message: its {} bytes decode to too many values", bytes.size()));
    if (!whole || !reader.at_end()) return Error::failure("invalid message: wrong fields for this version");
    if (const std::string words = mismatch_in_figures(message); !words.empty())
        return Error::failure("invalid message: " + words);
    return message;
}

template <class OneResult>
auto all_arrays(OneResult& result) {
    std::vector<decltype(&result.inputs.front())> all;
    const auto add = [&](auto& arrays) {
        for (auto& array : arrays) all.push_back(&array);
    };
    add(result.inputs);
    for (auto& variant : result.variants) add(variant.outputs);
    add(result.reference);
    return all;
}

}  // namespace

std::string encode(const ToWorker& message) { return encoded(message); }
std::string encode(const FromWorker& message) { return encoded(message); }
Outcome<ToWorker> decode_to_worker(std::string_view bytes) { return decoded<ToWorker>(bytes); }
Outcome<FromWorker> decode_from_worker(std::string_view bytes) { return decoded<FromWorker>(bytes); }

std::optional<std::string> version_refusal(const Hello& other) {
    if (other.protocol == protocol_version) return {};
    return "version mismatch: the other end is sawtooth " + other.program + " (protocol " +
           std::to_string(other.protocol) + "), this one is " + build_identity() + " (protocol " +
           std::to_string(protocol_version) + "); install the same version on both ends";
}

std::vector<Array*> arrays_of(Result& result) { return all_arrays(result); }
std::vector<const Array*> arrays_of(const Result& result) { return all_arrays(result); }

}  // namespace sawtooth
