"""A head's gaze without ROS: what can be reached, and how it gets there."""
