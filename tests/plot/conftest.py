import matplotlib
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def closed():
    """Figures of other tests, and of examples in docstrings, are not drawn into."""
    plt.close("all")
    yield
    plt.close("all")
