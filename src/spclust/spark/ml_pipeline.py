"""SPC as a stage of a Spark ML pipeline: an estimator and its model."""

import os
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasPredictionCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import DataFrame

from spclust.estimators.spc import SPC
from spclust.parameters import DEFAULTS, TABLE, Parameter
from spclust.spark.table_fit import fit
from spclust.spark.table_prediction import predict

_NOT_FOR_SPARK = ("track_every", "n_jobs")  # events of one stream; threads of one machine


def _spark_name(name: str) -> str:
    """A parameter's name in Spark's spelling: nStructures for n_structures."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _converter(parameter: Parameter) -> Any:
    """A function that checks the type of a value, as Spark's Param needs it."""
    if parameter.kind is str:
        return TypeConverters.toString
    number = TypeConverters.toInt if parameter.kind is Integral else TypeConverters.toFloat
    return partial(_number_or_word, number=number, words=parameter.words)


def _number_or_word(value: Any, number: Callable[[Any], Any], words: tuple[str, ...]) -> Any:
    return value if isinstance(value, str) and value in words else number(value)


# Spark's name of each parameter, and the name in SPC.
_PARAMETERS = {_spark_name(name): name for name in TABLE if name not in _NOT_FOR_SPARK}


class _Columns(HasFeaturesCol, HasPredictionCol):
    """The parameters of estimator and model: columns of features and clusters, bad rows."""

    badRows: Param[str] = Param(  # noqa: N815 - Spark's spelling
        Params._dummy(),
        "badRows",
        '"raise" or "skip": what to do with rows that have missing, NaN or infinite numbers',
        TypeConverters.toString,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(featuresCol="features", predictionCol="prediction", badRows="raise")

    def setFeaturesCol(self, value: str) -> Any:  # noqa: N802
        """Set the name of the column of features."""
        return self._set(featuresCol=value)

    def setPredictionCol(self, value: str) -> Any:  # noqa: N802
        """Set the name of the column of clusters."""
        return self._set(predictionCol=value)


class SPCEstimator(_Columns, Estimator["SPCModel"], DefaultParamsReadable, DefaultParamsWritable):
    """SPC as a Spark ML estimator; `fit` returns an `SPCModel`.

    Parameters
    ----------
    featuresCol : str, default "features"
        Column with all features of a row, as a vector (VectorAssembler makes one) or an array.
    predictionCol : str, default "prediction"
        Column that `SPCModel.transform` adds.
    badRows : {"raise", "skip"}, default "raise"
        What to do with rows that have missing, NaN or infinite numbers.
    nStructures, halfLife, m, gamma, beta, wMin, nltMax, eps, minSamples, scale, covarianceType, \
maxRank, outlierNlt
        The parameters of `SPC`, in Spark's spelling, with the same defaults; a half-life is a
        number.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        for name, ours in _PARAMETERS.items():
            text = f"{TABLE[ours].meaning} ({ours} of spclust.SPC)"
            setattr(self, name, Param(self, name, text, _converter(TABLE[ours])))
        defaults = {name: DEFAULTS[ours] for name, ours in _PARAMETERS.items()}
        self._setDefault(**{name: value for name, value in defaults.items() if value is not None})
        self.setParams(**parameters)

    def setParams(self, **parameters: Any) -> "SPCEstimator":  # noqa: N802
        """Set parameters by name."""
        for name in parameters:
            if not self.hasParam(name):
                raise ValueError(
                    f"SPCEstimator has no parameter {name!r}; it has "
                    f"{', '.join(each.name for each in self.params)}."
                )
        return self._set(**parameters)

    def _fit(self, dataset: DataFrame) -> "SPCModel":
        given = {
            ours: self.getOrDefault(name)
            for name, ours in _PARAMETERS.items()
            if self.isDefined(name)
        }
        spc = fit(
            dataset,
            self.getOrDefault("featuresCol"),
            SPC(**given),
            bad_rows=self.getOrDefault("badRows"),
        )
        model = SPCModel(spc)
        return self._copyValues(model)


class SPCModel(_Columns, Model, MLReadable["SPCModel"], MLWritable):
    """A fitted SPC as a Spark ML model: `transform` adds the column of clusters.

    Attributes
    ----------
    spc : SPC
        The fitted model.
    """

    spc: SPC

    def __init__(self, spc: SPC) -> None:
        super().__init__()
        self.spc = spc

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return predict(
            dataset,
            self.spc,
            self.getOrDefault("featuresCol"),
            output=self.getOrDefault("predictionCol"),
            bad_rows=self.getOrDefault("badRows"),
        )

    def write(self) -> MLWriter:
        """Return a writer: `model.write().overwrite().save(path)`."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader["SPCModel"]:
        """Return a reader: `SPCModel.read().load(path)`, or `SPCModel.load(path)`."""
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, model: SPCModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:  # noqa: N802 - Spark's name
        DefaultParamsWriter.saveMetadata(self._model, path, self.sparkSession)
        data = [(bytearray(self._model.spc.to_bytes()),)]
        table = self.sparkSession.createDataFrame(data, "model binary")
        table.coalesce(1).write.parquet(os.path.join(path, "data"))


class _Reader(MLReader[SPCModel]):
    def load(self, path: str) -> SPCModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        row = self.sparkSession.read.parquet(os.path.join(path, "data")).first()
        model = SPCModel(SPC.from_bytes(bytes(row["model"])))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
