"""Profiles: the features that a connector declares, and its known violations."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.spec.clauses import (
    clauses,
    near_misses,
    present,
    present_name,
    read_id,
    read_name,
)
from fscontract.contract.untrusted import (
    UntrustedError,
    listed,
    load_text,
    parse_yaml,
    schema_mistakes,
    short,
)

#: The prefix of contract options in Hadoop's configuration files.
_HADOOP = "fs.contract."
#: The feature that the keys listed as unsupported declare.
_UNSUPPORTED = "openfile-unsupported-keys"


class ProfileError(ValueError):
    """An invalid profile; one line for each error: file, place, what is allowed."""


@dataclass(frozen=True)
class Feature:
    """A feature of connectors. `hadoop` is its key in Hadoop's contract files, or ""."""

    name: str
    #: The meaning of declaring it.
    sentence: str
    hadoop: str
    #: Whether profiles declare it by default; None if a run observes it.
    default: bool | None


@dataclass(frozen=True)
class Profile:
    """The declarations of one connector.

    A clause whose needs the profile does not satisfy is not checked.
    """

    name: str
    title: str
    features: frozenset[str]
    #: Features that it leaves open: a run observes them once, and then expects what it observed.
    observed: frozenset[str] = frozenset()
    #: Features that the user declares, which have to be there: a default promises nothing.
    promised: frozenset[str] = frozenset()
    #: A boundary of the connector's buffer, in bytes; None leaves it to the binding.
    buffer: int | None = None
    #: True if an operation costs a round trip; None leaves it to the binding.
    remote: bool | None = None
    #: True if all calls must be made from the thread that makes the target (`threads: one`).
    one_thread: bool = False
    #: Known violations, each with `clause` and `reason`, some with `issue`, `signature`, `until`.
    known: tuple[Mapping[str, str], ...] = field(default=(), hash=False)
    #: Options of a Hadoop contract file that do not concern streams.
    ignored: tuple[str, ...] = ()
    #: Its own keys that open_file supports, and those that it recognises but does not support.
    own_keys: frozenset[str] = frozenset()
    unsupported_keys: frozenset[str] = frozenset()
    #: The names of consequences whose failures fail a run; empty for all.
    fail_on: tuple[str, ...] = ()
    #: By clause and read policy, or "default": budgets that replace those of the clause's cost.
    budgets: Mapping[str, Mapping[str, int]] = field(default_factory=dict, hash=False)

    def has(self, name: str) -> bool:
        """Return whether the feature is declared."""
        return name in self.features

    def satisfies(self, needs: Iterable[str]) -> tuple[str, ...]:
        """Return the unmet needs; one that starts with "!" requires the feature to be absent."""
        return tuple(n for n in needs if self.has(n.removeprefix("!")) == n.startswith("!"))

    def promising(self, names: Iterable[str]) -> Profile:
        """Return this profile, in which those of the names that it declares are promises."""
        return replace(self, promised=self.promised.union(names) & self.features)

    def with_features(self, names: Iterable[str]) -> Profile:
        """Return this profile with features added, or removed if "!" or "-" precedes the name."""
        said: dict[str, bool | None] = {}
        for name in names:
            plain = name[1:] if name[:1] in ("!", "-") else name
            if plain not in features():
                raise ProfileError(_unknown_feature(plain))
            said[plain] = plain == name
        return self.saying(said)

    def as_observed(self, seen: Mapping[str, bool]) -> Profile:
        """Return this profile with those open features declared that were observed.

        A feature that was not observed has its default.
        """
        known = features()
        has = {name: seen.get(name, known[name].default) for name in self.observed}
        return replace(self, features=self.features.union(n for n, value in has.items() if value))

    def saying(self, said: Mapping[str, bool | None]) -> Profile:
        """Return this profile with features declared, denied, or left open (None)."""
        return replace(
            self,
            features=self.features.difference(said).union(n for n, on in said.items() if on),
            observed=self.observed.difference(said).union(
                name for name, on in said.items() if on is None
            ),
        )


