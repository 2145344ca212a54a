"""What assets show in Dagster: column schemas from pandera, row counts, figures that plot over time."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pandera.polars as pa
import polars as pl

from recall_assets.fingerprint import digest_frame
from recall_assets.metrics import METRICS
from recall_assets.reporting.markdown import slice_table
from recall_assets.slices import SliceScore


def column_schema(schema: pa.DataFrameSchema) -> dict[str, dg.TableSchema]:
    """Definition metadata: the columns of a pandera schema as Dagster shows them."""
    columns = [
        dg.TableColumn(
            name,
            type=str(column.dtype),
            description=column.description,
            constraints=dg.TableColumnConstraints(
                nullable=column.nullable,
                unique=column.unique,
                other=[str(check.error or check.name) for check in column.checks],
            ),
        )
        for name, column in schema.columns.items()
    ]
    unique = schema.unique
    keys = [f"unique: {', '.join(unique)}"] if isinstance(unique, list) else []
    return {"dagster/column_schema": dg.TableSchema(columns, constraints=dg.TableConstraints(other=keys))}


def frame_output(frame: pl.DataFrame, **metadata: Any) -> dg.Output[pl.DataFrame]:
    """An asset's frame with its row count, and a data version that changes only when the content does."""
    version = dg.DataVersion(digest_frame(frame))
    return dg.Output(frame, metadata={"dagster/row_count": frame.height, **metadata}, data_version=version)


def slice_metadata(by_retriever: Mapping[str, list[SliceScore]], k: int) -> dict[str, Any]:
    """A Markdown table of every slice, and per retriever the overall means and n as numbers that plot over time."""
    tables = [f"**{name}**\n\n{slice_table(slices, k)}" for name, slices in by_retriever.items()]
    metadata: dict[str, Any] = {"slices": dg.MetadataValue.md("\n\n".join(tables))}
    for name, slices in by_retriever.items():
        overall = slices[0]
        metadata[f"{name}/n"] = overall.n
        if overall.means is not None:
            metadata |= {f"{name}/{metric}": value for metric, value in zip(METRICS, overall.means, strict=True)}
    return metadata
