"""A file's bytes as text and back: encodings by PEP 263, byte-order mark, line ends as they are.

Nothing is normalised. A text is only worth rewriting if it encodes to the very bytes that it was decoded from; the few
stateful encodings for which that fails are refused.
"""

from __future__ import annotations

import codecs
import re
import tokenize
from dataclasses import dataclass

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class SourceError(Exception):
    """A file that cannot be understood.

    Attributes:
      reason: What is the matter, in words.
      line: Where, counted from 1; 0 if that is unknown.
      column: Where in the line, counted from 1; 0 if that is unknown.
    """

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded file.

    Attributes:
      text: Its text, without the byte-order mark, with its own line ends.
      encoding: The codec's name.
      bom: Whether the bytes begin with a UTF-8 byte-order mark.
    """

    text: str
    encoding: str
    bom: bool

    def encode(self, text: str) -> bytes:
        """Encodes a new text as the file was.

        Raises:
          SourceError: If the encoding has no bytes for a character.
        """
        try:
            return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)
        except UnicodeError as error:
            raise SourceError(f"the new text cannot be written in {self.encoding}: {error}") from error


def decode(data: bytes) -> Source:
    """Decodes a Python file as Python itself would.

    Raises:
      SourceError: If the coding cookie is unknown or wrong, or the bytes do not fit it.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    encoding = _encoding(data)
    body = data[3:] if bom else data
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", body[: error.start])) + 1
        raise SourceError(
            f"byte 0x{body[error.start]:02x} is not {encoding}; a line '# -*- coding: <name> -*-' says which encoding it is",
            line,
        ) from error
    except (UnicodeError, LookupError, ValueError) as error:
        raise SourceError(f"cannot be decoded as {encoding}: {error}") from error
    source = Source(text, encoding, bom)
    try:
        faithful = source.encode(text) == data
    except SourceError:
        faithful = False
    if not faithful:
        raise SourceError(
            f"the encoding {encoding} does not give back the same bytes, so nothing can be rewritten in it"
        )
    return source


def decode_utf8(data: bytes) -> Source:
    """Decodes a notebook, which is JSON and so UTF-8.

    Raises:
      SourceError: If it is not UTF-8.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        return Source((data[3:] if bom else data).decode("utf-8"), "utf-8", bom)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SourceError(
            f"byte 0x{data[error.start]:02x} is not UTF-8, which a notebook must be", line
        ) from error


def _encoding(data: bytes) -> str:
    """The codec of a file. Python looks for the cookie in the first two lines, whichever line ends they have."""
    lines = [
        match.group().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        for match, _ in zip(_LINE.finditer(data), range(2), strict=False)
    ]
    feed = iter([*lines, b"", b"", b""])
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(feed, b""))
    except SyntaxError as error:
        reason = str(error).replace(" for 'None'", "")
        if "invalid or missing encoding declaration" in reason:
            return "utf-8"  # The decoder says it better, with the line.
        raise SourceError(f"{reason}; correct the coding line", 1) from error
    try:
        return "utf-8" if encoding == "utf-8-sig" else codecs.lookup(encoding).name
    except LookupError as error:  # pragma: no cover - detect_encoding has looked it up before
        raise SourceError(f"unknown encoding: {encoding}", 1) from error
