"""Jobs of legacy graphs in several real processes on loopback: a parameter server, a chief and a worker."""
