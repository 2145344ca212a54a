"""What tests of commands start from: a small project whose baseline is promoted."""

import pytest

from tests.commands import promoted_project, use_instance, use_words


@pytest.fixture
def project(here, tmp_path_factory, monkeypatch):
    use_words(monkeypatch)
    project = promoted_project(here, tmp_path_factory.getbasetemp())
    use_instance(monkeypatch, project.instance)
    return project
