"""The parts that every verb uses: options, the way to a store, printing."""
