"""The gate: is a turn of the user worth keeping for good?"""
