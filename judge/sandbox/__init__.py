"""Boxes in which agents run, and everything needed to create, watch and remove them."""
