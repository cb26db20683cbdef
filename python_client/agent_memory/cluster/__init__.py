"""Many ordinary servers that share the users; see docs/cluster.md.

- nodes_file.py: the file that names the nodes.
- nodes.py: connections to all nodes, the map on each, and changes of the map.
- moving.py: moves of partitions and users between nodes.
- checks.py: what must be the same on all nodes.
"""
