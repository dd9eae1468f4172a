"""SPC as a stage of a Spark ML pipeline: an estimator that fits, a model that transforms."""

import os
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
from spclust.spark.fitting import fit
from spclust.spark.scoring import predict


def _number_or_auto(value: Any) -> float | str:
    return "auto" if value == "auto" else TypeConverters.toFloat(value)


# Spark's name, the name in SPC, how a value is read.
_PARAMETERS: dict[str, tuple[str, Any]] = {
    "nStructures": ("n_structures", TypeConverters.toInt),
    "m": ("m", TypeConverters.toFloat),
    "gamma": ("gamma", TypeConverters.toFloat),
    "beta": ("beta", TypeConverters.toFloat),
    "wMin": ("w_min", TypeConverters.toFloat),
    "nltMax": ("nlt_max", TypeConverters.toFloat),
    "eps": ("eps", _number_or_auto),
    "minSamples": ("min_samples", TypeConverters.toInt),
    "scale": ("scale", _number_or_auto),
    "covarianceType": ("covariance_type", TypeConverters.toString),
    "maxRank": ("max_rank", TypeConverters.toInt),
    "outlierNlt": ("outlier_nlt", TypeConverters.toFloat),
}


class _Columns(HasFeaturesCol, HasPredictionCol):
    """The column of features, as vectors or arrays, and the one of clusters."""

    badRows: Param[str] = Param(  # noqa: N815 - Spark's way to write names
        Params._dummy(),
        "badRows",
        '"raise" or "skip": what is done with rows that have missing, NaN or infinite numbers',
        TypeConverters.toString,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(featuresCol="features", predictionCol="prediction", badRows="raise")

    def setFeaturesCol(self, value: str) -> Any:  # noqa: N802
        """Name the column of features."""
        return self._set(featuresCol=value)

    def setPredictionCol(self, value: str) -> Any:  # noqa: N802
        """Name the column that clusters go to."""
        return self._set(predictionCol=value)


class SPCEstimator(_Columns, Estimator["SPCModel"], DefaultParamsReadable, DefaultParamsWritable):
    """SPC as a Spark ML estimator; `fit` gives an `SPCModel`.

    Parameters
    ----------
    featuresCol : str, default "features"
        Column with all features of a row, as a vector (VectorAssembler makes one) or an array.
    predictionCol : str, default "prediction"
        Column that `SPCModel.transform` adds.
    badRows : {"raise", "skip"}, default "raise"
        What is done with rows that have missing, NaN or infinite numbers.
    nStructures, m, gamma, beta, wMin, nltMax, eps, minSamples, scale, covarianceType, maxRank, \
outlierNlt
        The parameters of `SPC`, in Spark's spelling. Those that are not given have SPC's defaults.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        for name, (ours, converter) in _PARAMETERS.items():
            text = f"as {ours} of spclust.SPC"
            setattr(self, name, Param(self, name, text, converter))
        defaults = SPC().get_params()
        known = {name: defaults[ours] for name, (ours, _) in _PARAMETERS.items()}
        self._setDefault(**{name: value for name, value in known.items() if value is not None})
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
            for name, (ours, _) in _PARAMETERS.items()
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
        The model itself.
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
        """What saves the model: `model.write().overwrite().save(path)`."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader["SPCModel"]:
        """What loads a model: `SPCModel.load(path)` is shorter."""
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
