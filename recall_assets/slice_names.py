"""The names of slices, as reports print and configurations name them. What a slice holds: `recall_assets.slices`."""

from recall_assets.text import canonical_locale

OVERALL = "overall"
CASE_TYPE, LOCALE = "case_type", "locale"
FAMILIES = (OVERALL, CASE_TYPE, LOCALE, f"{CASE_TYPE},{LOCALE}")
"""Kinds of slices, from the widest to the narrowest: each case is in exactly one slice of each."""


def slices_of(case_type: str, locale: str) -> tuple[str, str, str, str]:
    """The slices that a case is in, one of each family, in the order of `FAMILIES`."""
    by_type, by_locale = f"{CASE_TYPE}={case_type}", f"{LOCALE}={locale}"
    return OVERALL, by_type, by_locale, f"{by_type},{by_locale}"


def family(name: str) -> str:
    """The family that a slice is of; its parts cannot hold `=` or a comma."""
    return ",".join(part.partition("=")[0] for part in name.split(","))


def canonical_slice(name: str) -> str:
    """The name itself, if it is that of a slice other than `overall`.

    Raises:
        ValueError: It is not; says how to write it.
    """
    if name == OVERALL:
        raise ValueError("overall floors stand under `floors`, beside `slices`")
    case_type, locale = _parts(name)
    if case_type is None and locale is None:
        raise ValueError(f'"{name}" is no slice; write locale=pt-BR, case_type=golden or case_type=golden,locale=pt-BR')
    canonical = None if locale is None else canonical_locale(locale)
    if locale is not None and canonical is None:
        raise ValueError(f'unknown locale "{locale}"; write a BCP 47 tag such as pt-BR')
    both = {CASE_TYPE: case_type, LOCALE: canonical}
    right = ",".join(f"{part}={value}" for part, value in both.items() if value is not None)
    if name != right:
        raise ValueError(f'"{name}" is written "{right}"')
    return name


def _parts(name: str) -> tuple[str | None, str | None]:
    parts = [part.strip().partition("=") for part in name.split(",")]
    values = {part: value.strip() for part, equals, value in parts if equals and value.strip()}
    if len(values) != len(parts) or not values.keys() <= {CASE_TYPE, LOCALE}:
        return None, None
    return values.get(CASE_TYPE), values.get(LOCALE)
