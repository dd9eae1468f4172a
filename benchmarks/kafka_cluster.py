"""The cluster inside librdkafka as a server: `python -m benchmarks.kafka_cluster PARTITIONS TOPIC`.

It prints its address, and ends with its standard input. A client in Python cannot ask it for topics
with more than four partitions, of which it keeps five megabytes each; its functions in C can.
"""

import ctypes
import sys

from confluent_kafka import cimpl

_PRODUCER = 0  # RD_KAFKA_PRODUCER: the cluster needs a client that it belongs to


def library() -> ctypes.CDLL:
    """Functions of the librdkafka that confluent-kafka has with it."""
    found = ctypes.CDLL(cimpl.__file__)  # symbols of the libraries that it is linked with included
    address, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, given in (
        ("rd_kafka_conf_new", address, ()),
        ("rd_kafka_conf_set", number, (address, text, text, text, ctypes.c_size_t)),
        ("rd_kafka_new", address, (number, address, text, ctypes.c_size_t)),
        ("rd_kafka_mock_cluster_new", address, (address, number)),
        ("rd_kafka_mock_cluster_bootstraps", text, (address,)),
        ("rd_kafka_mock_topic_create", number, (address, text, number, number)),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, given
    return found


def main() -> None:
    """Serve until the standard input ends."""
    partitions, *topics = sys.argv[1:]
    kafka, error = library(), ctypes.create_string_buffer(512)
    settings = kafka.rd_kafka_conf_new()
    kafka.rd_kafka_conf_set(settings, b"log_level", b"0", error, 512)
    client = kafka.rd_kafka_new(_PRODUCER, settings, error, 512)
    cluster = kafka.rd_kafka_mock_cluster_new(client, 1)
    for topic in topics:
        if kafka.rd_kafka_mock_topic_create(cluster, topic.encode(), int(partitions), 1):
            raise SystemExit(f"The cluster refuses {topic} with {partitions} partitions.")
    print(kafka.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
