"""Pictures of boards: one scene of plain shapes, written as SVG, GIF or PNG."""
