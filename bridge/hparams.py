"""`HParams`: named hyperparameters with types, which a command line can override.

`tf.contrib.training.HParams` went away with contrib, and half of the old training programs keep their settings in one.
This is the same class by its behaviour: attributes, `parse`, `values`, JSON. Protocol buffers are not written.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bridge.errors import HParamsError, nearest_names

# `name=value`, `name[3]=value` or `name=[a,b]`, and the comma behind it.
_PAIR = re.compile(
    r"\s*(?P<name>[a-zA-Z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:\[(?P<values>[^\]]*)\]|(?P<value>[^,\[]*))(?:,|$)"
)


class HParams:
    """Hyperparameters as attributes, each with the type of its first value.

    Stands for `tf.contrib.training.HParams`.

    Args:
      hparam_def: Not supported: a protocol buffer that TensorFlow no longer ships. Must be None.
      model_structure: Kept for `get_model_structure`.
      **kwargs: Name and value of each: numbers, strings, truth values, None, or not empty lists of such.

    Raises:
      HParamsError: If a name is taken by a method, or a list is empty.
    """

    def __init__(self, hparam_def: None = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise HParamsError(
                "HParams cannot be made of a HParamDef protocol buffer any more. Keep the values as JSON: "
                "HParams(**json.loads(text))."
            )
        self._types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds one, of the type that its value has.

        Raises:
          HParamsError: If there is an attribute of that name, or the value is an empty list.
        """
        if getattr(self, name, None) is not None:
            raise HParamsError(f"Hyperparameter name is reserved: {name}. Choose another one.")
        several = isinstance(value, list | tuple)
        if several and not value:
            raise HParamsError(
                f"Multi-valued hyperparameters cannot be empty: {name}. The first value gives the type."
            )
        self._types[name] = (type(value[0]) if several else type(value), several)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Changes the value of one that there is.

        Raises:
          KeyError: If there is none of that name.
          HParamsError: If the value is of another type.
        """
        kind, several = self._type_of(name)
        if isinstance(value, list) != several:
            wanted, given = ("a list", "multi") if several else ("no list", "single")
            raise HParamsError(f"Pass {wanted} for the {given}-valued hyperparameter {name}, not {value!r}.")
        setattr(self, name, [_cast(name, kind, v) for v in value] if several else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes one, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> HParams:
        """Overrides values from a text such as `rate=0.1,layers=[10,20],layers[1]=30,relu=true`.

        Returns:
          The object itself.

        Raises:
          HParamsError: If the text cannot be read, names an unknown hyperparameter, or has a value of another type.
        """
        new: dict[str, Any] = {}
        for name, index, texts in _pairs(values):
            if name not in self._types:
                raise HParamsError(f"Unknown hyperparameter {name}. {nearest_names(name, self._types)}")
            kind, several = self._types[name]
            parsed = [_read(name, kind, text) for text in texts] if isinstance(texts, list) else None
            if index is not None:
                new.setdefault(name, list(getattr(self, name)) if several else getattr(self, name))
                self._put(new[name], name, index, _read(name, kind, str(texts)))
            elif name in new:
                raise HParamsError(
                    f"The hyperparameter {name} is assigned twice in {values!r}. Give it once."
                )
            elif parsed is not None:
                new[name] = parsed
            else:
                new[name] = _read(name, kind, str(texts))
        return self.override_from_dict(new)

    def _put(self, values: Any, name: str, index: int, value: Any) -> None:
        if not isinstance(values, list) or index >= len(values):
            raise HParamsError(
                f"There is no {name}[{index}]: {name} is {values!r}. Assign the whole, {name}=[…]."
            )
        values[index] = value

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Overrides values; see `set_hparam`. Returns the object itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """The old name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def parse_json(self, values_json: str) -> HParams:
        """Overrides values from a JSON object; see `set_hparam`. Returns the object itself."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Writes the values as a JSON object; the arguments are those of `json.dumps`."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """Returns all of them, by name."""
        return {name: getattr(self, name) for name in self._types}

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of one, or `default` if there is none of that name.

        Raises:
          HParamsError: If there is one, and `default` is of another type.
        """
        if key not in self._types:
            return default
        kind, several = self._types[key]
        if default is not None:
            if isinstance(default, list) != several:
                raise HParamsError(
                    f"The default {default!r} for the hyperparameter {key} is of another kind than its value "
                    f"{getattr(self, key)!r}. Pass one of the same kind."
                )
            for value in default if several else [default]:
                _cast(key, kind, value)
        return getattr(self, key)

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps an object of the program's own."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """Returns what `set_model_structure` kept."""
        return self._model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there.
        known = self.__dict__.get("_types", {})
        raise AttributeError(f"There is no hyperparameter {name}. {nearest_names(name, known)}")

    def _type_of(self, name: str) -> tuple[type, bool]:
        if name not in self._types:
            raise KeyError(name)
        return self._types[name]


def _pairs(text: str) -> Iterator[tuple[str, int | None, str | list[str]]]:
    """Name, index and text of each assignment."""
    position = 0
    while position < len(text):
        found = _PAIR.match(text, position)
        if found is None:
            raise HParamsError(
                f"Malformed hyperparameters at {text[position:]!r}. Write name=value, name[0]=value or name=[a,b], "
                "with commas between."
            )
        position = found.end()
        index = found["index"]
        if found["values"] is not None:
            if index is not None:
                raise HParamsError(
                    f"A list cannot be put into one place of a list: {found[0]!r}. Leave the index out."
                )
            yield found["name"], None, [v.strip() for v in found["values"].split(",") if v.strip()]
        else:
            yield found["name"], int(index) if index is not None else None, found["value"]


def _read(name: str, kind: type, text: str) -> Any:
    """The value that a text stands for in a hyperparameter of a type."""
    reader: Callable[[str], Any] = _read_bool if issubclass(kind, bool) else kind
    try:
        return text if kind is type(None) else reader(text)
    except ValueError as error:
        raise HParamsError(
            f"The hyperparameter {name} is of type {kind.__name__}; {text!r} is not. Give one that is."
        ) from error


def _read_bool(text: str) -> bool:
    if text in ("true", "True"):
        return True
    if text in ("false", "False"):
        return False
    return bool(int(text))


def _cast(name: str, kind: type, value: Any) -> Any:
    """The value in the hyperparameter's type, if nothing is lost by that."""
    if kind is type(None):
        return value
    fits = (
        isinstance(value, bool) == issubclass(kind, bool)
        and (not issubclass(kind, str | bytes) or isinstance(value, str | bytes))
        and (not issubclass(kind, numbers.Integral) or isinstance(value, numbers.Integral))
        and (not issubclass(kind, numbers.Number) or isinstance(value, numbers.Number))
    )
    if not fits:
        raise HParamsError(
            f"The hyperparameter {name} is of type {kind.__name__}; {value!r} is a {type(value).__name__}. "
            "Give one of its type."
        )
    return kind(value)
