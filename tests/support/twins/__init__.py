"""The twins of the parsers and of text features: the tests hold `core/formats` and `core/text` equal to them."""