#: The profile of parts of a pipeline, which have no features.
NO_PROFILE = Profile("none", "Parts of a pipeline", frozenset())


@lru_cache(maxsize=1)
def features() -> dict[str, Feature]:
    """Return every feature by name, in the order of `specs/features.yaml`."""
    data = parse_yaml(files("fscontract.specs").joinpath("features.yaml").read_text("utf-8"))
    return {
        name: Feature(name, entry["sentence"], entry.get("hadoop", ""), _SAYS.get(entry["default"]))
        for name, entry in data["features"].items()
    }


#: The values of features in files, for those that are not left open.
_SAYS = {True: True, False: False}


@lru_cache(maxsize=1)
def profile_names() -> tuple[str, ...]:
    """Return the names of the built-in profiles, sorted."""
    entries = files("fscontract.specs").joinpath("profiles").iterdir()
    return tuple(sorted(e.name[: -len(".yaml")] for e in entries if e.name.endswith(".yaml")))


def load_profile(name_or_path: str) -> Profile:
    """Load a profile by its built-in name, or from a YAML or Hadoop contract XML file.

    Raise ProfileError for an unknown name or an invalid file.
    """
    name = read_name("profiles", name_or_path)
    if name in profile_names():
        return _shipped(name)
    if not os.path.lexists(name_or_path):
        known = ", ".join(profile_names())
        hint = near_misses(name_or_path, profile_names())
        raise ProfileError(
            f"unknown profile {name_or_path!r}: neither a file nor one of {known}{hint}"
        )
    path = Path(name_or_path)
    try:
        text = load_text(path)
    except UntrustedError as error:
        raise ProfileError(str(error)) from None
    is_xml = path.suffix == ".xml" or text.lstrip().startswith("<")
    return _from_xml(text, path) if is_xml else _from_yaml(text, name_or_path)


@cache
def _shipped(name: str) -> Profile:
    entry = files("fscontract.specs").joinpath("profiles").joinpath(f"{name}.yaml")
    return _profile(parse_yaml(entry.read_text(encoding="utf-8")))


def _profile(data: Mapping[str, Any]) -> Profile:
    if "extends" in data:
        base = _shipped(read_name("profiles", data["extends"]))
    else:
        base = Profile("", "", frozenset()).saying({f.name: f.default for f in features().values()})
    known = ({**entry, "clause": read_id(entry["clause"])} for entry in data.get("known", ()))
    said = {name: _SAYS.get(value) for name, value in data.get("features", {}).items()}
    opening = data.get("openfile", {})
    own, unsupported = set(opening.get("keys", ())), set(opening.get("unsupported", ()))
    unsupported_keys = base.unsupported_keys - own | unsupported
    said[_UNSUPPORTED] = bool(unsupported_keys)
    return replace(
        base.saying(said),
        name=data["name"],
        title=data["title"],
        buffer=data.get("buffer", base.buffer),
        remote=data.get("remote", base.remote),
        fail_on=tuple(data.get("fail-on", base.fail_on)),
        one_thread=data["threads"] == "one" if "threads" in data else base.one_thread,
        known=(*base.known, *known),
        own_keys=base.own_keys - unsupported | own,
        unsupported_keys=unsupported_keys,
        budgets=_merged(base.budgets, opening.get("budgets", {})),
    )


def _merged(
    base: Mapping[str, Mapping[str, int]], overrides: Mapping[str, Mapping[str, int]]
) -> Mapping[str, Mapping[str, int]]:
    """Merge budgets: one with a default replaces the old budget, others replace what they list."""
    added = {
        clause: budget if "default" in budget else {**base.get(clause, {}), **budget}
        for clause, budget in overrides.items()
    }
    return {**base, **added}


