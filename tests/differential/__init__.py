"""The differential test: the same requests to the original server and to Nereid."""
