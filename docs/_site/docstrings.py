"""How griffe reads modules for the reference: what they import is described elsewhere, and docstrings are Markdown."""

from __future__ import annotations

import re
from typing import Any

from griffe import Alias, Extension, Inspector, Object, ObjectNode

SECTION = re.compile(r"^\w[\w ]*\n-{3,}$", re.M)
FIELD = re.compile(r"Alias for field number (\d+)")
BLOCK = re.compile(r"^(?:>>> |=+ +=).*(?:\n.+)*", re.M)  # prompts, or a table


class Inspected(Extension):
    """Griffe inspects modules, for generated signatures; so it does not see which names and docstrings are theirs."""

    def on_alias_instance(
        self, *, alias: Alias, agent: Inspector, **_: Any
    ) -> None:
        """Note that a module imports a name; mkdocstrings leaves it out then, unless it is in ``__all__``."""
        if agent.current.is_module:
            agent.current.imports[alias.name] = alias.target_path

    def on_instance(self, *, node: ObjectNode, obj: Object, **_: Any) -> None:
        """Say what a field of a tuple is; of other values, only properties have docstrings that are about them."""
        if obj.docstring is None:
            return
        field = FIELD.fullmatch(obj.docstring.value)
        if field and node.parent:
            kind = node.parent.obj.__annotations__[obj.name].__forward_arg__
            obj.docstring.value = f"Field {field[1]}: `{kind}`."
            obj.value = None
        elif obj.is_attribute and "property" not in obj.labels:
            obj.docstring = None
        else:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """Fence the prompts and tables above the first section.

    Examples
    --------
    >>> as_markdown("Add::\\n\\n>>> 1 + 1\\n2\\n\\nSee Also\\n---\\nsum")
    'Add:\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```\\n\\nSee Also\\n---\\nsum'
    """
    section = SECTION.search(docstring)
    end = section.start() if section else len(docstring)
    above = re.sub(r"::$", ":", docstring[:end], flags=re.M)
    return BLOCK.sub(r"```pycon\n\g<0>\n```", above) + docstring[end:]
