#include "app/engine/messages.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/engine/message_fields.h"
#include "app/engine/wire.h"

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

template <Number T>
bool unpack(const Json& json, std::vector<T>& values) {
    if (!json.is_binary() || json.get_binary().size() % sizeof(T) != 0) return false;
    const Bytes& bytes = json.get_binary();
    values.resize(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return true;
}

// A struct is the list of its fields, a variant {index, value}, an absent value null.
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
    // Launches of one kind share their info, also in messages.
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

// Each function returns whether the value had the expected type.
template <bool from_worker>
struct Reader {
    static bool take(const Json& json, bool& to) {
        if (json.is_boolean()) to = json.get<bool>();
        return json.is_boolean();
    }
    static bool take(const Json& json, std::string& to) {
        if (!json.is_string()) return false;
        const std::string& text = json.get_ref<const std::string&>();
        to = from_worker ? printable(text) : text;  // a client prints it
        return true;
    }
    template <Number T>
    static bool take(const Json& json, T& to) {
        if (json.is_number()) to = json.get<T>();
        return json.is_number();
    }
    template <std::integral T>
    static bool take(const Json& json, T& to) {
        if (json.is_number_unsigned()) {
            const auto value = json.get<uint64_t>();
            to = static_cast<T>(value);
            return std::in_range<T>(value);
        }
        if (!json.is_number_integer()) return false;
        const auto value = json.get<int64_t>();
        to = static_cast<T>(value);
        return std::in_range<T>(value);
    }
    template <class T>
    requires std::is_enum_v<T>
    static bool take(const Json& json, T& to) {
        int value = 0;
        if (!take(json, value) || value < 0 || value > static_cast<int>(last_of<T>)) return false;
        to = static_cast<T>(value);
        return true;
    }
    template <class T>
    static bool take(const Json& json, std::optional<T>& to) {
        to.reset();
        if (json.is_null()) return true;
        T value{};
        if (!take(json, value)) return false;
        to = std::move(value);
        return true;
    }
    template <class T>
    static bool take(const Json& json, std::shared_ptr<const T>& to) {
        if (json.is_null()) return true;
        auto value = std::make_shared<T>();
        to = value;
        return take(json, *value);
    }
    static bool take(const Json& json, Bytes& to) {
        if (json.is_binary()) to = json.get_binary();
        return json.is_binary();
    }
    template <Number T>
    static bool take(const Json& json, std::vector<T>& to) {
        return unpack(json, to);
    }
    template <class T>
    static bool take(const Json& json, std::vector<T>& to) {
        if (!json.is_array()) return false;
        for (const Json& element :
             json)  // one at a time: a wrong type must not allocate memory for the whole list
            if (!take(element, to.emplace_back())) return false;
        return true;
    }
    template <class T, class Less>
    static bool take(const Json& json, std::map<std::string, T, Less>& to) {
        if (!json.is_object()) return false;
        for (const auto& [name, value] : json.items())
            if (!take(value, to[from_worker ? printable(name) : name])) return false;
        return true;
    }
    template <class... T>
    static bool take(const Json& json, std::variant<T...>& to) {
        size_t index = 0;
        if (!json.is_array() || json.size() != 2 || !take(json[0], index)) return false;
        const auto take_one = [&]<size_t place>(std::integral_constant<size_t, place>) {
            std::variant_alternative_t<place, std::variant<T...>> held{};
            if (place != index || !take(json[1], held)) return false;
            to = std::variant<T...>(std::in_place_index<place>, std::move(held));
            return true;
        };
        return [&]<size_t... places>(std::index_sequence<places...>) {
            return (take_one(std::integral_constant<size_t, places>()) || ...);
        }
        (std::index_sequence_for<T...>());
    }
    template <Struct T>
    static bool take(const Json& json, T& to) {
        auto fields = fields_of(to);
        if (!json.is_array() || json.size() != std::tuple_size_v<decltype(fields)>) return false;
        size_t next = 0;
        return std::apply([&](auto&... field) { return (take(json[next++], field) && ...); }, fields);
    }
    static bool take(const Json& json, std::vector<BusySpan>& to) {
        std::vector<double> numbers;
        if (!unpack(json, numbers) || numbers.size() % 3 != 0) return false;
        for (size_t i = 0; i < numbers.size(); i += 3) {
            if (!(numbers[i] >= 0 && numbers[i] < 1 << 20)) return false;
            to.push_back({static_cast<int>(numbers[i]), numbers[i + 1], numbers[i + 2]});
        }
        return true;
    }
    static bool take(const Json& json, std::vector<LaunchRecord>& to) {
        std::vector<std::shared_ptr<const LaunchInfo>> infos;
        if (!json.is_array() || json.size() != 2 || !take(json[0], infos) || !json[1].is_array())
            return false;
        for (const Json& record : json[1]) {
            auto& [info, start_us, duration_us, busy, tally, occupancy, counters] = to.emplace_back();
            size_t place = 0;
            if (!record.is_array() || record.size() != 7 || !take(record[0], place) ||
                place >= infos.size() || !infos[place])
                return false;
            info = infos[place];
            if (!take(record[1], start_us) || !take(record[2], duration_us) || !take(record[3], busy) ||
                !take(record[4], tally) || !take(record[5], occupancy) || !take(record[6], counters))
                return false;
        }
        return true;
    }
};

// Why the lists of a mark do not fit together, on which drawing relies; "" if they do.
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
    return same ? "" : "a heat map without rows x columns values";
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

// Why the figures of a message cannot be drawn; "" if they can or if there are none.
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
Outcome<Message> decoded(std::string_view bytes) try {
    if (const auto refusal = message_refusal(bytes)) return Error::failure("invalid message: " + *refusal);
    const Json json = Json::from_msgpack(bytes.begin(), bytes.end(), true, false);
    Message message;
    if (json.is_discarded() || !Reader<std::is_same_v<Message, FromWorker>>::take(json, message))
        return Error::failure("invalid message: wrong fields for this version");
    if (const std::string words = mismatch_in_figures(message); !words.empty())
        return Error::failure("invalid message: " + words);
    return message;
} catch (const std::bad_alloc&) {
    return Error::failure("out of memory for a message of " + std::to_string(bytes.size()) + " bytes");
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
    if (other.program == SAWTOOTH_VERSION && other.protocol == protocol_version) return {};
    return "version mismatch: the other end is sawtooth " + other.program + " (protocol " +
           std::to_string(other.protocol) + "), this one is " + SAWTOOTH_VERSION + " (protocol " +
           std::to_string(protocol_version) + "); install the same version on both ends";
}

std::vector<Array*> arrays_of(Result& result) { return all_arrays(result); }
std::vector<const Array*> arrays_of(const Result& result) { return all_arrays(result); }

}  // namespace sawtooth
