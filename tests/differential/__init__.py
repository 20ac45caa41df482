"""The differential test: the same requests to Triton and to Nereid."""
