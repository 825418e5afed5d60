"""The languages of pages, and their message catalogues."""
