"""How the sources are arranged: sizes, names, and what may be imported from where."""

import ast
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "spclust"
FILES = sorted(SOURCES.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

MOST_LINES, MOST_FILES, MOST_LINES_OF_INTERNALS = 300, 14, 120
INTERNALS = SOURCES / "jit" / "internals.py"


def lines(file):
    return file.read_text(encoding="utf-8").splitlines()


def name(file):
    return file.relative_to(SOURCES).as_posix()


def imports(file):
    """Full names that a file imports: of modules, and of what it takes from them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(file)}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


# Made by tools, or taken into a source distribution without being named.
NOT_NAMED = {
    "README.md",
    "LICENSE",
    "MANIFEST.in",
    "pyproject.toml",
    "src",
    "PKG-INFO",
    "setup.cfg",
}
NOT_NAMED |= {"build", "dist", "output", "__pycache__"}


def test_the_source_distribution_has_everything():
    """Tests, documents and benchmarks, too, but nothing that was compiled."""
    manifest = [line.split() for line in lines(ROOT / "MANIFEST.in") if line[:1] not in ("", "#")]
    named = {name for word, *names in manifest if word in ("include", "graft") for name in names}
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert named == there - NOT_NAMED
    assert {"tests", "docs", "benchmarks"} <= named
    assert ["global-exclude", "__pycache__/*", "*.py[cod]", "*.nb[ic]"] in manifest


def test_there_are_sources_to_look_at():
    assert len(FILES) > 100
    assert INTERNALS in FILES
    assert "numba.core.codegen.JITCodeLibrary" in set(imports(INTERNALS))


def test_no_file_is_long():
    sizes = {name(file): len(lines(file)) for file in FILES}
    assert {file: size for file, size in sizes.items() if size > MOST_LINES} == {}


def test_no_folder_has_many_files():
    sizes = Counter(file.parent for file in FILES)
    assert {name(folder): n for folder, n in sizes.items() if n > MOST_FILES} == {}


def test_no_module_is_named_by_a_gerund():
    assert [name(file) for file in FILES if file.stem.endswith("ing")] == []


def test_no_two_modules_have_one_name():
    stems = Counter(file.stem for file in FILES if not file.stem.startswith("__"))
    assert [stem for stem, n in stems.items() if n > 1] == []


def test_one_short_file_reaches_into_numba():
    """And no other file names what Numba or llvmlite keep to themselves."""
    reaching = [file for file in FILES if "numba.core" in file.read_text(encoding="utf-8")]
    assert reaching == [INTERNALS]
    assert len(lines(INTERNALS)) <= MOST_LINES_OF_INTERNALS


PUBLIC_OF_NUMBA = {"numba", "numba.extending", "numba.types", "numba.typed", "llvmlite"}


def test_nothing_private_of_others_is_imported():
    private = []
    for file in FILES:
        for imported in imports(file):
            package, *parts = imported.split(".")
            if package == "spclust" or package in sys.stdlib_module_names:
                continue
            if any(part.startswith("_") and not part.startswith("__") for part in parts):
                private.append((name(file), imported))
            if package in ("numba", "llvmlite") and file != INTERNALS:
                home = imported.rpartition(".")[0] or imported
                if home not in PUBLIC_OF_NUMBA:
                    private.append((name(file), imported))
    assert private == []


PRIVATE_ATTRIBUTE = re.compile(
    r"\b(?:numba|sklearn|scipy|np|dispatcher|kernel)(?:\.\w+)*\._[a-z]\w*"
)


def test_no_private_attributes_of_others_are_used():
    found = [
        (name(file), match[0])
        for file in FILES
        if file != INTERNALS
        for match in PRIVATE_ATTRIBUTE.finditer(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_only_experiments_and_what_is_above_import_names_of_the_package_itself():
    """It imports them when they are used, which hides from the linter where they are from."""
    names = []
    for file in FILES:
        if name(file).split("/")[0] in ("experiments", "cli", "__init__.py"):
            continue
        for imported in imports(file):
            parts = imported.split(".")
            if parts[0] == "spclust" and len(parts) == 2:
                module = SOURCES / parts[1]
                if not (module.is_dir() or module.with_suffix(".py").is_file()):
                    names.append((name(file), imported))
    assert names == []


def test_tests_run_the_kernels_that_users_get():
    """Whatever decides which kernels are compiled is not changed for the tests."""
    changing = re.compile(r"(?:setattr\([^)]*|\.)UNROLLED_FEATURES[\"']?\s*(?:=(?!=)|,)")
    found = [
        file.relative_to(ROOT).as_posix()
        for file in sorted((ROOT / "tests").rglob("*.py"))
        if changing.search(file.read_text(encoding="utf-8"))
    ]
    assert found == []


# Dependencies

DISTRIBUTIONS = {
    "sklearn": "scikit-learn",
    "markdown_it": "markdown-it-py",
    "prometheus_client": "prometheus-client",
    "confluent_kafka": "confluent-kafka",
    "nats": "nats-py",
    "paho": "paho-mqtt",
}
WITH_OTHERS = {"llvmlite": "numba", "py4j": "pyspark"}  # each has the version that its user needs


def requirements(*extras):
    """All requirements with some extras, and with those that they name."""
    texts = list(PROJECT["dependencies"]) if not extras else []
    for extra in extras:
        texts += PROJECT["optional-dependencies"][extra]
    for text in texts:
        requirement = Requirement(text)
        if requirement.name == "spclust":
            yield from requirements(*sorted(requirement.extras))
        else:
            yield requirement


def lowest(requirement):
    bounds = [bound.version for bound in requirement.specifier if bound.operator == ">="]
    assert len(bounds) == 1, f"{requirement} has no lower bound"
    return Version(bounds[0])


def test_all_that_is_imported_is_declared():
    declared = {one.name for one in requirements()}
    for extra in PROJECT["optional-dependencies"]:
        declared |= {one.name for one in requirements(extra)}
    undeclared = set()
    for file in FILES:
        for imported in imports(file):
            package = imported.partition(".")[0]
            if package != "spclust" and package not in sys.stdlib_module_names:
                distribution = DISTRIBUTIONS.get(package, WITH_OTHERS.get(package, package))
                if distribution not in declared:
                    undeclared.add((name(file), imported))
    assert undeclared == set()


def test_what_is_always_installed_is_what_the_estimators_import():
    needed = set()
    rooms = ("estimators", "stream", "auto", "algorithm", "covariance", "state", "numerics", "jit")
    for file in FILES:
        if name(file).split("/")[0] in rooms:
            needed |= {imported.partition(".")[0] for imported in imports(file)}
    needed -= {"spclust", *sys.stdlib_module_names}
    distributions = {DISTRIBUTIONS.get(one, WITH_OTHERS.get(one, one)) for one in needed}
    assert distributions == {one.name for one in requirements()}


def test_the_oldest_versions_are_the_lower_bounds():
    wanted = {}
    for requirement in [*requirements(), *requirements("test")]:
        known = wanted.get(requirement.name, Version("0"))
        wanted[requirement.name] = max(known, lowest(requirement))
    pinned = {}
    for line in (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            distribution, _, version = line.partition("==")
            pinned[distribution] = Version(version)
    assert pinned == wanted
    assert list(pinned) == sorted(pinned)


def test_numba_is_bounded_by_the_versions_that_were_run():
    internals = pytest.importorskip("spclust.jit.internals")
    (numba,) = (one for one in requirements() if one.name == "numba")
    tested = [Version(version) for version in internals.TESTED]
    assert tested == sorted(tested)
    assert all(numba.specifier.contains(f"{version}.99") for version in tested)
    below, above = f"0.{tested[0].minor - 1}.99", f"0.{tested[-1].minor + 1}.0"
    assert not numba.specifier.contains(below)
    assert not numba.specifier.contains(above)


def test_the_packages_data_is_there():
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    files = data["setuptools"]["package-data"]["spclust"]
    assert "py.typed" in files
    for pattern in files:
        assert [file for file in SOURCES.glob(pattern) if file.is_file()], pattern
