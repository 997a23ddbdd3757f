"""The panorama head without ROS: the scene around it, and the view it has of it."""