def _from_yaml(text: str, where: str) -> Profile:
    try:
        data = parse_yaml(text, where)
    except UntrustedError as error:
        raise ProfileError(str(error)) from None
    for check in (partial(schema_mistakes, schema="profile"), _unknown_names):
        faults = listed(f"{where}: {fault}" for fault in check(data))
        if faults:
            raise ProfileError(faults)
    own = data.get("features", {})
    return _profile(data).promising(n for n in own if features()[n].default is not True)


def _unknown_names(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield unknown names that the schema can't detect: of profiles, features and clauses."""
    base = data.get("extends")
    if base is not None and present_name("profiles", base) not in profile_names():
        yield f"extends: unknown profile {base!r}; allowed: {', '.join(profile_names())}"
    for name in data.get("features", {}):
        if name not in features():
            yield f"features: {_unknown_feature(str(name))}"
    if _UNSUPPORTED in data.get("features", {}):
        yield f"features.{_UNSUPPORTED}: it follows from the keys in openfile.unsupported"
    yield from _opening_faults(data.get("openfile", {}))
    for i, entry in enumerate(data.get("known", ())):
        clause = entry["clause"]
        if present(clause) not in clauses():
            yield f"known[{i}].clause: unknown clause {clause!r}{near_misses(clause, clauses())}"


def _opening_faults(opening: Mapping[str, Any]) -> Iterator[str]:
    unsupported = opening.get("unsupported", ())
    for key in sorted(option_table().standard_keys.intersection(unsupported)):
        yield f"openfile.unsupported: {key!r} is a standard option, which can't be unsupported"
    for key in sorted(set(opening.get("keys", ())).intersection(unsupported)):
        yield f"openfile.unsupported: {key!r} is also in openfile.keys"
    with_cost = [c.id for c in clauses().values() if c.cost is not None]
    # "default" is a policy, and also the budget's key for no policy
    policies = option_table().policies
    for name, budget in opening.get("budgets", {}).items():
        if name not in with_cost:
            what = f"{name} has no cost" if name in clauses() else f"unknown clause {name!r}"
            hint = near_misses(str(name), with_cost) or f"; allowed: {', '.join(with_cost)}"
            yield f"openfile.budgets: {what}{hint}"
            continue
        for policy in budget:
            if policy not in policies:
                hint = near_misses(str(policy), policies) or f"; allowed: {', '.join(policies)}"
                yield f"openfile.budgets.{name}: unknown read policy {policy!r}{hint}"


def _unknown_feature(name: str) -> str:
    hint = near_misses(name, features()) or f"; known: {', '.join(features())}"
    return f"unknown feature {name!r}{hint}"


def _from_xml(text: str, path: Path) -> Profile:
    # Without a DOCTYPE there are no entities, so nothing can expand or be fetched.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ProfileError(f"{path}: a DOCTYPE or an entity declaration is not allowed")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314
    except ElementTree.ParseError as error:
        raise ProfileError(f"{path}: not XML: {error}") from None
    if root.tag != "configuration":
        raise ProfileError(
            f"{path}: the root element must be <configuration>, got <{root.tag[:40]}>"
        )
    known = {f.hadoop: f.name for f in features().values() if f.hadoop}
    declared: dict[str, bool] = {}
    ignored: list[str] = []
    for key, value in _properties(root, path):
        if key in known:
            declared[known[key]] = _boolean(value, f"{path}: {key}")
        elif key.startswith(_HADOOP):
            ignored.append(key)
    title = f"Hadoop contract options of {path.name}"
    profile = _profile({"name": path.stem, "title": title, "features": declared})
    return replace(profile, ignored=tuple(dict.fromkeys(ignored)))


def _properties(root: ElementTree.Element, path: Path) -> Iterator[tuple[str, str]]:
    for number, entry in enumerate(root.iter("property"), 1):
        name = (entry.findtext("name") or "").strip()
        if not name:
            raise ProfileError(f"{path}: property {number}: required element missing: <name>")
        yield name, (entry.findtext("value") or "").strip()


def _boolean(value: str, where: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ProfileError(f"{where}: expected true or false, got {short(value)}")
    return value.lower() == "true"
