"""Gomocup's own files: tournaments of GomocupJudge, records of leagues, and rating lists."""
