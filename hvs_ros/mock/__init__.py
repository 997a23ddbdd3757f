"""Stand-ins for what a test or a demonstration lacks; :mod:`hvs_ros.mock.rooms` draws rooms to search in."""
