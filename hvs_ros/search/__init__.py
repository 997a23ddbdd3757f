"""The search itself: tasks, actions, the episode and its score. No I/O, no ROS."""
