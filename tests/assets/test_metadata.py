import dagster as dg
import pandera.polars as pa
import polars as pl
import pytest

from recall_assets.assets.metadata import column_schema, frame_output, slice_metadata
from recall_assets.intervals import Interval
from recall_assets.metrics import Triad
from recall_assets.schemas import CARDS, CASE_SCORES, CASES, CHUNKS, COLLECTION, RUN, SLICE_SCORES, VERDICTS
from recall_assets.slices import Ledger, SliceScore

LEDGER = Ledger(cases=4, gold_bearing=3, scored=3, empty_result=0, missing=0, short_result=0, duplicates_dropped=0)


def shown(schema):
    return column_schema(schema)["dagster/column_schema"]


def test_dagster_shows_each_column_as_pandera_has_it():
    schema = pa.DataFrameSchema(
        {
            "key": pa.Column(pl.String, unique=True, description="What it is called"),
            "share": pa.Column(pl.Float64, pa.Check.in_range(0, 1, error="0 to 1"), nullable=True),
        },
        unique=["key", "share"],
    )
    assert shown(schema) == dg.TableSchema(
        [
            dg.TableColumn(
                "key", "String", "What it is called", dg.TableColumnConstraints(nullable=False, unique=True, other=[])
            ),
            dg.TableColumn("share", "Float64", None, dg.TableColumnConstraints(nullable=True, other=["0 to 1"])),
        ],
        constraints=dg.TableConstraints(other=["unique: key, share"]),
    )


@pytest.mark.parametrize(
    "schema", [CARDS, CHUNKS, COLLECTION, CASES, RUN, CASE_SCORES, SLICE_SCORES, VERDICTS], ids=lambda s: s.name
)
def test_every_schema_of_the_project_can_be_shown_in_full(schema):
    columns = shown(schema).columns
    assert [column.name for column in columns] == list(schema.columns)
    assert all(column.type for column in columns)


def test_an_output_carries_its_row_count_and_what_is_said_of_it():
    output = frame_output(pl.DataFrame({"a": [1, 2]}), source="kb")
    assert {name: value.value for name, value in output.metadata.items()} == {"dagster/row_count": 2, "source": "kb"}


def test_the_data_version_follows_the_content_alone():
    frame = pl.DataFrame({"a": ["x", "y"]})
    version = frame_output(frame).data_version
    assert frame_output(pl.DataFrame({"a": ["x", "y"]}), note="another").data_version == version
    assert frame_output(frame.reverse()).data_version != version
    assert frame_output(frame.rename({"a": "b"})).data_version != version


def test_figures_that_plot_are_the_unrounded_means_and_n_of_each_retriever():
    overall = SliceScore("overall", 3, Triad(2 / 3, 0.5, 1 / 3), Interval(0.2, 0.9), LEDGER)
    locale = SliceScore("locale=en", 2, Triad(1.0, 1.0, 1.0), Interval(0.3, 1.0), LEDGER)
    metadata = slice_metadata({"dense": [overall, locale]}, k=5)
    assert metadata.pop("slices").value == (
        "**dense**\n\n"
        "| slice | n | hit@5 | 95% CI | recall@5 | nDCG@5 |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| overall | 3 | 0.667 | 0.20-0.90 | 0.500 | 0.333 |\n"
        "| locale=en | 2 | 1.000 | 0.30-1.00 | 1.000 | 1.000 |"
    )
    assert metadata == {
        "dense/n": 3,
        "dense/retrieval_hit_at_k": 2 / 3,
        "dense/retrieval_recall_at_k": 0.5,
        "dense/retrieval_ndcg_at_k": 1 / 3,
    }


def test_a_retriever_that_was_not_scored_plots_n_0_and_no_figure():
    metadata = slice_metadata({"dense": [SliceScore("overall", 0, None, None, LEDGER)]}, k=5)
    assert metadata.pop("slices").value.endswith("| overall | 0 | - | - | - | - |")
    assert metadata == {"dense/n": 0}
