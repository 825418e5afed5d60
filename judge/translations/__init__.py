"""The languages of pages, and the catalogues of their messages."""
