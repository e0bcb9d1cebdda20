"""How useful Clew is on real work: labelled summaries, rules, turns and questions, with baselines in the same run."""
