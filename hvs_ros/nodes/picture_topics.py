"""Which topics of the graph carry pictures, to name them to somebody who looks for them in the wrong place."""

from __future__ import annotations

from rclpy.node import Node

_KINDS = {"sensor_msgs/msg/Image": "raw", "sensor_msgs/msg/CompressedImage": "compressed"}


def picture_topics(node: Node) -> dict[str, str]:
    """Return the topics on which other nodes publish pictures now, with their transports, "raw" or "compressed"."""
    return {
        topic: _KINDS[kind]
        for topic, kinds in sorted(node.get_topic_names_and_types())
        for kind in kinds
        if kind in _KINDS and _others_publish(node, topic)
    }


def _others_publish(node: Node, topic: str) -> bool:
    own = sum(publisher.topic_name == topic for publisher in node.publishers)
    return bool(node.count_publishers(topic) > own)
