"""CECP for judge: the protocol of xboard and winboard, for the chess of judge-chess."""
