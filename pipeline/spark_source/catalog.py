"""Base class of the read-only data sources, for `format` and for tables of Spark's catalog.

Spark gives a Python data source the properties of a table when the table is created, but passes
none of them when it is read. It keeps the schema, so the schema stores the table's options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, ClassVar, NoReturn

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructField, StructType

from fscontract.pipeline.spark_source.errors import SourceException, one_line, raise_in_one_line
from fscontract.pipeline.spark_source.request import absolute_locations, names_input

#: Metadata key of the first column with the options of its table.
OPTIONS_KEY = "fscontract.options"
#: Properties that Spark sets on each table.
_OF_TABLES = frozenset({"owner", "provider"})
#: Option that Spark passes only to stream writers.
_OF_WRITERS = "checkpointlocation"
#: Prefix of options among the properties of a table.
_OPTION = "option."


class CatalogSource(DataSource):  # type: ignore[misc]
    """A source that parses options in `_understand`; the schema of a table may contain them.

    With `pushdown` its readers accept Spark filters. Tasks call `report` with their counters.
    """

    pushdown: ClassVar[bool] = False
    report: ClassVar[Callable[[Any], None] | None] = None

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
        """Parse all options; raise SourceException."""
        raise NotImplementedError

    def _columns(self) -> Any:
        """Return the schema for the options; raise SourceException."""
        raise NotImplementedError

    def schema(self) -> Any:
        """Return the columns for the options; raise SourceException."""
        self._complete({})
        columns = self._columns()
        with one_line():
            return with_options(columns, self._options) if self._creating else columns

    def plain(self, schema: Any) -> Any:
        """Return a schema without its stored options; they apply if the source has no input yet."""
        columns, options = take_options(schema)
        self._complete(options)
        return columns

    def _complete(self, options: Mapping[str, str]) -> None:
        """Apply the options of a table unless an input was given; SourceException without any."""
        if not self._understood:
            with one_line():
                self._understand({**options, **self._options})
            self._understood = True

    def writer(self, schema: Any, overwrite: bool) -> NoReturn:
        """Raise SourceException, because the source is read-only."""
        self._refuse()

    def streamWriter(self, schema: Any, overwrite: bool) -> NoReturn:  # noqa: N802 - Spark's name
        """Raise SourceException, because the source is read-only."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise_in_one_line(
            SourceException(
                f"format {self.name()!r} is read-only: write with another format, such as parquet"
            )
        )


def is_table(options: Mapping[str, str]) -> bool:
    """Return True if the options are the properties of a table that Spark creates."""
    return {key.lower() for key in options} >= _OF_TABLES


def options_of_table(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the options among the properties of a table: its path, and those set by `options`."""
    own = {key.lower(): text for key, text in properties.items()}
    settings = {k.removeprefix(_OPTION): text for k, text in own.items() if k.startswith(_OPTION)}
    return {**settings, **({"path": own["path"]} if "path" in own else {})}


def with_options(schema: Any, options: Mapping[str, str]) -> Any:
    """Return a schema that stores the options; raise SourceException for one without columns."""
    if not schema.fields:
        raise SourceException("option 'columns' must not be empty: a table has at least one column")
    first, *others = schema.fields
    metadata = {**(first.metadata or {}), OPTIONS_KEY: dict(options)}
    return StructType([StructField(first.name, first.dataType, first.nullable, metadata), *others])


def take_options(schema: Any) -> tuple[Any, dict[str, str]]:
    """Return a schema without its stored options, and the options."""
    fields, options = [], {}
    for field in schema.fields:
        metadata = dict(field.metadata or {})
        options.update(metadata.pop(OPTIONS_KEY, {}))
        fields.append(StructField(field.name, field.dataType, field.nullable, metadata))
    return StructType(fields), options
