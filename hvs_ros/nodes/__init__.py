"""The ROS shell: one file a node, thin; the only room that knows rclpy and message types."""
