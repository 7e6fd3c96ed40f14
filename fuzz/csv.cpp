#include "formats/csv.hpp"

#include "fuzz.hpp"

using namespace perceptive;

// The header is that of the file: columns named label, text, id and kind are what they say.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view text = text_of(data, size);
    CsvOptions options{
        feature_options(*data), text_reading(*data), {',', size % 8 != 0}, {}, static_cast<LabelReading>(*data >> 6)};
    options.dialect.delimiter = csv_delimiter(text, true, options.dialect.quotes);
    demand(options.dialect.delimiter != '\0', "there is always a delimiter");
    try {
        const CsvHeader header = csv_header(text, options.dialect);
        for (const std::string& name : header.names)
            options.columns.emplace_back(name, name == "label"  ? CsvColumn::label
                                               : name == "text" ? CsvColumn::text
                                               : name == "id"   ? CsvColumn::ignored
                                               : name == "kind" ? CsvColumn::categorical
                                                                : CsvColumn::any);
        text.remove_prefix(header.size);
    } catch (const BadLine& bad) {
        demand(bad.at >= text.data() && bad.at <= text.data() + text.size(), "complaints lie within the file");
        return 0;
    }
    return fuzz<CsvParser>(text, options, [&](std::string_view some) { return csv_whole(some, options.dialect); });
}
