"""SPC as a stage of a Spark ML pipeline."""

import pickle

import numpy as np
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler

from spclust import SPC
from spclust.parameters import TABLE
from spclust.spark import SPCEstimator, SPCModel
from tests.spark.common import gaussians, same_grouping, table_of, write_parquet


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ml") / "X"
    X, truth = gaussians(500)
    write_parquet(folder, X, 1, truth=truth)
    return folder, X


OF_MODES = [{"eps": 0.9, "scale": 1.0}, {"halfLife": 200.0}]


def pipeline(**params):
    assembler = VectorAssembler(inputCols=["x0", "x1"], outputCol="both")
    stage = SPCEstimator(nStructures=15, featuresCol="both", predictionCol="group", **params)
    return Pipeline(stages=[assembler, stage])


def groups(fitted, table):
    return [(row["group"], row["truth"]) for row in fitted.transform(table).collect()]


@pytest.mark.parametrize("params", OF_MODES, ids=["paper", "auto"])
def test_a_pipeline_fits_scores_and_comes_back_from_disk(spark, written, tmp_path, params):
    folder, X = written
    table = table_of(spark, folder)
    fitted = pipeline(**params).fit(table)
    ours = {"half_life" if name == "halfLife" else name: value for name, value in params.items()}
    expected = SPC(15, **ours).fit(X)
    np.testing.assert_array_equal(fitted.stages[1].spc.structures_.mean, expected.structures_.mean)
    found = groups(fitted, table)
    np.testing.assert_array_equal([group for group, _ in found], expected.predict(X))

    fitted.write().overwrite().save(str(tmp_path / "fitted"))
    again = PipelineModel.load(str(tmp_path / "fitted"))
    assert isinstance(again.stages[1], SPCModel)
    assert groups(again, table) == found
    fitted.write().overwrite().save(str(tmp_path / "fitted"))  # once more


def test_a_pipeline_that_is_not_fitted_comes_back_from_disk(spark, written, tmp_path):
    pipeline(eps=0.9).write().save(str(tmp_path / "pipeline"))
    stage = Pipeline.load(str(tmp_path / "pipeline")).getStages()[1]
    assert isinstance(stage, SPCEstimator)
    assert stage.getOrDefault("nStructures") == 15
    assert stage.getOrDefault("eps") == 0.9
    assert stage.getOrDefault("scale") == "auto"


def test_parameters_of_one_fit(spark, written):
    """As a search over parameters gives them."""
    table = VectorAssembler(inputCols=["x0", "x1"], outputCol="features").transform(
        table_of(spark, written[0])
    )
    estimator = SPCEstimator(nStructures=15)
    model = estimator.fit(table, {estimator.nStructures: 7, estimator.predictionCol: "p"})
    assert model.spc.n_structures == 7
    assert "p" in model.transform(table).columns
    assert estimator.getOrDefault("nStructures") == 15
    rows = estimator.copy().fit(table).transform(table).collect()
    assert same_grouping(*zip(*[(row["prediction"], row["truth"]) for row in rows], strict=True))


def test_every_parameter_of_spc_is_there():
    names = {"nStructures", "wMin", "nltMax", "minSamples", "covarianceType", "maxRank"}
    names |= {"m", "gamma", "beta", "eps", "scale", "outlierNlt", "halfLife", "nClusters"}
    ours = {param.name for param in SPCEstimator().params}
    assert ours == names | {"featuresCol", "predictionCol", "badRows"}
    left_out = {"track_every", "n_jobs"}  # of a stream that is looked at, and of one machine
    assert len(SPC().get_params()) == len(names) + len(left_out)


def test_defaults_and_meanings_are_those_of_the_parameter_table():
    estimator, defaults = SPCEstimator(), SPC().get_params()
    for name, ours in (("nStructures", "n_structures"), ("eps", "eps"), ("nltMax", "nlt_max")):
        assert estimator.getOrDefault(name) == defaults[ours]
        assert estimator.getParam(name).doc.startswith(TABLE[ours].meaning)
    assert not estimator.isDefined("halfLife")
    assert not estimator.isDefined("maxRank")  # None: Spark has no such value
    stored = pickle.loads(pickle.dumps(estimator))
    assert stored.copy({stored.scale: "auto"}).getOrDefault("scale") == "auto"


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"structures": 3}, ValueError, "SPCEstimator has no parameter 'structures'; it has"),
        ({"eps": "automatic"}, TypeError, "eps"),
        ({"nStructures": "many"}, TypeError, "nStructures"),
    ],
)
def test_parameters_are_checked(given, error, sentence):
    with pytest.raises(error, match=sentence):
        SPCEstimator(**given)
