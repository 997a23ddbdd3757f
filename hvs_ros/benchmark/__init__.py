"""Runs many searches with known answers, scores them and says how good a policy is. No ROS in here."""
