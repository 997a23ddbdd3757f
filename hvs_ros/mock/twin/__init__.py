"""A stand-in for a robot's neck and camera: MuJoCo moves the joints, a panorama is what the camera sees.

``urdf_chain`` cuts a URDF down to the joints that turn the camera, ``physics`` moves them, ``controller`` does with
commands what a ros2_control controller does, ``camera`` takes the pictures, and ``twin`` is all of it at one moment of
one clock. Nothing here knows ROS; ``hvs_ros.nodes.neck_twin`` is the node.
"""
