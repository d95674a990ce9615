"""A file's bytes come back as they were, or the file is refused with the place."""

from __future__ import annotations

import codecs

import pytest

from codemod.source import SourceError, decode


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1\n",
        codecs.BOM_UTF8 + b"x = 1\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\nx = '\x80'\n",
        b"# coding: latin-1\rx = '\xe9'\r",
        b"a\r\nb\rc\nd\x0c\n\x0b",
        "x = 'ä'".encode(),
    ],
)
def test_bytes_come_back(data: bytes) -> None:
    source = decode(data)
    assert source.encode(source.text) == data


def test_an_encoding_is_the_cookies() -> None:
    assert decode(b"# coding: latin-1\nx = '\xe9'\n").text.endswith("'é'\n")


@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        (b"# coding: klingon\n", "unknown encoding", 1),
        (b"a = 1\nb = '\xff'\n", "0xff is not utf-8", 2),
        (b"a = 1\r\rb = '\xff'\r", "0xff is not utf-8", 3),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "encoding problem", 1),
    ],
)
def test_what_cannot_be_decoded_is_refused_with_its_line(data: bytes, words: str, line: int) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        decode(data)
    assert caught.value.line == line


def test_a_character_that_the_encoding_lacks_is_an_error_of_its_own() -> None:
    with pytest.raises(SourceError, match="cannot be written in iso8859-1"):
        decode(b"# coding: latin-1\n").encode("# coding: latin-1\n€")
