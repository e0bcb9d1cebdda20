"""Tools of the project itself: what writes code and pages from the definitions. Not part of the package."""
