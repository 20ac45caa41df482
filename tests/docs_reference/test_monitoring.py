# SPDX-License-Identifier: Apache-2.0
"""Alerts and dashboard of examples/monitoring ask for metrics that the server has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request

import pytest
from conftest import ServerFactory
from support.repository import ModelRepository
from support.stage import EXAMPLE_MODELS, PROJECT_ROOT

FOLDER = PROJECT_ROOT / "examples/monitoring"
ALERTS = (FOLDER / "alerts.yml").read_text()
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text())
METRIC = re.compile(r"\b(?:nv|nereid)_\w+")
SELECTION = re.compile(r"\b((?:nv|nereid)_\w+)\{([^}]*)\}")


def expressions() -> list[str]:
    """Every query of the dashboard and of the alerts, each on one line."""
    panels = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    queries += [variable.get("definition", "") for variable in DASHBOARD["templating"]["list"]]
    alerts = re.findall(r"^ +expr: (.*(?:\n {10,}.*)*)", ALERTS, re.MULTILINE)
    return queries + [" ".join(alert.removeprefix(">-").split()) for alert in alerts]


def samples(page: str) -> dict[str, set[str]]:
    """The names of the page's samples, each with its labels."""
    found: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? ", page, re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


@pytest.fixture
def page(server_factory: ServerFactory, model_repository: ModelRepository) -> dict[str, set[str]]:
    """What Prometheus gets from a server with models of all kinds, one of which was asked."""
    model_repository.add_identity(
        "aims",
        max_batch_size=8,
        extra="dynamic_batching { }",
        parameters={"nereid.target_p99_us": "5000"},
    )
    model_repository.add_identity("streams", extra="model_transaction_policy { decoupled: true }")
    server = server_factory([EXAMPLE_MODELS, model_repository.root])
    subprocess.run(
        [PROJECT_ROOT / "examples/clients/curl/digits.sh", server.http_url],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=60,
    )
    with urllib.request.urlopen(f"http://{server.metrics_url}/metrics", timeout=30) as answer:
        return samples(answer.read().decode())


def test_every_metric_is_one_of_the_server(page: dict[str, set[str]]) -> None:
    queries = expressions()
    assert len(queries) > 30
    named = {name for query in queries for name in METRIC.findall(query)}
    assert len(named) > 20
    assert named - set(page) == set()


def test_every_label_is_one_of_the_metric(page: dict[str, set[str]]) -> None:
    tried = 0
    for query in expressions():
        for name, selection in SELECTION.findall(query):
            wanted = set(re.findall(r"(\w+)\s*=", selection.replace("=~", "=")))
            assert wanted - {"instance"} <= page[name], query
            tried += 1
    assert tried > 20


@pytest.mark.parametrize("query", expressions())
def test_parentheses_match(query: str) -> None:
    depth = 0
    for letter in query:
        depth += (letter in "({[") - (letter in ")}]")
        assert depth >= 0
    assert depth == 0


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken and max(x for x, _ in cells) < 24
        taken |= cells


def test_the_image_has_the_version_of_the_project() -> None:
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (PROJECT_ROOT / "CMakeLists.txt").read_text())
    assert version and f"image: nereid:{version[1]}\n" in (FOLDER / "compose.yaml").read_text()


def test_files_are_yaml_and_name_each_other() -> None:
    sys.path.append(str(PROJECT_ROOT / "build/deps/docs"))
    yaml = pytest.importorskip("yaml", reason="tools/docs_site.sh installs it")
    paths = FOLDER.rglob("*.y*ml")
    files = {str(p.relative_to(FOLDER)): yaml.safe_load(p.read_text()) for p in paths}
    rules = files["alerts.yml"]["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) == ALERTS.count("- alert:")
    assert [rule["expr"] for rule in rules] == expressions()[-len(rules) :]
    assert files["prometheus.yml"]["rule_files"] == ["alerts.yml"]
    for service in files["compose.yaml"]["services"].values():
        for mount in service["volumes"]:
            assert (FOLDER / mount.split(":")[0]).exists(), mount


def test_the_compose_file_starts_a_server_that_prometheus_finds() -> None:
    sys.path.append(str(PROJECT_ROOT / "build/deps/docs"))
    yaml = pytest.importorskip("yaml", reason="tools/docs_site.sh installs it")
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    server = compose["services"]["nereid"]
    program, *options = server["command"]
    known = (PROJECT_ROOT / "docs/operate/options.md").read_text()
    assert program == "nereid"
    for option in options:
        assert f"`{option.partition('=')[0]}" in known, option
    mounts = {mount.split(":")[1] for mount in server["volumes"]}
    assert {option.partition("=")[2] for option in options if "repository" in option} == mounts
    scraped = yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"]
    targets = [
        target for job in scraped for config in job["static_configs"] for target in config["targets"]
    ]
    assert targets == ["nereid:8002"]  # the service of that name, and the default port
    published = [port for each in compose["services"].values() for port in each["ports"]]
    assert len(published) == len(set(published))
