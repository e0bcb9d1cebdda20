"""The operator's Markdown: parsed to tiers, kept in step with its files."""
