"""The HTTP services: uploads, pages of authors and organisers, and live pages."""
