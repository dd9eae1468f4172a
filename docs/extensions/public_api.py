"""The public modules of spclust, and the names in each: what the reference lists."""

import inspect
from importlib import import_module
from types import ModuleType
from typing import NamedTuple


class Page(NamedTuple):
    """A page of the reference: a module by the name that users import, its title, a sentence."""

    module: str
    title: str
    sentence: str


PAGES = (
    Page("spclust", "Clustering and outliers", "The estimators, and what goes with them."),
    Page("spclust.datasets", "Datasets", "Streams to try: generated ones and published ones."),
    Page("spclust.metrics", "Scores", "Labels against known classes, with noise."),
    Page("spclust.plot", "Figures", "Matplotlib figures of models."),
    Page("spclust.river", "River", "SPC for points that are dictionaries, one by one."),
    Page("spclust.spark", "Spark", "Tables and streams of Spark."),
    Page("spclust.dask", "Dask", "Tables and arrays of Dask."),
    Page("spclust.brokers", "Brokers", "Topics of Kafka, Redis, NATS and MQTT as batches."),
    Page("spclust.tables", "Tables", "Files as batches of rows, in constant memory."),
    Page("spclust.model_comparison", "Comparison of models", "What changed between two models."),
    Page("spclust.prepared_model", "Models with columns", "Models that the command writes."),
    Page(
        "spclust.experiments.baselines",
        "Baselines",
        "Five other stream clusterers; `spclust.baselines` is the same module.",
    ),
    Page("spclust.experiments.reproduction", "Experiments", "The experiments of the paper."),
    Page("spclust.experiments.contestants", "Contestants", "Own algorithms in the experiments."),
    Page("spclust.compilation", "Compilation", "Kernels compiled ahead."),
)


def module_of(page: Page) -> ModuleType:
    """The module of a page."""
    return import_module(page.module)


def public_names(module: ModuleType) -> list[str]:
    """What a module offers: `__all__`, or what it defines under names without an underscore."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=str.lower)
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    )
