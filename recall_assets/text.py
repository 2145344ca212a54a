"""Ids and locales: when two spellings are the same, and how ids are named in sentences.

Reading them out of files, with positions, is in `recall_assets.sources`.
"""

import functools
import re
import unicodedata
from collections.abc import Collection, Sequence

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with what would break a line, a terminal, an encoding or XML shown as an escape."""
    return _UNPRINTABLE.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def normal_id(value: str) -> str:
    """The id that is compared and stored: Unicode NFC, surrounding white space removed, case kept."""
    return unicodedata.normalize("NFC", value).strip()


@functools.cache
def canonical_locale(tag: str) -> str | None:
    """The canonical BCP 47 form of a language tag (`pt_br` gives `pt-BR`), or None for an unknown tag.

    Known means that language, script, region and variant subtags are in the IANA registry. A region alone (`419`) is
    no language tag.
    """
    import langcodes  # 50 ms, paid by the first record that has a locale

    candidate = tag.strip().replace("_", "-")
    try:
        if not candidate[:1].isalpha() or not langcodes.tag_is_valid(candidate):
            return None
        canonical = langcodes.standardize_tag(candidate)
        # langcodes does not look up an extended language: `pt-BRA` is not Brazil, and no language either.
        return None if langcodes.Language.get(canonical).extlangs else canonical
    except ValueError:
        return None


def nearest(word: str, known: Collection[str]) -> str | None:
    """The known word that is most like `word`, or None if none is alike enough to be worth a hint."""
    from rapidfuzz import process  # only on the way to an error message
    from rapidfuzz.distance import JaroWinkler

    best = process.extractOne(word, sorted(known), scorer=JaroWinkler.similarity, score_cutoff=0.8)
    return None if best is None else str(best[0])


def did_you_mean(word: str, known: Collection[str]) -> str:
    """`; did you mean "x"?` for the nearest known word, or the empty string."""
    hint = nearest(word, known)
    return "" if hint is None else f'; did you mean "{hint}"?'


def some(ids: Sequence[str], limit: int = 5) -> str:
    """The first few ids, and how many more there are."""
    more = f" and {len(ids) - limit} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more


def shortened(text: str, limit: int = 80) -> str:
    """The text, cut at `limit` characters with an ellipsis where it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def without_result(missing: Sequence[str], cases: int) -> str:
    """The sentence on cases without a result, of which at least one is given."""
    return f"{len(missing)} of {cases} cases have no result: {some(missing)}"
