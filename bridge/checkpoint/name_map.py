"""`name_map` in its three forms, made into one: from a variable's v1 name to where it is in the checkpoint.

The documented direction is from the model's names to the checkpoint's. A dict and a list of regex pairs may also be
written the other way round, where the names themselves leave no doubt which way it is.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from bridge.checkpoint.converters import Converted
from bridge.errors import NameMapError

Source: TypeAlias = "str | Converted | None"
NameMap: TypeAlias = (
    "Mapping[str, Source] | Sequence[tuple[str, str | None]] | Callable[[str], Source | None] | None"
)


class Renaming:
    """A `name_map`, applied to the names of one model and one checkpoint.

    Attributes:
      chosen: From the names that the map speaks of to their sources; None leaves the variable out.
      left_out: Entries of the checkpoint that the map leaves out.
      unused: Parts of the map that fit no name.
    """

    def __init__(
        self, name_map: NameMap, ours: Collection[str], theirs: Collection[str], loose: Collection[str] = ()
    ) -> None:
        """Applies the map.

        Args:
          name_map: What the user gave.
          ours: Names of the model's variables.
          theirs: Names in the checkpoint.
          loose: Those of `ours` that a pattern or function may change by chance, as it is about weights: a change
            counts only if it leads to an entry.

        Raises:
          NameMapError: if the map is of no known form, or its direction or result is ambiguous.
        """
        self.chosen: dict[str, Source] = {}
        self.left_out: set[str] = set()
        self.unused: list[str] = []
        self._ours, self._loose = set(ours), set(loose)
        self._theirs = theirs if isinstance(theirs, _Everything) else frozenset(theirs)
        if name_map is None:
            return
        if isinstance(name_map, Mapping):
            self._take_dict(name_map)
        elif callable(name_map):
            self._take_changes({name: self._called(name_map, name) for name in ours})
        else:
            self._take_pairs(_compiled(name_map))

    def _take_dict(self, entries: Mapping[str, Source]) -> None:
        bad = [f"{k!r}: {v!r}" for k, v in entries.items() if not _is_entry(k, v)]
        if bad:
            raise NameMapError(
                f"name_map has {bad[0]}. Keys are names; values are names, None or bridge.checkpoint.Converted."
            )
        onward = [k for k, v in entries.items() if k in self._ours and self._is_source(v)]
        back = [k for k, v in entries.items() if k in self._theirs and (v is None or v in self._ours)]
        only_onward, only_back = [k for k in onward if k not in back], [k for k in back if k not in onward]
        if only_onward and only_back:
            raise NameMapError(
                f"name_map goes both ways: {only_onward[0]!r} is a name of the model, {only_back[0]!r} one of the "
                "checkpoint. Write every entry as model's name: checkpoint's name."
            )
        for key, value in entries.items():
            if only_back:
                self._take_back(key, value)
            elif key in self._ours:
                self.chosen[key] = value
            else:
                self.unused.append(key)

    def _take_back(self, theirs: str, ours: Source) -> None:
        if theirs not in self._theirs or (ours is not None and ours not in self._ours):
            self.unused.append(theirs)
        elif ours is None:
            self.left_out.add(theirs)
        else:
            assert isinstance(ours, str)  # A Converted is in no set of names.
            self._add_reversed(ours, theirs)

    def _take_pairs(self, pairs: Sequence[tuple[re.Pattern[str], str | None]]) -> None:
        changes = {name: _substituted(pairs, name) for name in self._ours}
        self._take_changes(changes)
        self.left_out.update(name for name in self._theirs if _substituted(pairs, name) is None)
        if any(name in self._theirs for name in self.chosen.values()):
            return
        back = {theirs: _substituted(pairs, theirs) for theirs in sorted(self._theirs)}
        back = {theirs: ours for theirs, ours in back.items() if ours != theirs and ours in self._ours}
        if back:
            self.chosen = {name: None for name, source in self.chosen.items() if source is None}
            for theirs, ours in back.items():
                assert ours is not None
                self._add_reversed(ours, theirs)
        elif not self.chosen and not self.left_out:
            self.unused.extend(pattern.pattern for pattern, _ in pairs)

    def _take_changes(self, changes: Mapping[str, Source]) -> None:
        for name, source in changes.items():
            if source != name and (name not in self._loose or source is None or self._is_source(source)):
                self.chosen[name] = source

    def _add_reversed(self, ours: str, theirs: str) -> None:
        if ours in self.chosen:
            raise NameMapError(
                f"name_map sends two entries of the checkpoint to {ours!r}: {self.chosen[ours]!r} and {theirs!r}."
            )
        self.chosen[ours] = theirs

    def _is_source(self, value: Source) -> bool:
        return not isinstance(value, str) or value in self._theirs or f"{value}/part_0" in self._theirs

    @staticmethod
    def _called(function: Callable[[str], Source], name: str) -> Source:
        source = function(name)
        if not _is_entry(name, source):
            raise NameMapError(
                f"name_map({name!r}) returned {source!r}. Return a name of the checkpoint, None to leave the variable "
                "out, or bridge.checkpoint.Converted."
            )
        return source


def renamed(name_map: NameMap, ours: Collection[str]) -> dict[str, str | None]:
    """Applies a map for writing, where there is no checkpoint yet.

    Args:
      name_map: What the user gave; a dict may be written either way.
      ours: Names of the model's variables.

    Returns:
      From each of `ours` to the name to write, or None to leave it out.

    Raises:
      NameMapError: if two variables get one name, or the map holds conversions, which go one way only.
    """
    if isinstance(name_map, Mapping) and name_map and not any(key in ours for key in name_map):
        name_map = {value: key for key, value in name_map.items() if isinstance(value, str)}
    # Every name counts as one of the checkpoint, so that every change is taken.
    chosen = Renaming(name_map, ours, _Everything()).chosen
    result: dict[str, str | None] = {}
    for name in ours:
        source = chosen.get(name, name)
        if isinstance(source, Converted):
            raise NameMapError(f"name_map converts {name!r}; conversions go from TF1 to Keras only.")
        result[name] = source
    counts = collections.Counter(target for target in result.values() if target is not None)
    twice = sorted(target for target, count in counts.items() if count > 1)
    if twice:
        raise NameMapError(f"name_map gives two variables the name {twice[0]!r}.")
    return result


class _Everything(frozenset[str]):
    """A set of names that holds every name, and lists none."""

    def __contains__(self, name: object) -> bool:
        return True


def _is_entry(key: Any, value: Any) -> bool:
    return isinstance(key, str) and (value is None or isinstance(value, (str, Converted)))


def _compiled(pairs: Any) -> list[tuple[re.Pattern[str], str | None]]:
    try:
        compiled = [(re.compile(pattern), replacement) for pattern, replacement in pairs]
    except (TypeError, ValueError, re.error) as error:
        raise NameMapError(
            f"name_map is {pairs!r} ({error}). Give a dict, a list of (regex, replacement) pairs, or a function."
        ) from error
    for pattern, replacement in compiled:
        if not (replacement is None or isinstance(replacement, str)):
            raise NameMapError(
                f"name_map replaces {pattern.pattern!r} by {replacement!r}. Give a string or None."
            )
    return compiled


def _substituted(pairs: Sequence[tuple[re.Pattern[str], str | None]], name: str) -> str | None:
    for pattern, replacement in pairs:
        if replacement is not None:
            name = pattern.sub(replacement, name)
        elif pattern.search(name):
            return None
    return name
