"""Identity of ids and locales: the one place that decides when two spellings are the same.

Reading them out of files, with positions, is in `recall_assets.sources`.
"""

import functools
import unicodedata
from collections.abc import Collection


def normal_id(value: str) -> str:
    """The id that is compared and stored: Unicode NFC, surrounding white space removed, case kept."""
    return unicodedata.normalize("NFC", value).strip()


@functools.cache
def canonical_locale(tag: str) -> str | None:
    """The canonical BCP 47 form of a language tag (`pt_br` gives `pt-BR`), or None for an unknown tag.

    Known means that language, script, region and variant subtags are in the IANA registry.
    """
    import langcodes  # 50 ms, paid by the first record that has a locale

    candidate = tag.strip().replace("_", "-")
    try:
        if not langcodes.tag_is_valid(candidate):
            return None
        return langcodes.standardize_tag(candidate)
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
