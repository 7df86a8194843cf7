#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sawtooth {

// A refused configuration, in the words that tooltips and standard error show.
struct Refusal {
    std::string argument;  // a parameter, an option, an array of a file
    std::string value;     // as given
    std::string accepted;  // what is accepted, or what to do instead

    std::string sentence() const { return argument + (value.empty() ? "" : " = " + value) + ": " + accepted; }
};

// An error. Its kind decides the exit code (0 done, 1 failure, 2 usage, 130 cancelled).
struct Error {
    enum class Kind { failure, usage, cancelled };
    Kind kind = Kind::failure;
    std::string text;

    static Error failure(std::string text) { return {Kind::failure, std::move(text)}; }
    static Error usage(std::string text) { return {Kind::usage, std::move(text)}; }
    static Error usage(const Refusal& refusal) { return {Kind::usage, refusal.sentence()}; }
    static Error cancelled() { return {Kind::cancelled, "cancelled"}; }
    int exit_code() const { return kind == Kind::failure ? 1 : kind == Kind::usage ? 2 : 130; }
};

// A value, or the Error that prevented it.
template <class T>
class Outcome {
  public:
    Outcome(T value) : held_(std::move(value)) {}
    Outcome(Error error) : held_(std::move(error)) {}

    explicit operator bool() const { return std::holds_alternative<T>(held_); }
    T& operator*() { return std::get<T>(held_); }
    const T& operator*() const { return std::get<T>(held_); }
    T* operator->() { return &std::get<T>(held_); }
    const T* operator->() const { return &std::get<T>(held_); }
    const Error& error() const { return std::get<Error>(held_); }

  private:
    std::variant<T, Error> held_;
};

}  // namespace sawtooth
