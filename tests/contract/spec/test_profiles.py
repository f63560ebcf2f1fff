"""Profiles are read from the kit, from YAML and from Hadoop's contract files."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.contract.spec.profiles import Profile, ProfileError, features, load_profile

BARE = "name: mine\ntitle: Mine\n"


def _written(tmp_path: Path, text: str, name: str = "mine.yaml") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def _hadoop(*properties: tuple[str, str]) -> str:
    entries = "".join(
        f"<property><name>{n}</name><value>{v}</value></property>" for n, v in properties
    )
    return f"<configuration>{entries}</configuration>"


def _refused(name_or_path: str) -> str:
    with pytest.raises(ProfileError) as caught:
        load_profile(name_or_path)
    return str(caught.value)


# What a profile says -------------------------------------------------------------------------


def test_needs_are_met_by_features_and_by_their_absence() -> None:
    """The result contains the unmet needs."""
    profile = Profile("p", "P", frozenset({"supports-seek"}))
    assert profile.satisfies(["supports-seek", "!supports-skip"]) == ()
    assert profile.satisfies(["!supports-seek", "supports-skip"]) == (
        "!supports-seek",
        "supports-skip",
    )


def test_features_are_added_and_removed_by_name() -> None:
    """An exclamation mark or a hyphen before the name removes it."""
    profile = Profile("p", "P", frozenset({"supports-seek", "supports-skip"}))
    changed = profile.with_features(["supports-unbuffer", "!supports-seek", "-supports-skip"])
    assert changed == Profile("p", "P", frozenset({"supports-unbuffer"}))


def test_an_unknown_feature_is_refused_with_what_is_near() -> None:
    """The sign before it is not part of its name."""
    with pytest.raises(
        ProfileError, match=r"^unknown feature 'supports-sek'; did you mean supports-se"
    ):
        load_profile("default").with_features(["!supports-sek"])


# Shipped profiles and YAML files -------------------------------------------------------------


def test_the_default_profile_has_every_feature_at_its_default() -> None:
    """No more and no less."""
    assert load_profile("default").features == {f.name for f in features().values() if f.default}


def test_a_file_that_says_nothing_is_the_default(tmp_path: Path) -> None:
    """Absent features take their defaults; buffer and remote are left to the binding."""
    profile, default = load_profile(_written(tmp_path, BARE)), load_profile("default")
    assert profile == Profile("mine", "Mine", default.features, default.observed)


def test_a_feature_that_is_said_is_not_observed(tmp_path: Path) -> None:
    """True declares it, false denies it, and observed leaves it open again."""
    text = f"{BARE}extends: reference\nfeatures: {{rejects-seek-past-eof: observed}}\n"
    profile = load_profile(_written(tmp_path, text))
    assert profile.observed == {"rejects-seek-past-eof"}
    assert not profile.has("rejects-seek-past-eof")
    for name in ("rejects-seek-past-eof", "!rejects-seek-past-eof"):
        assert not profile.with_features([name]).observed


def test_a_file_declares_what_it_knows(tmp_path: Path) -> None:
    """Features, buffer, remoteness and known violations."""
    text = BARE + (
        "features: {supports-unbuffer: true, supports-seek: false}\nbuffer: 512\nremote: true\n"
        "known: [{clause: seek.zero, reason: old, signature: EOF, until: 2027-06-01}]\n"
    )
    profile = load_profile(_written(tmp_path, text))
    assert profile.satisfies(["supports-unbuffer", "!supports-seek"]) == ()
    assert (profile.buffer, profile.remote) == (512, True)
    assert profile.known == (
        {"clause": "seek.zero", "reason": "old", "signature": "EOF", "until": "2027-06-01"},
    )


def test_a_file_extends_a_shipped_profile(tmp_path: Path) -> None:
    """Only what it says differs."""
    text = BARE + "extends: reference\nfeatures: {supports-unbuffer: false}\n"
    profile = load_profile(_written(tmp_path, text))
    assert load_profile("reference").features - profile.features == {"supports-unbuffer"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "top level: expected a mapping, got None"),
        ("name: a: b", "line 1, column 8: not YAML: mapping values are not allowed"),
        ("title: T\n", "top level: required property missing: 'name'"),
        (BARE + "name: x\n", "line 3, column 1: duplicate key 'name'"),
        (
            BARE + "nmae: x\n",
            "top level: unknown property 'nmae'; allowed: name, title, extends, features",
        ),
        ("name: A B\ntitle: T\n", "name: expected lower-case letters, digits and single hyphens"),
        (
            BARE + "features: {supports-seek: 1}\n",
            "features.supports-seek: expected one of true, false, observed; got 1",
        ),
        (
            BARE + "features: {supports-sek: true}\n",
            "features: unknown feature 'supports-sek'; did",
        ),
        (BARE + "features: {7: true}\n", "features: unknown feature '7'; known: supports-seek, "),
        (BARE + "buffer: 0\n", "buffer: 0 is less than the minimum of 1"),
        (BARE + "buffer: big\n", "buffer: expected a whole number, got 'big'"),
        (BARE + "extends: pyfle\n", "extends: unknown profile 'pyfle'; allowed: default, "),
        (BARE + "known: [{clause: seek.zero}]\n", "known[0]: required property missing: 'reason'"),
        (
            BARE + "known: [{clause: seek.zro, reason: r, signature: s}]\n",
            "known[0].clause: unknown clause 'seek.zro'; did you mean seek.zero",
        ),
        (
            BARE + "known: [{clause: seek.zero, reason: r, signature: s, until: soon}]\n",
            "known[0].until: expected a date such as 2027-06-01, got 'soon'",
        ),
    ],
)
def test_a_fault_in_a_file_is_named_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    """Each fault takes one line: the file, the place, what is allowed."""
    path = _written(tmp_path, text)
    lines = _refused(path).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    assert lines[0].removeprefix(f"{path}: ").startswith(says)


def test_all_faults_of_a_file_are_named_at_once(tmp_path: Path) -> None:
    """All errors are reported together."""
    assert len(_refused(_written(tmp_path, BARE + "buffer: 0\nremote: 3\n")).splitlines()) == 2


@pytest.mark.parametrize("name", ["defalt", "no/such.yaml", "", "a\0b", "x" * 5000])
def test_what_is_neither_a_profile_nor_a_file_is_refused_in_one_line(name: str) -> None:
    """The name is repeated as it was given."""
    assert len(_refused(name).splitlines()) == 1
    assert repr(name) in _refused(name)


def test_a_misspelt_profile_is_refused_with_what_is_near() -> None:
    """And with the names of all that there are."""
    assert _refused("pyfil") == (
        snapshot(
            "unknown profile 'pyfil': neither a file nor one of default, fake, fsspec, hadoop, "
            "hadoop-ftp, hadoop-har, hadoop-http, hadoop-local, hadoop-raw, hadoop-s3a, "
            "hadoop-viewfs, obstore, opendal, pyarrow, python-file, reference, s3, spark; "
            "did you mean python-file?"
        )
    )


@pytest.mark.parametrize("buffer", ["512.0", ".nan", ".inf", "67108865", "true"])
def test_a_buffer_that_is_not_a_whole_number_of_bytes_is_refused(
    buffer: str, tmp_path: Path
) -> None:
    """As replay files refuse it."""
    assert "buffer: " in _refused(_written(tmp_path, f"{BARE}buffer: {buffer}\n"))


def test_the_first_faults_of_many_are_listed(tmp_path: Path) -> None:
    """A line for each, not thousands."""
    lines = _refused(_written(tmp_path, BARE + "known: [" + "1, " * 1_000 + "]\n")).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and more errors"


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    """The message says where the first bad byte is."""
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"name: \xff")
    assert _refused(str(path)) == f"{path}: line 1, byte 7: not UTF-8 text"


# What a profile says of open_file ------------------------------------------------------------


def test_a_file_lists_option_keys_and_budgets(tmp_path: Path) -> None:
    """It has additional keys, keys without support, and declared costs."""
    text = BARE + (
        "openfile:\n  keys: [my.key]\n  unsupported: [my.query]\n"
        "  budgets: {open.cost-seek: {default: 1, random: 0}}\n"
    )
    profile = load_profile(_written(tmp_path, text))
    assert profile.own_keys == {"my.key"}
    assert profile.unsupported_keys == {"my.query"}
    assert profile.budgets == {"open.cost-seek": {"default": 1, "random": 0}}


def test_keys_without_support_declare_their_feature(tmp_path: Path) -> None:
    """The clause on them needs a key to try, so nothing else can declare it."""
    text = BARE + "openfile: {unsupported: [my.query]}\n"
    assert load_profile(_written(tmp_path, text)).has("openfile-unsupported-keys")
    assert not load_profile(_written(tmp_path, BARE)).has("openfile-unsupported-keys")


def test_a_file_that_extends_another_adds_to_its_keys_and_budgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its values override those of the other profile, and its default overrides all budgets."""
    base = Profile(
        "base",
        "Base",
        frozenset({"openfile-unsupported-keys"}),
        own_keys=frozenset({"a", "b"}),
        unsupported_keys=frozenset({"c"}),
        budgets={"open.cost-seek": {"default": 1}, "open.cost-pread": {"orc": 9}},
    )
    monkeypatch.setattr("fscontract.contract.spec.profiles._shipped", lambda name: base)
    text = BARE + (
        "extends: python-file\nopenfile:\n  keys: [c]\n  unsupported: [b]\n"
        "  budgets: {open.cost-seek: {random: 2}, open.cost-pread: {default: 3}}\n"
    )
    profile = load_profile(_written(tmp_path, text))
    assert profile.own_keys == {"a", "c"}
    assert profile.unsupported_keys == {"b"}
    assert profile.budgets == {
        "open.cost-seek": {"default": 1, "random": 2},
        "open.cost-pread": {"default": 3},
    }


