namespace headroom {}
