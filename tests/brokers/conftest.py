import pytest

from tests.brokers.servers import KafkaServer, MqttServer, NatsServer, RedisServer, running
from tests.command.conftest import quick

__all__ = ["quick"]

KINDS = {"kafka": KafkaServer, "redis": RedisServer, "nats": NatsServer}


@pytest.fixture(scope="module", params=KINDS)
def server(request, tmp_path_factory):
    """A server that keeps its messages."""
    with running(KINDS[request.param], tmp_path_factory.mktemp(request.param)) as found:
        yield found


@pytest.fixture(scope="module")
def mqtt(tmp_path_factory):
    with running(MqttServer, tmp_path_factory.mktemp("mqtt")) as found:
        yield found
