"""Base class of the data sources: read-only, for `format` and as tables of Spark's catalog.

Spark gives a Python data source the properties of a table when the table is created, but passes
none of them when it is read. It keeps the schema, so the schema stores the table's options.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, NoReturn

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructField, StructType

from fscontract.pipeline.spark_source.errors import SourceException, one_line, raise_in_one_line
from fscontract.pipeline.spark_source.request import absolute_locations, names_input

#: Where the first column has the options of its table.
OPTIONS_KEY = "fscontract.options"
#: Properties that Spark gives to each table that it creates.
_OF_TABLES = frozenset({"owner", "provider"})
#: What writers of streams have, and no reader.
_OF_WRITERS = "checkpointlocation"
#: What the options among the properties of a table begin with.
_OPTION = "option."


class CatalogSource(DataSource):  # type: ignore[misc]
    """A source that `_understand`s options, which may come with the schema of a table."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        with one_line():
            if any(key.lower() == _OF_WRITERS for key in options):
                self._refuse()
            self._creating = is_table(options)
            own = options_of_table(options) if self._creating else options
            self._options = absolute_locations(own)
            self._understood = names_input(self._options)
            if self._understood:
                self._understand(self._options)

    def _understand(self, options: Mapping[str, str]) -> None:
        """Take all options; SourceException."""
        raise NotImplementedError

    def _columns(self) -> Any:
        """Return the schema that the options ask for; SourceException."""
        raise NotImplementedError

    def schema(self) -> Any:
        """Return the columns that the options ask for; SourceException."""
        self._complete({})
        columns = self._columns()
        with one_line():
            return with_options(columns, self._options) if self._creating else columns

    def plain(self, schema: Any) -> Any:
        """Return a schema without the options in it; they apply if the source has no input yet."""
        columns, options = take_options(schema)
        self._complete(options)
        return columns

    def _complete(self, options: Mapping[str, str]) -> None:
        """Take the options of a table, unless an input was given; SourceException without any."""
        if not self._understood:
            with one_line():
                self._understand({**options, **self._options})
            self._understood = True

    def writer(self, schema: Any, overwrite: bool) -> NoReturn:
        """Refuse: the source only reads."""
        self._refuse()

    def streamWriter(self, schema: Any, overwrite: bool) -> NoReturn:  # noqa: N802 - Spark's name
        """Refuse: the source only reads."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise_in_one_line(SourceException(f"format {self.name()!r} is read-only"))


def is_table(options: Mapping[str, str]) -> bool:
    """Return whether the options are the properties of a table that Spark creates."""
    return {key.lower() for key in options} >= _OF_TABLES


def options_of_table(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the options among the properties of a table: its path, and what `options` set."""
    own = {key.lower(): text for key, text in properties.items()}
    settings = {k.removeprefix(_OPTION): text for k, text in own.items() if k.startswith(_OPTION)}
    return {**settings, **({"path": own["path"]} if "path" in own else {})}


def with_options(schema: Any, options: Mapping[str, str]) -> Any:
    """Return a schema that keeps the options; SourceException without a column to keep them."""
    if not schema.fields:
        raise SourceException("a table has at least one column; option 'columns' is empty")
    first, *others = schema.fields
    metadata = {**(first.metadata or {}), OPTIONS_KEY: dict(options)}
    return StructType([StructField(first.name, first.dataType, first.nullable, metadata), *others])


def take_options(schema: Any) -> tuple[Any, dict[str, str]]:
    """Return the schema without the options that `with_options` put into it, and the options."""
    fields, options = [], {}
    for field in schema.fields:
        metadata = dict(field.metadata or {})
        options.update(metadata.pop(OPTIONS_KEY, {}))
        fields.append(StructField(field.name, field.dataType, field.nullable, metadata))
    return StructType(fields), options
