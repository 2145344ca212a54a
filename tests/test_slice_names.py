import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.slice_names import FAMILIES, OVERALL, canonical_slice, family, slices_of


def test_a_case_is_in_one_slice_of_each_family_from_the_widest_to_the_narrowest():
    assert slices_of("golden", "pt-BR") == (
        "overall",
        "case_type=golden",
        "locale=pt-BR",
        "case_type=golden,locale=pt-BR",
    )
    assert tuple(map(family, slices_of("golden", "pt-BR"))) == FAMILIES
    assert FAMILIES == ("overall", "case_type", "locale", "case_type,locale")


@pytest.mark.parametrize(
    "name",
    [
        "locale=pt-BR",
        "locale=es-419",
        "case_type=golden",
        "case_type=the team's own word",
        "case_type=größe",
        "case_type=golden,locale=zh-Hans-CN",
    ],
)
def test_a_slice_as_reports_print_it_is_its_own_name(name):
    assert canonical_slice(name) == name


WRITE = "write locale=pt-BR, case_type=golden or case_type=golden,locale=pt-BR"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("overall", "overall floors stand under `floors`, beside `slices`"),
        ("pt-BR", f'"pt-BR" is no slice; {WRITE}'),
        ("", f'"" is no slice; {WRITE}'),
        ("locale=", f'"locale=" is no slice; {WRITE}'),
        ("locale= ", f'"locale= " is no slice; {WRITE}'),
        ("case_type=golden,", f'"case_type=golden," is no slice; {WRITE}'),
        ("=en", f'"=en" is no slice; {WRITE}'),
        ("tag=critical", f'"tag=critical" is no slice; {WRITE}'),
        ("locale=en,tag=critical", f'"locale=en,tag=critical" is no slice; {WRITE}'),
        ("locale=en,locale=pt-BR", f'"locale=en,locale=pt-BR" is no slice; {WRITE}'),
        ("Locale=en", f'"Locale=en" is no slice; {WRITE}'),
        ("locale=english", 'unknown locale "english"; write a BCP 47 tag such as pt-BR'),
        ("case_type=golden,locale=xx", 'unknown locale "xx"; write a BCP 47 tag such as pt-BR'),
        ("locale=pt_br", '"locale=pt_br" is written "locale=pt-BR"'),
        ("locale=EN", '"locale=EN" is written "locale=en"'),
        ("locale=pt-BR,case_type=golden", '"locale=pt-BR,case_type=golden" is written "case_type=golden,locale=pt-BR"'),
        ("case_type=golden, locale=en", '"case_type=golden, locale=en" is written "case_type=golden,locale=en"'),
        (" case_type=golden ", '" case_type=golden " is written "case_type=golden"'),
        ("case_type= golden", '"case_type= golden" is written "case_type=golden"'),
    ],
)
def test_another_name_is_refused_with_how_to_write_it(name, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        canonical_slice(name)


words = st.text(st.characters(exclude_characters="=,", categories=["L", "N", "P"]), min_size=1)


@given(words, st.sampled_from(["en", "pt-BR", "es-419"]))
def test_every_slice_that_a_case_is_in_can_have_floors_but_for_overall(case_type, locale):
    overall, *others = slices_of(case_type, locale)
    assert overall == OVERALL
    assert [canonical_slice(name) for name in others] == others
