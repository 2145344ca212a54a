"""The one place where assets, checks, jobs, schedule, sensor and resources meet.

Dagster loads `defs`, whose configuration is the file that the environment variable RECALL_CONFIG names, or
`recall.yaml` in the working folder. The command line and tests call `build_defs` with settings of their own.
"""

import os
import warnings
from pathlib import Path

import dagster as dg

from recall_assets.assets.baseline import recall_baseline
from recall_assets.assets.cases import case_set
from recall_assets.assets.knowledge_base import kb_cards, kb_chunks, kb_collection
from recall_assets.assets.reporting import gate_verdict, recall_report
from recall_assets.assets.retrieval import retrieval_run
from recall_assets.assets.scoring import case_scores, slice_scores
from recall_assets.automation import jobs, nightly, promotion_job, stage_sensor
from recall_assets.checks.gate import gate_check
from recall_assets.checks.inputs import locale_coverage
from recall_assets.checks.retrieval import collection_complete, every_case_retrieved, index_matches_exact
from recall_assets.config import Settings
from recall_assets.config_file import CONFIG_VARIABLE, DEFAULT_CONFIG, load_settings
from recall_assets.gate import RULES
from recall_assets.partitions import Partitions
from recall_assets.progress import Progress
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.frames import ParquetIOManager
from recall_assets.resources.report_store import ReportStore
from recall_assets.resources.vector_store import VectorStore

# Features that Dagster calls preview (partitioned checks) and beta (data versions of outputs), chosen knowingly: their
# warnings are for whoever upgrades Dagster, not for whoever runs a sweep.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
warnings.filterwarnings("ignore", category=dg.BetaWarning)


def build_defs(settings: Settings, **resources: object) -> dg.Definitions:
    """The definitions of one configuration.

    Args:
        settings: With at least one retriever.
        **resources: Resources to use instead of the configured ones, by their names below.
    """
    partitions = Partitions.of(settings)
    stage_jobs = jobs(settings)
    return dg.Definitions(
        assets=[
            kb_cards,
            kb_chunks,
            kb_collection(partitions),
            case_set,
            retrieval_run(partitions),
            case_scores(partitions),
            slice_scores,
            recall_report,
            gate_verdict,
            recall_baseline(partitions),
        ],
        asset_checks=[
            locale_coverage,
            collection_complete(partitions),
            every_case_retrieved(partitions),
            index_matches_exact(partitions),
            *(gate_check(rule) for rule in RULES),
        ],
        jobs=[*stage_jobs.values(), promotion_job()],
        schedules=[nightly(settings)],
        sensors=[stage_sensor(settings, stage_jobs)],
        resources={
            "settings": settings,
            "embedding": Embedding(settings),
            "store": VectorStore(settings.storage),
            "progress": Progress(),
            "reports": ReportStore(settings.storage.path),
            "io_manager": ParquetIOManager.of(settings.storage.path),
            **resources,
        },
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads."""
    return build_defs(load_settings(Path(os.environ.get(CONFIG_VARIABLE) or DEFAULT_CONFIG)))
