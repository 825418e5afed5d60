"""A board as a picture to post: one scene of plain shapes, drawn as SVG or as frames of a GIF."""
