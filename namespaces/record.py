"""`ServerArgs`: all settings of the server and of its plugins as one flat record.

Importing this module loads the plugins. The package imports it when somebody asks for the record,
so that the module of a plugin may be the first of all to import the package.
"""

from namespaces.defaults import DEFAULTS
from namespaces.field_order import POSITIONAL_FIELD_ORDER, RETIRED_FIELDS
from namespaces.namespace_order import NAMESPACES
from registry import compose, load_plugins

__all__ = ["NAMESPACES", "PLUGINS", "ServerArgs"]

PLUGINS = load_plugins("namespaces.plugins")
"""The plugins whose fields are on the record."""

ServerArgs = compose(
    "ServerArgs",
    [*NAMESPACES, *(each for plugin in PLUGINS for each in plugin.classes)],
    order=POSITIONAL_FIELD_ORDER,
    defaults=DEFAULTS.close(),
    retired=RETIRED_FIELDS,
    doc="What an operator may set about the inference server: all settings, flat, nothing derived.",
)
