DEPTH = "deep down"
