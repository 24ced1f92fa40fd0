"""Makes topics, and writes all messages of one: `PARTITION KEY-LENGTH VALUE-LENGTH`, a line feed, key and value.

client.py BROKER create TOPIC:PARTITIONS...
client.py BROKER consume TOPIC

KAFKA_PROPERTIES holds more of the client's configuration as JSON.
"""

import json
import os
import sys

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

properties = json.loads(os.environ.get("KAFKA_PROPERTIES", "{}"))
properties["bootstrap.servers"] = sys.argv[1]


def create(topics):
    named = [topic.split(":") for topic in topics]
    new = [NewTopic(name, num_partitions=int(count), replication_factor=1) for name, count in named]
    client = AdminClient(properties)
    for made in client.create_topics(new).values():
        made.result(60)


def consume(topic):
    consumer = Consumer({**properties, "group.id": "tests", "enable.auto.commit": False})
    partitions = consumer.list_topics(topic, 60).topics[topic].partitions
    left = {}
    for partition in partitions:
        first, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), 60)
        if first < end:
            left[partition] = end
    consumer.assign([TopicPartition(topic, partition, 0) for partition in left])
    out = sys.stdout.buffer
    while left:
        message = consumer.poll(60)
        if message is None:
            sys.exit(f"nothing comes any more, yet {left} are left")
        if message.error():
            sys.exit(str(message.error()))
        key, value = message.key(), message.value()
        out.write(b"%d %d %d\n" % (message.partition(), len(key), len(value)))
        out.write(key)
        out.write(value)
        if message.offset() + 1 >= left.get(message.partition(), 0):
            left.pop(message.partition(), None)


if sys.argv[2] == "create":
    create(sys.argv[3:])
else:
    consume(sys.argv[3])
