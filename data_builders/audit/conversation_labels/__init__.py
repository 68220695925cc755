"""People check the labels of conversation pairs: is the flaw the named one, in its round, and the only one?"""
