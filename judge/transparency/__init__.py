"""The append-only transparency log: Merkle tree, checkpoints, tiles. Rewriting it is detectable."""
