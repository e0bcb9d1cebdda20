"""Summarizers: from several texts to one."""
