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

}  // namespace

void bind_pieces(nb::module_& m) {
    m.def("read_lines", read_lines, "room"_a, "filled"_a, "spans"_a, "slack"_a,
          "Read the lines that begin in spans of files (descriptor, begin, stop) into the room, behind what fills it. "
          "Returns how many spans fitted, what fills the room now, and the pieces: span, place in the room, offset.");
}

}  // namespace perceptive
