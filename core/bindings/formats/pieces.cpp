// Lines of files from many places.
#include "formats/pieces.hpp"

#include "bindings/arrays.hpp"

namespace perceptive {

namespace {

using Span = std::tuple<int, std::int64_t, std::int64_t>;
using Piece = std::tuple<std::size_t, std::int64_t, std::int64_t>;

std::tuple<std::size_t, std::int64_t, std::vector<Piece>> read_lines(nb::bytearray room, std::int64_t filled,
                                                                     const std::vector<Span>& spans,
                                                                     std::int64_t slack) {
    const auto size = static_cast<std::int64_t>(room.size());
    require(filled >= 0 && filled <= size && slack > 0, "the room is not so large");
    for (const auto& [descriptor, begin, stop] : spans)
        require(begin >= 0 && begin <= stop && stop < (std::int64_t{1} << 62), "a span has no place in a file");
    PieceReader reader(static_cast<char*>(room.data()), size, filled, slack);
    std::size_t taken = 0;
    try {
        nb::gil_scoped_release release;
        for (const auto& [descriptor, begin, stop] : spans) {
            if (!reader.add({descriptor, begin, stop}, taken)) break;
            ++taken;
        }
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrno(PyExc_OSError);
        throw nb::python_error();
    }
    std::vector<Piece> pieces;
    for (const auto& [span, at, offset] : reader.pieces) pieces.emplace_back(span, at, offset);
    return {taken, reader.filled, std::move(pieces)};
}

std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>> mixed_spans(const std::vector<std::int64_t>& starts,
                                                                             std::int64_t number, std::int64_t blocks,
                                                                             std::int64_t parts, std::int64_t step) {
    require(starts.size() > 1 && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()),
            "files begin one behind the other, the first at 0");
    require(starts.back() < (std::int64_t{1} << 62) && number >= 0 && blocks > 0 && number < blocks && parts > 0 &&
                blocks < (std::int64_t{1} << 40) && parts < (std::int64_t{1} << 20) && step > 0 &&
                step <= 2 * blocks + 1,
            "there is no such block");
    std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>> found;
    for (const auto& [file, begin, stop] : stretches(starts, number, blocks, parts, step))
        found.emplace_back(file, begin, stop);
    return found;
}

}  // namespace

void bind_pieces(nb::module_& m) {
    m.def("mixed_spans", mixed_spans, "starts"_a, "number"_a, "blocks"_a, "parts"_a, "step"_a,
          "Where the pieces of a block lie in files that begin at these places: file, begin, stop.");
    m.def("read_lines", read_lines, "room"_a, "filled"_a, "spans"_a, "slack"_a,
          "Read the lines that begin in spans of files (descriptor, begin, stop) into the room, behind what fills it. "
          "Returns how many spans fitted, what fills the room now, and the pieces: span, place in the room, offset.");
}

}  // namespace perceptive
