// Lines of files from many places: which stretches of them a block has, and the lines that begin there, read one behind
// the other into one room.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

namespace perceptive {

// Where the stretches of block `number` begin and stop, of `blocks` blocks: files are laid end to end, file f from
// starts[f] to starts[f + 1], and cut into `parts` parts of `blocks` pieces each. A block has one piece of every part,
// and goes through the parts in steps of `step` pieces, which has no factor in common with their number.
struct Stretch {
    std::size_t file;
    std::int64_t begin, stop;
};

inline std::vector<Stretch> stretches(const std::vector<std::int64_t>& starts, std::int64_t number, std::int64_t blocks,
                                      std::int64_t parts, std::int64_t step) {
    using Wide = __int128;  // of products with the size of all files
    const std::int64_t total = starts.back();
    const auto place = [&](std::int64_t piece) {
        return static_cast<std::int64_t>(Wide{piece} * total / (Wide{parts} * blocks));
    };
    std::vector<Stretch> found;
    for (std::int64_t part = 0; part < parts; ++part) {
        const auto turn = static_cast<std::int64_t>(Wide{number + part} * step % blocks);
        const std::int64_t piece = part * blocks + turn, end = place(piece + 1);
        std::int64_t begin = place(piece);
        auto file =
            static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), begin) - starts.begin() - 1);
        for (; begin < end; ++file) {
            const std::int64_t stop = std::min(end, starts[file + 1]);
            if (begin < stop) found.push_back({file, begin - starts[file], stop - starts[file]});
            begin = std::max(begin, stop);
        }
    }
    return found;
}

class PieceReader {
  public:
    using i64 = std::int64_t;

    struct Span {
        int descriptor;
        i64 begin, stop;
    };

    struct Piece {
        std::size_t span;
        i64 at, offset;  // in the room, in the file
    };

    // `slack`: bytes that are read beyond a span at first, where its last line ends.
    PieceReader(char* room, i64 size, i64 filled, i64 slack)
        : filled(filled), room_(room), size_(size), slack_(slack) {}

    // Adds the lines that begin in a span; false, and nothing, where they do not fit. A line break is added behind the
    // last line of a file that lacks it.
    bool add(const Span& span, std::size_t number) {
        const i64 first = first_line(span);
        if (first < 0) return true;
        const i64 last = std::max<i64>(0, span.stop - 1 - first);  // the last line does not end before
        i64 known = 0, wanted = last + slack_;
        while (true) {
            if (wanted >= size_ - filled) return false;
            const i64 got = read(span.descriptor, first + known, room_ + filled + known, wanted - known);
            const i64 from = std::max(known, last);
            known += got;
            if (known > from) {
                const void* found = std::memchr(room_ + filled + from, '\n', static_cast<std::size_t>(known - from));
                if (found) return keep(number, first, static_cast<const char*>(found) + 1 - (room_ + filled));
            }
            if (known < wanted) break;  // the file has ended
            wanted *= 2;
        }
        if (known == 0) return true;  // it has become shorter
        if (room_[filled + known - 1] != '\n') room_[filled + known++] = '\n';
        return keep(number, first, known);
    }

    i64 filled;
    std::vector<Piece> pieces;

  private:
    bool keep(std::size_t number, i64 offset, i64 size) {
        pieces.push_back({number, filled, offset});
        filled += size;
        return true;
    }

    // Where the first line begins that begins in a span, behind a byte order mark; -1 where none does.
    static i64 first_line(const Span& span) {
        static constexpr std::string_view MARK = "\xef\xbb\xbf";
        std::array<char, 2048> text;
        if (span.begin == 0) {
            const i64 got = read(span.descriptor, 0, text.data(), static_cast<i64>(MARK.size()));
            return std::string_view(text.data(), static_cast<std::size_t>(got)) == MARK ? got : 0;
        }
        for (i64 at = span.begin - 1; at < span.stop - 1;) {  // the byte before tells whether one begins at the begin
            const i64 got = read(span.descriptor, at, text.data(), std::min<i64>(text.size(), span.stop - 1 - at));
            if (got == 0) break;
            if (const void* found = std::memchr(text.data(), '\n', static_cast<std::size_t>(got)))
                return at + 1 + (static_cast<const char*>(found) - text.data());
            at += got;
        }
        return -1;
    }

    // As many bytes as there are, at most `size`.
    static i64 read(int descriptor, i64 offset, char* to, i64 size) {
        i64 got = 0;
        while (got < size) {
            const auto more = pread(descriptor, to + got, static_cast<std::size_t>(size - got), offset + got);
            if (more < 0 && errno == EINTR) continue;
            if (more < 0) throw std::system_error(errno, std::generic_category());
            if (more == 0) break;
            got += more;
        }
        return got;
    }

    char* room_;
    i64 size_, slack_;
};

}  // namespace perceptive
