# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The options of a module that manages one of many things: those for one thing, or a list of things with the same options.

The list has the plural of the thing's name, which is also the key of the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Options = Mapping[str, Any]


@dataclass(frozen=True)
class OneOrMany:
    """
    ``many``: the name of the list. ``one``: the options of one thing, without ``state``.

    ``exclusive``: each a pair of options that exclude each other. ``states``: the desired states; a thing is present if
    nothing else is specified, and a choice of others has no default.
    """

    many: str
    one: Options
    exclusive: tuple[tuple[str, str], ...] = ()
    states: tuple[str, ...] = ("present", "absent")

    @property
    def arguments(self) -> dict[str, Any]:
        """The options of the module. The state of the module is the default of the state of an item."""
        state: dict[str, Any] = {"type": "str", "choices": [*self.states]}
        default = {"default": "present"} if "present" in self.states else {}
        items = {
            "type": "list",
            "elements": "dict",
            "options": {**self.one, "state": state},
            "mutually_exclusive": list(self.exclusive),
            **({"no_log": True} if any(option.get("no_log") for option in self.one.values()) else {}),
        }
        return {**self.one, "state": {**state, **default}, self.many: items}

    @property
    def constraints(self) -> dict[str, list[tuple[str, ...]]]:
        """The arguments of AnsibleModule that say what is mutually exclusive.

        What is required is checked when an item is read: Ansible would report it before an unsupported option, such as
        a list with a typing error in its name.
        """
        return {"mutually_exclusive": [*((self.many, name) for name in self.one), *self.exclusive]}


@dataclass
class Item:
    """One thing of a call. ``options``: its own, including its state. ``place``: where they are, "" if not in a list.

    ``result``: what the module returns about it. ``title``: its name in a diff, "" if that is its id.
    """

    options: Options
    place: str = ""
    title: str = ""
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def is_present(self) -> bool:
        """True if the thing should exist."""
        return self.options.get("state") != "absent"

    @property
    def is_strict(self) -> bool:
        """True if a field that Druid does not know is an error."""
        return self.options.get("unknown_fields") == "fail"

    @property
    def has_failed(self) -> bool:
        """True if an error is in the result."""
        return bool(self.result.get("failed"))


def items_of(params: Options, many: str) -> list[Item]:
    """Return the things that a module was called for, in the order of the options."""
    if params[many] is None:
        return [Item(params)]
    of_all = {"unknown_fields": params.get("unknown_fields")}
    return [
        Item({**of_all, **options, "state": options.get("state") or params["state"]}, f"{many}[{index}]")
        for index, options in enumerate(params[many])
    ]
