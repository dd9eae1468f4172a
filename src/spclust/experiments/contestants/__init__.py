"""Own algorithms in our evaluations: a contestant is a class or function, named by a text.

`module:Class`, `path/to/file.py:Class` or either with parameters, `module:Class(eps=0.5)`. Its
models learn rows by `partial_fit(X)` and label rows by `predict(X)`, -1 for noise, as estimators of
scikit-learn do; or they have `learn_one` and `predict_one`, as those of River. An attribute
`search_space` of the class names the parameters that the search of the reproduction varies.
"""

from spclust.experiments.contestants.contestant import Contestant, load_contestant
from spclust.experiments.contestants.contestant_error import ContestantError
from spclust.experiments.contestants.parameter_range import Axis, Choice

__all__ = ["Axis", "Choice", "Contestant", "ContestantError", "load_contestant"]