def test_keys_that_are_all_supported_take_the_feature_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key is left to try."""
    base = Profile(
        "base",
        "Base",
        frozenset({"openfile-unsupported-keys"}),
        unsupported_keys=frozenset({"c"}),
    )
    monkeypatch.setattr("fscontract.contract.spec.profiles._shipped", lambda name: base)
    text = BARE + "extends: python-file\nopenfile: {keys: [c]}\n"
    profile = load_profile(_written(tmp_path, text))
    assert (profile.unsupported_keys, profile.features) == (frozenset(), frozenset())


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("openfile: []", "openfile: expected a mapping, got []"),
        (
            "openfile: {kyes: []}",
            "openfile: unknown property 'kyes'; allowed: keys, unsupported, budgets",
        ),
        ("openfile: {keys: my.key}", "openfile.keys: expected a list, got 'my.key'"),
        ("openfile: {keys: [7]}", "openfile.keys[0]: expected text, got 7"),
        ("openfile: {keys: [a b]}", "openfile.keys[0]: expected a key without whitespace, got"),
        ("openfile: {keys: [a, a]}", "openfile.keys: ['a', 'a'] has non-unique elements"),
        (
            "openfile: {keys: [a], unsupported: [a]}",
            "openfile.unsupported: 'a' is also in openfile.keys",
        ),
        (
            "openfile: {unsupported: [fs.option.openfile.length]}",
            "openfile.unsupported: 'fs.option.openfile.length' is a standard option, which can't",
        ),
        (
            "features: {openfile-unsupported-keys: true}",
            "features.openfile-unsupported-keys: it follows from the keys in openfile.unsupported",
        ),
        (
            "openfile: {budgets: {open.cost-sek: {default: 1}}}",
            "openfile.budgets: unknown clause 'open.cost-sek'; did you mean open.cost-seek",
        ),
        (
            "openfile: {budgets: {7: {default: 1}}}",
            "openfile.budgets: unknown clause 7; allowed: open.buffer-size-used, ",
        ),
        (
            "openfile: {budgets: {seek.zero: {default: 1}}}",
            "openfile.budgets: seek.zero has no cost; allowed: open.buffer-size-used, ",
        ),
        (
            "openfile: {budgets: {open.cost-seek: {randm: 1}}}",
            "openfile.budgets.open.cost-seek: unknown read policy 'randm'; did you mean random?",
        ),
        (
            "openfile: {budgets: {open.cost-seek: {8: 1}}}",
            "openfile.budgets.open.cost-seek: unknown read policy 8; allowed: adaptive, default, ",
        ),
        (
            "openfile: {budgets: {open.cost-seek: {random: -1}}}",
            "openfile.budgets.open.cost-seek.random: -1 is less than the minimum of 0",
        ),
        (
            "openfile: {budgets: {open.cost-seek: {random: true}}}",
            "openfile.budgets.open.cost-seek.random: expected a whole number, got True",
        ),
        (
            "openfile: {budgets: {open.cost-seek: 3}}",
            "openfile.budgets.open.cost-seek: expected a mapping, got 3",
        ),
        (
            "openfile: {budgets: {open.cost-seek: {}}}",
            "openfile.budgets.open.cost-seek: {} ",
        ),
    ],
)
def test_a_fault_in_what_is_said_of_open_file_takes_one_line(
    tmp_path: Path, section: str, says: str
) -> None:
    """The file, the place, what is allowed; and no more than that one line."""
    path = _written(tmp_path, BARE + section + "\n")
    message = _refused(path)
    assert message.startswith(f"{path}: {says}")
    assert "\n" not in message


# Hadoop's contract files ---------------------------------------------------------------------


def test_a_hadoop_contract_file_declares_features(tmp_path: Path) -> None:
    """Options of streams count, absent ones take their default, others are kept as ignored."""
    text = _hadoop(
        ("fs.contract.supports-unbuffer", "true"),
        ("fs.contract.rejects-seek-past-eof", " False "),
        ("fs.contract.is-blobstore", "true"),
        ("fs.contract.test.fs.mine", "mine:///"),
        ("fs.defaultFS", "mine:///"),
    )
    profile = load_profile(_written(tmp_path, text, "mine.xml"))
    assert profile.name == "mine"
    assert profile.features == load_profile("default").features - {"rejects-seek-past-eof"} | {
        "supports-unbuffer"
    }
    assert profile.ignored == ("fs.contract.is-blobstore", "fs.contract.test.fs.mine")


def test_a_hadoop_contract_file_may_start_with_a_declaration_and_comments(tmp_path: Path) -> None:
    """Hadoop's own files begin with both, and the suffix may be any."""
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- licence -->\n' + _hadoop()
    profile = load_profile(_written(tmp_path, text, "contract"))
    assert profile.features == load_profile("default").features


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<!DOCTYPE configuration><configuration/>", "a DOCTYPE or an entity declaration is not"),
        ('<!DOCTYPE c [<!ENTITY a "b">]><c>&a;</c>', "a DOCTYPE or an entity declaration is not"),
        ("<configuration>", "not XML: "),
        ("<configuration>&a;</configuration>", "not XML: undefined entity"),
        ("<profile/>", "the root element must be <configuration>, got <profile>"),
        (_hadoop(("", "true")), "property 1: required element missing: <name>"),
        (
            _hadoop(("fs.contract.supports-seek", "yes")),
            "fs.contract.supports-seek: expected true or false, got 'yes'",
        ),
    ],
)
def test_a_bad_hadoop_contract_file_is_refused_in_one_line(
    tmp_path: Path, text: str, says: str
) -> None:
    """The file, the place, what is allowed; nothing is expanded or fetched."""
    path = _written(tmp_path, text, "mine.xml")
    message = _refused(path)
    assert message.startswith(f"{path}: {says}")
    assert "\n" not in message
