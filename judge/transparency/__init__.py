"""An append-only log that nobody can rewrite unseen: Merkle tree, checkpoints, tiles. No I/O and no clock."""
