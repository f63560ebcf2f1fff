"""Credentials that sign requests. They are never shown or pickled."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations.s3.errors import NoCredentialsException

KINDS = ("chain", "profile", "keys", "anonymous", "withheld")
_ADVICE = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give a profile or anonymous=True"


class Keys(NamedTuple):
    """Keys that sign one request."""

    access_key: str
    secret_key: str
    session_token: str | None = None
    #: Expiry time, or None if the keys do not expire.
    expires: datetime | None = None

    def __repr__(self) -> str:
        return "<keys>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("keys can't be pickled")


class Credentials:
    """Source of the keys that sign requests.

    `kind` is "chain" (environment, files, roles), "profile", "keys", "anonymous", or "withheld".
    Keys given as arguments are not passed to other processes: unpickling them gives "withheld"
    credentials, which use the chain of the new process.

    This is not a dataclass, so dumping an object that holds it does not expose the keys.
    """

    __slots__ = ("_keys", "kind", "profile")
    kind: str
    profile: str | None
    _keys: Keys | None

    def __init__(
        self,
        kind: str = "chain",
        profile: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        session_token: str | None = None,
    ) -> None:
        keys = Keys(access_key or "", secret_key or "", session_token or None)
        if kind not in KINDS:
            raise IllegalArgumentException(
                f"invalid kind of credentials: {kind!r}; expected one of {', '.join(KINDS)}"
            )
        if (kind == "keys") != bool(keys.access_key and keys.secret_key):
            raise IllegalArgumentException(
                "credentials of kind 'keys' require an access key and a secret key; other kinds "
                "allow neither"
            )
        if (kind == "profile") != bool(profile):
            raise IllegalArgumentException(
                "credentials of kind 'profile' require a profile name; other kinds do not allow one"
            )
        for name, value in (
            ("kind", kind),
            ("profile", profile or None),
            ("_keys", keys if kind == "keys" else None),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"credentials are immutable: can't set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"credentials are immutable: can't delete {name!r}")

    @property
    def access_key(self) -> str | None:
        """Access key given as an argument, or None."""
        return self._keys.access_key if self._keys else None

    @property
    def secret_key(self) -> str | None:
        """Secret key given as an argument, or None."""
        return self._keys.secret_key if self._keys else None

    @property
    def session_token(self) -> str | None:
        """Session token given as an argument, or None."""
        return self._keys.session_token if self._keys else None

    def frozen(self, bucket: str, region: str | None = None) -> Keys | None:
        """Return the current keys, or None for unsigned requests.

        Raise NoCredentialsException, which names `bucket`, if there are none. `region` is the
        region where keys of a role are requested.
        """
        return self.source(bucket, region)()

    def source(self, bucket: str, region: str | None = None) -> Callable[[], Keys | None]:
        """Return a function that gives the keys as `frozen` does, and renews expired ones."""
        if self.kind == "anonymous":
            return lambda: None
        keys = self._keys or (None if self.kind == "profile" else _environment())
        if keys is not None:
            return lambda: keys
        return _botocore(self, bucket, region)

    def missing(self, bucket: str, why: str = "") -> NoCredentialsException:
        """Return the error for a request without credentials."""
        what = why or {
            "withheld": "keys given as arguments are not passed to other processes",
            "profile": f"profile {self.profile!r} has none",
        }.get(self.kind, "none in the environment, the AWS configuration files, or a role")
        return NoCredentialsException(
            "/", f"no credentials for bucket {bucket!r}: {what}; {_ADVICE}"
        )

    def _identity(self) -> tuple[object, ...]:
        return (self.kind, self.profile, None if self._keys is None else tuple(self._keys))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Credentials) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        named = f", profile={self.profile!r}" if self.profile else ""
        return f"Credentials({self.kind!r}{named})"

    def __reduce__(self) -> tuple[type[Credentials], tuple[str, str | None]]:
        return Credentials, ("withheld" if self.kind == "keys" else self.kind, self.profile)

    def __copy__(self) -> Credentials:
        return self

    def __deepcopy__(self, memo: object) -> Credentials:
        return self


def session_for(credentials: Credentials, bucket: str) -> Any:
    """Return a new botocore session for the profile, if any; raise NoCredentialsException."""
    import botocore.session
    from botocore.exceptions import ProfileNotFound

    session = botocore.session.Session(profile=credentials.profile)
    try:
        models = _models(session.get_config_variable("data_path"))
    except ProfileNotFound:
        raise credentials.missing(bucket, f"unknown profile {credentials.profile!r}") from None
    session.register_component("data_loader", models)
    return session


@lru_cache(maxsize=1)
def _models(directory: str | None) -> Any:
    """Return a cached loader of botocore's AWS models, whose loading takes most of the time."""
    from botocore.loaders import create_loader

    return create_loader(directory)


def chain_of(session: Any, credentials: Credentials, bucket: str) -> Any:
    """Return the credentials that botocore's chain finds; raise NoCredentialsException."""
    from botocore.exceptions import BotoCoreError

    try:
        chain = session.get_credentials()
    except BotoCoreError as error:
        raise credentials.missing(
            bucket, f"{type(error).__name__} in the AWS credential chain"
        ) from None
    if chain is None:
        raise credentials.missing(bucket)
    return chain


def _environment() -> Keys | None:
    """Return the keys of the environment, the chain's first source, without loading botocore."""
    access = os.environ.get("AWS_ACCESS_KEY_ID")
    secret = os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not access or not secret or os.environ.get("AWS_CREDENTIAL_EXPIRATION"):
        return None
    return Keys(access, secret, os.environ.get("AWS_SESSION_TOKEN") or None)


def _botocore(
    credentials: Credentials, bucket: str, region: str | None
) -> Callable[[], Keys | None]:
    try:
        session = session_for(credentials, bucket)
    except ModuleNotFoundError as error:
        why = "botocore, which finds credentials, is not installed (pip install 'fscontract[s3]')"
        raise credentials.missing(bucket, why) from error
    if region is not None:
        session.set_config_variable("region", region)
    chain = chain_of(session, credentials, bucket)

    def current() -> Keys:
        from botocore.exceptions import BotoCoreError

        try:
            keys = chain.get_frozen_credentials()
        except BotoCoreError as error:
            why = f"{type(error).__name__} during renewal"
            raise credentials.missing(bucket, why) from None
        expires = getattr(chain, "_expiry_time", None)  # botocore has no public attribute for it
        return Keys(keys.access_key, keys.secret_key, keys.token, expires)

    return current
